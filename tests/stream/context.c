/* SPDX-License-Identifier: MIT */
/* Contexts: their ownership and lifetime, and that the caller's current context does not change. */
#include "support.h"

static void primary(void)
{
    struct cushim_context *first = NULL;
    struct cushim_context *second = NULL;
    CUdevice device = -1;
    watch_begin();
    if (!done("create", cushim_context_create_primary(0, &first)))
        return;
    rule_current("current-stays", the_context);
    rule_fact("is-the-primary-one", cushim_context_handle(first) == the_context);
    done("device", cushim_context_device(first, &device));
    rule_number("device-is", device, the_device);
    done("again", cushim_context_create_primary(0, &second));
    rule_fact("again-is-the-same", cushim_context_handle(second) == the_context);
    rule_number("retained", watch_contexts(), 2);
    done("destroy", cushim_context_destroy(&first));
    rule_fact("destroyed-is-null", first == NULL);
    rule_number("released-one", watch_contexts(), 1);
    done("destroy-again", cushim_context_destroy(&first));
    done("destroy-second", cushim_context_destroy(&second));
    rule_number("released-both", watch_contexts(), 0);
    watch_end();
}

static void primary_argument(void)
{
    struct cushim_context *context = NULL;
    passed_on("no-such-device", cushim_context_create_primary(99, &context), CUDA_ERROR_INVALID_DEVICE);
    passed_on("negative-device", cushim_context_create_primary(-1, &context), CUDA_ERROR_INVALID_DEVICE);
    refused("null", cushim_context_create_primary(0, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_context_create_primary");
    rule_fact("untouched", context == NULL);
}

/* Before CUDA 7.0 the driver has no primary contexts. */
static void primary_on_old(void)
{
    struct cushim_context *context = NULL;
    if (cushim_query_slot_state(S(DevicePrimaryCtxRetain_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING) {
        lacks(NULL, "a driver that has primary contexts");
        return;
    }
    passed_on("code", cushim_context_create_primary(0, &context), CUDA_ERROR_NOT_SUPPORTED);
    rule_fact("untouched", context == NULL);
}

static void own(void)
{
    struct cushim_context *context = NULL;
    CUcontext before = NULL;
    CUcontext popped = NULL;
    unsigned flags = 0;
    watch_begin();
    if (!done("create", cushim_context_create(0, CU_CTX_SCHED_YIELD, &context)))
        return;
    rule_current("current-stays", the_context);
    rule_fact("is-new", cushim_context_handle(context) != the_context && cushim_context_handle(context) != NULL);
    if (have("flags", S(CtxGetFlags_v1))) {
        need("push", cu->CtxPushCurrent_v2(cushim_context_handle(context)));
        done("flags", cu->CtxGetFlags_v1(&flags));
        rule_number("flags.are", flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_YIELD);
        need("pop", cu->CtxPopCurrent_v2(&popped));
    }
    done("destroy", cushim_context_destroy(&context));
    rule_number("ended", watch_contexts(), 0);
    rule_current("current-stays-after", the_context);
    need("none", cu->CtxSetCurrent_v1(NULL));
    done("create-without-current", cushim_context_create(0, 0, &context));
    rule_current("none-is-current", before);
    done("destroy-without-current", cushim_context_destroy(&context));
    rule_current("none-is-current-after", NULL);
    watch_end();
}

static void own_argument(void)
{
    struct cushim_context *context = NULL;
    passed_on("no-such-device", cushim_context_create(99, 0, &context), CUDA_ERROR_INVALID_DEVICE);
    passed_on("unknown-flags", cushim_context_create(0, 0x40000000, &context), CUDA_ERROR_INVALID_VALUE);
    refused("null", cushim_context_create(0, 0, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_context_create");
    rule_fact("untouched", context == NULL);
    rule_current("current-stays", the_context);
}

static void borrowed(void)
{
    struct cushim_context *context = NULL;
    CUdevice device = -1;
    watch_begin();
    done("borrow", cushim_context_borrow(the_context, &context));
    rule_fact("handle", cushim_context_handle(context) == the_context);
    done("device", cushim_context_device(context, &device));
    rule_number("device-is", device, the_device);
    done("destroy", cushim_context_destroy(&context));
    rule_number("nothing-ended", watch_contexts(), 0);
    watch_end();
    refused("null-handle", cushim_context_borrow(NULL, &context), CUDA_ERROR_INVALID_CONTEXT, "cushim_context_borrow");
    refused("null-output", cushim_context_borrow(the_context, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_context_borrow");
    refused("null-green", cushim_context_borrow_green(NULL, &context), CUDA_ERROR_INVALID_CONTEXT,
            "cushim_context_borrow_green");
    rule_fact("untouched", context == NULL);
    rule_current("current-stays", the_context);
}

static void nothing(void)
{
    CUdevice device = -1;
    int least = 99;
    rule_fact("handle", cushim_context_handle(NULL) == NULL);
    refused("device", cushim_context_device(NULL, &device), CUDA_ERROR_INVALID_CONTEXT, "cushim_context_device");
    refused("priorities", cushim_context_priority_range(NULL, &least, NULL), CUDA_ERROR_INVALID_CONTEXT,
            "cushim_context_priority_range");
    rule_fact("untouched", device == -1 && least == 99);
    done("destroy", cushim_context_destroy(NULL));
}

static void device_is_known(void)
{
    struct cushim_context *context = context_new();
    CUdevice device = -1;
    watch_begin();
    done("code", cushim_context_device(context, &device));
    refused("null", cushim_context_device(context, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_context_device");
    rule_number("calls", watch_calls(), 0);
    watch_end();
    cushim_context_destroy(&context);
}

static void priorities(void)
{
    struct cushim_context *context = context_new();
    int least = 99;
    int greatest = 99;
    int wanted_least = 99;
    int wanted_greatest = 99;
    need("range", cu->CtxGetStreamPriorityRange_v1(&wanted_least, &wanted_greatest));
    need("none", cu->CtxSetCurrent_v1(NULL));
    done("code", cushim_context_priority_range(context, &least, &greatest));
    rule_current("none-is-current", NULL);
    rule_number("least", least, wanted_least);
    rule_number("greatest", greatest, wanted_greatest);
    done("least-alone", cushim_context_priority_range(context, &least, NULL));
    done("greatest-alone", cushim_context_priority_range(context, NULL, &greatest));
    rule_number("greatest-again", greatest, wanted_greatest);
    need("set", cu->CtxSetCurrent_v1(the_context));
    cushim_context_destroy(&context);
}

/* A block may set another context or none current, and blocks may be nested. */
static void entered(void)
{
    struct cushim_context *outer = NULL;
    struct cushim_context *inner = NULL;
    CUcontext before_outer = NULL;
    CUcontext before_inner = NULL;
    need("outer", cushim_context_create(0, 0, &outer));
    need("inner", cushim_context_create(0, 0, &inner));
    done("enter", cushim_context_enter(outer, &before_outer));
    rule_current("is-current", cushim_context_handle(outer));
    rule_fact("before", before_outer == the_context);
    done("enter-inner", cushim_context_enter(inner, &before_inner));
    rule_current("inner-is-current", cushim_context_handle(inner));
    need("unset", cu->CtxSetCurrent_v1(NULL));
    done("leave-inner", cushim_context_leave(before_inner));
    rule_current("outer-is-current", cushim_context_handle(outer));
    need("set", cu->CtxSetCurrent_v1(cushim_context_handle(inner)));
    done("leave", cushim_context_leave(before_outer));
    rule_current("restored", the_context);
    need("none", cu->CtxSetCurrent_v1(NULL));
    done("enter-without-current", cushim_context_enter(outer, &before_outer));
    rule_fact("before-was-none", before_outer == NULL);
    done("leave-without-current", cushim_context_leave(before_outer));
    rule_current("none-is-current", NULL);
    need("set-again", cu->CtxSetCurrent_v1(the_context));
    cushim_context_destroy(&inner);
    cushim_context_destroy(&outer);
}

/* A block that sets none current leaves the caller's stack of contexts as it was. */
static void left_without_current(void)
{
    struct cushim_context *block = NULL;
    struct cushim_context *top = NULL;
    CUcontext before = NULL;
    CUcontext popped = NULL;
    need("block", cushim_context_create(0, 0, &block));
    need("top", cushim_context_create(0, 0, &top));
    need("push", cu->CtxPushCurrent_v2(cushim_context_handle(top)));
    done("enter", cushim_context_enter(block, &before));
    need("unset", cu->CtxSetCurrent_v1(NULL));
    done("leave", cushim_context_leave(before));
    rule_current("restored", cushim_context_handle(top));
    need("pop", cu->CtxPopCurrent_v2(&popped));
    rule_current("below-restored", the_context);
    need("none", cu->CtxSetCurrent_v1(NULL));
    done("enter-without-current", cushim_context_enter(block, &before));
    need("unset-again", cu->CtxSetCurrent_v1(NULL));
    done("leave-without-current", cushim_context_leave(before));
    rule_current("none-is-current", NULL);
    need("set", cu->CtxSetCurrent_v1(the_context));
    cushim_context_destroy(&top);
    cushim_context_destroy(&block);
}

static void enter_argument(void)
{
    struct cushim_context *context = context_new();
    CUcontext before = NULL;
    refused("null", cushim_context_enter(NULL, &before), CUDA_ERROR_INVALID_CONTEXT, "cushim_context_enter");
    refused("null-output", cushim_context_enter(context, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_context_enter");
    rule_fact("untouched", before == NULL);
    rule_current("current-stays", the_context);
    cushim_context_destroy(&context);
}

/* The primary context, or below CUDA 7.0 a new one. */
static void preferred(void)
{
    struct cushim_context *context = NULL;
    bool has_primary =
        cushim_query_slot_state(S(DevicePrimaryCtxRetain_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING;
    watch_begin();
    if (!done("create", cushim_context_create_preferred(0, &context)))
        return;
    rule_fact("kind", (cushim_context_handle(context) == the_context) == has_primary);
    rule_current("current-stays", the_context);
    done("destroy", cushim_context_destroy(&context));
    rule_number("ended", watch_contexts(), 0);
    passed_on("no-such-device", cushim_context_create_preferred(99, &context), CUDA_ERROR_INVALID_DEVICE);
    rule("null", cushim_context_create_preferred(0, NULL), CUDA_ERROR_INVALID_VALUE);
    rule_fact("untouched", context == NULL);
    watch_end();
}

/* The context ends with the last object that was created in it, whichever that is. */
static void outlived(void)
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_event *event = NULL;
    watch_begin();
    need("create", cushim_context_create(0, 0, &context));
    need("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event));
    done("destroy", cushim_context_destroy(&context));
    rule_number("lives", watch_contexts(), 1);
    done("record", cushim_event_record(event, stream, 0));
    done("synchronize", cushim_stream_synchronize(stream));
    rule_fact("still-its-context", cushim_context_handle(cushim_stream_context(stream)) != NULL);
    done("event-destroy", cushim_event_destroy(&event));
    rule_number("lives-for-the-stream", watch_contexts(), 1);
    done("stream-destroy", cushim_stream_destroy(&stream));
    rule_number("ends-with-the-last", watch_contexts(), 0);
    rule_number("alive", watch_alive(), 0);
    watch_end();
    rule_current("current-stays", the_context);
}

static const struct check checks[] = {
    {"context.primary", primary, 0, {S(DevicePrimaryCtxRetain_v1)}},
    {"context.primary-argument", primary_argument, 0, {S(DevicePrimaryCtxRetain_v1)}},
    {"context.primary-on-old", primary_on_old, 0, {0}},
    {"context.own", own, 0, {0}},
    {"context.own-argument", own_argument, 0, {0}},
    {"context.borrowed", borrowed, 0, {0}},
    {"context.null", nothing, 0, {0}},
    {"context.device-is-known", device_is_known, 0, {0}},
    {"context.priorities", priorities, 0, {0}},
    {"context.outlived", outlived, 0, {0}},
    {"context.entered", entered, 0, {0}},
    {"context.left-without-current", left_without_current, 0, {0}},
    {"context.enter-argument", enter_argument, 0, {0}},
    {"context.preferred", preferred, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_context = {"context", checks};
