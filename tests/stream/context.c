/* SPDX-License-Identifier: MIT */
/* Contexts: their ownership and lifetime, and that the caller's current context does not change. */
#include "support.h"

CHECK(primary, "context.primary", .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    struct cushim_context *first = NULL;
    struct cushim_context *second = NULL;
    CUdevice device = -1;
    watch_begin();
    if (!expect_success("create", cushim_context_create_primary(the_ordinal, &first)))
        return;
    expect_current("current-stays", the_context);
    expect_true("is-the-primary-one", cushim_context_handle(first) == the_context);
    expect_success("device", cushim_context_get_device(first, &device));
    expect_number("device-is", device, the_device);
    expect_success("again", cushim_context_create_primary(the_ordinal, &second));
    expect_true("again-is-the-same", cushim_context_handle(second) == the_context);
    expect_number("retained", watch_objects.contexts, 2);
    expect_success("destroy", cushim_context_destroy(&first));
    expect_true("destroyed-is-null", first == NULL);
    expect_number("released-one", watch_objects.contexts, 1);
    expect_success("destroy-again", cushim_context_destroy(&first));
    expect_success("destroy-second", cushim_context_destroy(&second));
    expect_number("released-both", watch_objects.contexts, 0);
    watch_end();
}

CHECK(primary_argument, "context.primary-argument", .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    struct cushim_context *context = NULL;
    expect_driver_error("no-such-device", cushim_context_create_primary(99, &context), CUDA_ERROR_INVALID_DEVICE);
    expect_driver_error("negative-device", cushim_context_create_primary(-1, &context), CUDA_ERROR_INVALID_DEVICE);
    expect_error("null", cushim_context_create_primary(the_ordinal, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", context == NULL);
}

/* Before CUDA 7.0 the driver has no primary contexts. */
CHECK(primary_on_old, "context.primary-on-old", .flags = CHECK_ON_OLD, .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    struct cushim_context *context = NULL;
    expect_driver_error("code", cushim_context_create_primary(the_ordinal, &context), CUDA_ERROR_NOT_SUPPORTED);
    expect_true("untouched", context == NULL);
}

CHECK(own, "context.own")
{
    struct cushim_context *context = NULL;
    CUcontext before = NULL;
    CUcontext popped = NULL;
    unsigned flags = 0;
    watch_begin();
    if (!expect_success("create", cushim_context_create(the_ordinal, CU_CTX_SCHED_YIELD, &context)))
        return;
    expect_current("current-stays", the_context);
    expect_true("is-new", cushim_context_handle(context) != the_context && cushim_context_handle(context) != NULL);
    if (require_slot("flags", S(CtxGetFlags_v1))) {
        require("push", cu->CtxPushCurrent_v2(cushim_context_handle(context)));
        expect_success("flags", cu->CtxGetFlags_v1(&flags));
        expect_number("flags.are", flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_YIELD);
        require("pop", cu->CtxPopCurrent_v2(&popped));
    }
    expect_success("destroy", cushim_context_destroy(&context));
    expect_number("ended", watch_objects.contexts, 0);
    expect_current("current-stays-after", the_context);
    require("none", cu->CtxSetCurrent_v1(NULL));
    expect_success("create-without-current", cushim_context_create(the_ordinal, 0, &context));
    expect_current("none-is-current", before);
    expect_success("destroy-without-current", cushim_context_destroy(&context));
    expect_current("none-is-current-after", NULL);
    watch_end();
}

CHECK(own_argument, "context.own-argument")
{
    struct cushim_context *context = NULL;
    expect_driver_error("no-such-device", cushim_context_create(99, 0, &context), CUDA_ERROR_INVALID_DEVICE);
    expect_driver_error("unknown-flags", cushim_context_create(the_ordinal, 0x40000000, &context),
                        CUDA_ERROR_INVALID_VALUE);
    expect_error("null", cushim_context_create(the_ordinal, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", context == NULL);
    expect_current("current-stays", the_context);
}

CHECK(borrowed, "context.borrowed")
{
    struct cushim_context *context = NULL;
    CUdevice device = -1;
    watch_begin();
    expect_success("borrow", cushim_context_borrow(the_context, &context));
    expect_true("handle", cushim_context_handle(context) == the_context);
    expect_success("device", cushim_context_get_device(context, &device));
    expect_number("device-is", device, the_device);
    expect_success("destroy", cushim_context_destroy(&context));
    expect_number("nothing-ended", watch_objects.contexts, 0);
    watch_end();
    expect_error("null-handle", cushim_context_borrow(NULL, &context), CUDA_ERROR_INVALID_CONTEXT);
    expect_error("null-output", cushim_context_borrow(the_context, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("null-green", cushim_context_borrow_green(NULL, &context), CUDA_ERROR_INVALID_CONTEXT);
    expect_true("untouched", context == NULL);
    expect_current("current-stays", the_context);
}

CHECK(nothing, "context.null")
{
    CUdevice device = -1;
    int least = 99;
    expect_true("handle", cushim_context_handle(NULL) == NULL);
    expect_error("device", cushim_context_get_device(NULL, &device), CUDA_ERROR_INVALID_CONTEXT);
    expect_error("priorities", cushim_context_get_priority_range(NULL, &least, NULL), CUDA_ERROR_INVALID_CONTEXT);
    expect_true("untouched", device == -1 && least == 99);
    expect_success("destroy", cushim_context_destroy(NULL));
}

CHECK(device_is_known, "context.device-is-known")
{
    struct cushim_context *context = fixture_context();
    CUdevice device = -1;
    watch_begin();
    expect_success("code", cushim_context_get_device(context, &device));
    expect_error("null", cushim_context_get_device(context, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_number("calls", watch_calls(), 0);
    watch_end();
}

CHECK(priorities, "context.priorities")
{
    struct cushim_context *context = fixture_context();
    int least = 99;
    int greatest = 99;
    int wanted_least = 99;
    int wanted_greatest = 99;
    require("range", cu->CtxGetStreamPriorityRange_v1(&wanted_least, &wanted_greatest));
    require("none", cu->CtxSetCurrent_v1(NULL));
    expect_success("code", cushim_context_get_priority_range(context, &least, &greatest));
    expect_current("none-is-current", NULL);
    expect_number("least", least, wanted_least);
    expect_number("greatest", greatest, wanted_greatest);
    expect_success("least-alone", cushim_context_get_priority_range(context, &least, NULL));
    expect_success("greatest-alone", cushim_context_get_priority_range(context, NULL, &greatest));
    expect_number("greatest-again", greatest, wanted_greatest);
    require("set", cu->CtxSetCurrent_v1(the_context));
}

/* A block may set another context or none current, and blocks may be nested. */
CHECK(entered, "context.entered")
{
    struct cushim_context *outer = NULL;
    struct cushim_context *inner = NULL;
    CUcontext before_outer = NULL;
    CUcontext before_inner = NULL;
    require("outer", cushim_context_create(the_ordinal, 0, &outer));
    require("inner", cushim_context_create(the_ordinal, 0, &inner));
    expect_success("enter", cushim_context_enter(outer, &before_outer));
    expect_current("is-current", cushim_context_handle(outer));
    expect_true("before", before_outer == the_context);
    expect_success("enter-inner", cushim_context_enter(inner, &before_inner));
    expect_current("inner-is-current", cushim_context_handle(inner));
    require("unset", cu->CtxSetCurrent_v1(NULL));
    expect_success("leave-inner", cushim_context_leave(before_inner));
    expect_current("outer-is-current", cushim_context_handle(outer));
    require("set", cu->CtxSetCurrent_v1(cushim_context_handle(inner)));
    expect_success("leave", cushim_context_leave(before_outer));
    expect_current("restored", the_context);
    require("none", cu->CtxSetCurrent_v1(NULL));
    expect_success("enter-without-current", cushim_context_enter(outer, &before_outer));
    expect_true("before-was-none", before_outer == NULL);
    expect_success("leave-without-current", cushim_context_leave(before_outer));
    expect_current("none-is-current", NULL);
    require("set-again", cu->CtxSetCurrent_v1(the_context));
    cushim_context_destroy(&inner);
    cushim_context_destroy(&outer);
}

/* A block that sets none current leaves the caller's stack of contexts as it was. */
CHECK(left_without_current, "context.left-without-current")
{
    struct cushim_context *block = NULL;
    struct cushim_context *top = NULL;
    CUcontext before = NULL;
    CUcontext popped = NULL;
    require("block", cushim_context_create(the_ordinal, 0, &block));
    require("top", cushim_context_create(the_ordinal, 0, &top));
    require("push", cu->CtxPushCurrent_v2(cushim_context_handle(top)));
    expect_success("enter", cushim_context_enter(block, &before));
    require("unset", cu->CtxSetCurrent_v1(NULL));
    expect_success("leave", cushim_context_leave(before));
    expect_current("restored", cushim_context_handle(top));
    require("pop", cu->CtxPopCurrent_v2(&popped));
    expect_current("below-restored", the_context);
    require("none", cu->CtxSetCurrent_v1(NULL));
    expect_success("enter-without-current", cushim_context_enter(block, &before));
    require("unset-again", cu->CtxSetCurrent_v1(NULL));
    expect_success("leave-without-current", cushim_context_leave(before));
    expect_current("none-is-current", NULL);
    require("set", cu->CtxSetCurrent_v1(the_context));
    cushim_context_destroy(&top);
    cushim_context_destroy(&block);
}

/* The caller's context is restored even if the driver refuses to push it. */
CHECK(left_when_push_fails, "context.left-when-push-fails")
{
    struct cushim_context *block = NULL;
    CUcontext before = NULL;
    require("block", cushim_context_create(the_ordinal, 0, &block));
    expect_success("enter", cushim_context_enter(block, &before));
    require("unset", cu->CtxSetCurrent_v1(NULL));
    watch_begin();
    watch_fail_slot(S(CtxPushCurrent_v2), CUDA_ERROR_OUT_OF_MEMORY);
    expect_driver_error("code", cushim_context_leave(before), CUDA_ERROR_OUT_OF_MEMORY);
    expect_true("failed", watch_failed(NULL));
    watch_end();
    expect_current("restored", the_context);
    cushim_context_destroy(&block);
}

CHECK(enter_argument, "context.enter-argument")
{
    struct cushim_context *context = fixture_context();
    CUcontext before = NULL;
    expect_error("null", cushim_context_enter(NULL, &before), CUDA_ERROR_INVALID_CONTEXT);
    expect_error("null-output", cushim_context_enter(context, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", before == NULL);
    expect_current("current-stays", the_context);
}

/* The primary context, or below CUDA 7.0 a new one. */
CHECK(preferred, "context.preferred")
{
    struct cushim_context *context = NULL;
    bool has_primary = !is_missing(S(DevicePrimaryCtxRetain_v1));
    watch_begin();
    if (!expect_success("create", cushim_context_create_preferred(the_ordinal, 0, &context)))
        return;
    expect_true("kind", (cushim_context_handle(context) == the_context) == has_primary);
    expect_current("current-stays", the_context);
    expect_success("destroy", cushim_context_destroy(&context));
    expect_number("ended", watch_objects.contexts, 0);
    expect_driver_error("no-such-device", cushim_context_create_preferred(99, 0, &context), CUDA_ERROR_INVALID_DEVICE);
    expect("null", cushim_context_create_preferred(the_ordinal, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", context == NULL);
    watch_end();
}

/* The flags of a primary context. */
static unsigned primary_flags(CUdevice device)
{
    unsigned flags = 0;
    int active = 0;
    require("state", cu->DevicePrimaryCtxGetState_v1(device, &flags, &active));
    return flags & CU_CTX_SCHED_MASK;
}

/* A new context gets the flags, and so does a primary context that nobody uses yet: that of another device. An active
 * one keeps its own. */
CHECK(preferred_flags, "context.preferred-flags")
{
    struct cushim_context *context = NULL;
    int count = 0;
    bool has_primary = !is_missing(S(DevicePrimaryCtxGetState_v1));
    unsigned before = has_primary ? primary_flags(the_device) : 0;
    if (!expect_success("create", cushim_context_create_preferred(the_ordinal, CU_CTX_SCHED_YIELD, &context)))
        return;
    expect_true("active-keeps-its-flags", !has_primary || primary_flags(the_device) == before);
    expect_success("destroy", cushim_context_destroy(&context));
    require("count", cu->DeviceGetCount_v1(&count));
    if (count < 2)
        return;
    int other = the_ordinal == 0;
    expect_success("create-second", cushim_context_create_preferred(other, CU_CTX_SCHED_YIELD, &context));
    expect_true("inactive-gets-them", !has_primary || primary_flags(other) == CU_CTX_SCHED_YIELD);
    expect_success("destroy-second", cushim_context_destroy(&context));
    expect_driver_error("bad-flags", cushim_context_create_preferred(other, 0x80000000u, &context),
                        CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", context == NULL);
}

/* The context ends with the last object that was created in it, whichever that is. */
CHECK(outlived, "context.outlived")
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_event *event = NULL;
    watch_begin();
    require("create", cushim_context_create(the_ordinal, 0, &context));
    require("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    require("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event));
    expect_success("destroy", cushim_context_destroy(&context));
    expect_number("lives", watch_objects.contexts, 1);
    expect_success("record", cushim_event_record(event, stream, 0));
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_true("still-its-context", cushim_context_handle(cushim_stream_context(stream)) != NULL);
    expect_success("event-destroy", cushim_event_destroy(&event));
    expect_number("lives-for-the-stream", watch_objects.contexts, 1);
    expect_success("stream-destroy", cushim_stream_destroy(&stream));
    expect_number("ends-with-the-last", watch_objects.contexts, 0);
    expect_number("alive", watch_alive(), 0);
    watch_end();
    expect_current("current-stays", the_context);
}
