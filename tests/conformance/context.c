/* SPDX-License-Identifier: MIT */
/* Contexts: the stack of current contexts, the primary context, synchronising a context that is not current, and
 * handles that outlive their context. */

#include "fixture.h"

CHECK(stack, "context.stack", .needs = {S(CtxCreate_v2)})
{
    CUcontext second = NULL;
    CUcontext found = NULL;
    CUdevice device = -1;
    expect("create", cu->CtxCreate_v2(&second, 0, the_device), CUDA_SUCCESS);
    require("current", cu->CtxGetCurrent_v1(&found));
    expect_true("create-makes-current", found == second);
    expect("push", cu->CtxPushCurrent_v2(the_context), CUDA_SUCCESS);
    expect("pop", cu->CtxPopCurrent_v2(&found), CUDA_SUCCESS);
    expect_true("pop-gives-pushed", found == the_context);
    expect("set", cu->CtxSetCurrent_v1(the_context), CUDA_SUCCESS);
    expect("pop-set", cu->CtxPopCurrent_v2(&found), CUDA_SUCCESS);
    expect_true("set-replaced-top", found == the_context);
    require("current", cu->CtxGetCurrent_v1(&found));
    expect_true("below-is-first", found == the_context);
    expect("pop-last", cu->CtxPopCurrent_v2(&found), CUDA_SUCCESS);
    expect("pop-empty", cu->CtxPopCurrent_v2(&found), CUDA_ERROR_INVALID_CONTEXT);
    expect("current-of-none", cu->CtxGetCurrent_v1(&found), CUDA_SUCCESS);
    expect_true("current-of-none-null", found == NULL);
    expect("device-of-none", cu->CtxGetDevice_v1(&device), CUDA_ERROR_INVALID_CONTEXT);
    expect("push-null", cu->CtxPushCurrent_v2(NULL), CUDA_ERROR_INVALID_VALUE);
    expect("current-null-pointer", cu->CtxGetCurrent_v1(NULL), CUDA_ERROR_INVALID_VALUE);
    expect("destroy", cu->CtxDestroy_v2(second), CUDA_SUCCESS);
    expect("destroy-null", cu->CtxDestroy_v2(NULL), CUDA_ERROR_INVALID_VALUE);
    expect("create-null", cu->CtxCreate_v2(NULL, 0, the_device), CUDA_ERROR_INVALID_VALUE);
    expect("create-flags", cu->CtxCreate_v2(&second, 0x1000, the_device), CUDA_ERROR_INVALID_VALUE);
    expect("create-no-device", cu->CtxCreate_v2(&second, 0, 1000), CUDA_ERROR_INVALID_DEVICE);
}

CHECK(primary, "context.primary", .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    CUcontext again = NULL;
    unsigned flags = 99;
    int active = -1;
    expect("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device), CUDA_SUCCESS);
    expect_true("same", again == the_context);
    expect("state", cu->DevicePrimaryCtxGetState_v1(the_device, &flags, &active), CUDA_SUCCESS);
    expect_number("active", active, 1);
    expect_number("flags", flags, 0);
    expect("release", cu->DevicePrimaryCtxRelease_v1(the_device), CUDA_SUCCESS);
    expect("destroy", cu->CtxDestroy_v2(the_context), CUDA_ERROR_INVALID_CONTEXT);
    expect("retain-null", cu->DevicePrimaryCtxRetain_v1(NULL, the_device), CUDA_ERROR_INVALID_VALUE);
    expect("retain-no-device", cu->DevicePrimaryCtxRetain_v1(&again, 1000), CUDA_ERROR_INVALID_DEVICE);
    expect("set-flags-active", cu->DevicePrimaryCtxSetFlags_v1(the_device, CU_CTX_SCHED_BLOCKING_SYNC),
           CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
    expect("set-flags-unknown", cu->DevicePrimaryCtxSetFlags_v1(the_device, 0x1000), CUDA_ERROR_INVALID_VALUE);
    if (require_slot("set-flags-v2", S(DevicePrimaryCtxSetFlags_v2)))
        expect("set-flags-v2", cu->DevicePrimaryCtxSetFlags_v2(the_device, flags), CUDA_SUCCESS);
}

CHECK(primary_ends, "context.primary-ends", .flags = CHECK_ALONE, .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    int active = -1;
    unsigned flags = 0;
    CUcontext current = NULL;
    expect("release", cu->DevicePrimaryCtxRelease_v1(the_device), CUDA_SUCCESS);
    expect("state", cu->DevicePrimaryCtxGetState_v1(the_device, &flags, &active), CUDA_SUCCESS);
    expect_number("active", active, 0);
    expect("release-too-often", cu->DevicePrimaryCtxRelease_v1(the_device), CUDA_SUCCESS);
    expect("current", cu->CtxGetCurrent_v1(&current), CUDA_SUCCESS);
    expect_true("current-stays", current == the_context);
}

CHECK(primary_comes_back, "context.primary-comes-back", .flags = CHECK_ALONE, .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    CUcontext again = NULL;
    CUstream stream = NULL;
    require("release", cu->DevicePrimaryCtxRelease_v1(the_device));
    expect("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device), CUDA_SUCCESS);
    expect_true("same-handle", again == the_context);
    expect("set", cu->CtxSetCurrent_v1(again), CUDA_SUCCESS);
    expect("create", cu->StreamCreate_v1(&stream, 0), CUDA_SUCCESS);
    expect("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
}

/* A reset destroys every stream of the primary context; the handle of the context stays valid. */
CHECK(primary_reset, "context.primary-reset", .flags = CHECK_ALONE, .needs = {S(DevicePrimaryCtxReset_v1)})
{
    CUcontext again = NULL;
    CUstream stream = NULL;
    expect("code", cu->DevicePrimaryCtxReset_v1(the_device), CUDA_SUCCESS);
    expect("create", cu->StreamCreate_v1(&stream, 0), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    expect("context-synchronize", cu->CtxSynchronize_v1(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    expect("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device), CUDA_SUCCESS);
    expect_true("same-handle", again == the_context);
    expect("set", cu->CtxSetCurrent_v1(again), CUDA_SUCCESS);
    expect("create-after-retain", cu->StreamCreate_v1(&stream, 0), CUDA_SUCCESS);
}

CHECK(flags, "context.flags", .needs = {S(CtxGetFlags_v1)})
{
    CUcontext second = NULL;
    CUcontext popped = NULL;
    unsigned value = 99;
    expect("code", cu->CtxGetFlags_v1(&value), CUDA_SUCCESS);
    expect("null", cu->CtxGetFlags_v1(NULL), CUDA_ERROR_INVALID_VALUE);
    if (require("context", cu->CtxCreate_v2(&second, CU_CTX_SCHED_BLOCKING_SYNC, the_device))) {
        require("flags", cu->CtxGetFlags_v1(&value));
        expect_number("blocking-sync", value & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
        CUstream stream = stream_new();
        expect("blocking-synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
        stream_end(stream);
        require("pop", cu->CtxPopCurrent_v2(&popped));
        require("context-destroy", cu->CtxDestroy_v2(second));
    }
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->CtxGetFlags_v1(&value), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(device_of, "context.device-of", .needs = {S(CtxGetDevice_v2)})
{
    CUcontext found = NULL;
    CUdevice device = -1;
    CUcontext second = context_second();
    require("pop", cu->CtxPopCurrent_v2(&found));
    expect("code", cu->CtxGetDevice_v2(&device, second), CUDA_SUCCESS);
    expect_true("is", device == the_device);
    expect("of-current", cu->CtxGetDevice_v2(&device, NULL), CUDA_SUCCESS);
    expect("null", cu->CtxGetDevice_v2(NULL, second), CUDA_ERROR_INVALID_VALUE);
    require("current", cu->CtxGetCurrent_v1(&found));
    expect_true("current-stays", found == the_context);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("without-current", cu->CtxGetDevice_v2(&device, second), CUDA_SUCCESS);
    expect("of-none", cu->CtxGetDevice_v2(&device, NULL), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(synchronize, "context.synchronize", .needs = {S(CtxSynchronize_v2)})
{
    CUcontext found = NULL;
    CUcontext second = context_second();
    CUstream stream = stream_new();
    require("pop", cu->CtxPopCurrent_v2(&found));
    struct gate *gate = gate_new(stream);
    expect("current-is-idle", cu->CtxSynchronize_v2(NULL), CUDA_SUCCESS);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    gate_open(gate);
    expect("code", cu->CtxSynchronize_v2(second), CUDA_SUCCESS);
    expect_number("waited", gate_passed(gate), 1);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("without-current", cu->CtxSynchronize_v2(second), CUDA_SUCCESS);
    expect("of-none", cu->CtxSynchronize_v2(NULL), CUDA_ERROR_INVALID_CONTEXT);
}

/* Queries each context while each context is current. */
CHECK(of_each, "context.of-each", .needs = {S(CtxGetDevice_v2), S(CtxSynchronize_v2)})
{
    CUcontext contexts[CONTEXT_COUNT];
    contexts_new(contexts);
    for (int i = 0; i < CONTEXT_COUNT * CONTEXT_COUNT; i++) {
        CUdevice device = UNTOUCHED_DEVICE;
        require("set", cu->CtxSetCurrent_v1(contexts[i / CONTEXT_COUNT]));
        CUresult of_device = cu->CtxGetDevice_v2(&device, contexts[i % CONTEXT_COUNT]);
        const char *between = current_word();
        CUresult synchronized = cu->CtxSynchronize_v2(contexts[i % CONTEXT_COUNT]);
        observe_format(key_of(context_names[i / CONTEXT_COUNT], context_names[i % CONTEXT_COUNT], NULL),
                       "%d device %s, current %s, %d synchronized, current %s", (int)of_device, device_word(device),
                       between, (int)synchronized, current_word());
    }
}

static void observe_created(const char *key, CUresult result, CUcontext context)
{
    unsigned flags = 99;
    CUcontext current = NULL;
    bool is_new = result == CUDA_SUCCESS;
    require("current", cu->CtxGetCurrent_v1(&current));
    if (is_new)
        require("flags", cu->CtxGetFlags_v1(&flags));
    observe_format(key, "%d context %s, current %s, flags %u", (int)result, is_new ? "new" : context_word(context),
                   is_new && current == context ? "new" : context_word(current), flags);
    if (is_new)
        require("destroy", cu->CtxDestroy_v2(context));
    require("set", cu->CtxSetCurrent_v1(the_context));
}

CHECK(create_newer, "context.create-newer", .needs = {S(CtxCreate_v3), S(CtxCreate_v4), S(CtxGetFlags_v1)})
{
    CUexecAffinityParam affinity = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 8};
    CUctxCreateParams empty = {.numExecAffinityParams = 0};
    CUctxCreateParams without_array = {.numExecAffinityParams = 1};
    CUctxCreateParams with_affinity = {.numExecAffinityParams = 1, .execAffinityParams = &affinity};
    const struct {
        const char *key;
        CUexecAffinityParam *array;
        CUctxCreateParams *parameters;
        int count;
        unsigned flags;
        CUdevice device;
    } calls[] = {
        {"plain", NULL, NULL, 0, 0, the_device},
        {"flags", NULL, NULL, 0, CU_CTX_SCHED_SPIN, the_device},
        {"unknown-flag", NULL, NULL, 0, 0x8000, the_device},
        {"no-device", NULL, NULL, 0, 0, 99},
        {"none", &affinity, &empty, 0, 0, the_device},
        {"affinity", &affinity, &with_affinity, 1, 0, the_device},
        {"count-without-array", NULL, &without_array, 1, 0, the_device},
        {"negative-count", &affinity, NULL, -1, 0, the_device},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        CUcontext context = UNTOUCHED_HANDLE;
        CUresult result = cu->CtxCreate_v3(&context, calls[i].array, calls[i].count, calls[i].flags, calls[i].device);
        observe_created(key_of("v3", calls[i].key, NULL), result, context);
        if (calls[i].count < 0) /* for version 3 alone */
            continue;
        context = UNTOUCHED_HANDLE;
        result = cu->CtxCreate_v4(&context, calls[i].parameters, calls[i].flags, calls[i].device);
        observe_created(key_of("v4", calls[i].key, NULL), result, context);
    }
}

static void observe_primary(const char *key, CUresult result)
{
    unsigned flags = 99;
    int active = -1;
    require("state", cu->DevicePrimaryCtxGetState_v1(the_device, &flags, &active));
    observe_format(key, "%d flags %u, active %d, current %s", (int)result, flags, active, current_word());
}

CHECK(primary_newer, "context.primary-newer", .flags = CHECK_ALONE,
      .needs = {S(DevicePrimaryCtxRelease_v2), S(DevicePrimaryCtxSetFlags_v2), S(DevicePrimaryCtxRetain_v1)})
{
    CUcontext again = NULL;
    require("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device));
    observe_primary("release-one-of-two", cu->DevicePrimaryCtxRelease_v2(the_device));
    expect("release-no-device", cu->DevicePrimaryCtxRelease_v2(99), CUDA_ERROR_INVALID_DEVICE);
    expect("flags-no-device", cu->DevicePrimaryCtxSetFlags_v2(99, 0), CUDA_ERROR_INVALID_DEVICE);
    observe_primary("flags-unknown", cu->DevicePrimaryCtxSetFlags_v2(the_device, 0x8000));
    observe_primary("flags-active", cu->DevicePrimaryCtxSetFlags_v2(the_device, CU_CTX_SCHED_SPIN));
    require("set", cu->CtxSetCurrent_v1(NULL));
    require("release", cu->DevicePrimaryCtxRelease_v1(the_device));
    expect("flags-reset", cu->DevicePrimaryCtxSetFlags_v2(the_device, 0), CUDA_SUCCESS);
    require("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device));
    observe_primary("release-last", cu->DevicePrimaryCtxRelease_v2(the_device));
    observe_primary("release-too-often", cu->DevicePrimaryCtxRelease_v2(the_device));
    observe_primary("flags-inactive", cu->DevicePrimaryCtxSetFlags_v2(the_device, CU_CTX_SCHED_BLOCKING_SYNC));
    observe_primary("flags-inactive-unknown", cu->DevicePrimaryCtxSetFlags_v2(the_device, 0x8000));
    require("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device));
    observe_primary("flags-same-active", cu->DevicePrimaryCtxSetFlags_v2(the_device, CU_CTX_SCHED_BLOCKING_SYNC));
    observe_primary("release-last-again", cu->DevicePrimaryCtxRelease_v2(the_device));
}

/* Events recorded in, and waited for by, a whole context: CUDA 12.5. */
CHECK(events_of_context, "context.event", .needs = {S(CtxRecordEvent_v1), S(CtxWaitEvent_v1)})
{
    CUevent event = event_new();
    CUstream stream = stream_new();
    struct gate *gate = gate_new(stream);
    expect("record", cu->CtxRecordEvent_v1(the_context, event), CUDA_SUCCESS);
    expect("pending", cu->EventQuery_v1(event), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    require("synchronize", cu->CtxSynchronize_v1());
    expect("wait", cu->CtxWaitEvent_v1(the_context, event), CUDA_SUCCESS);
    expect("record-null-context", cu->CtxRecordEvent_v1(NULL, event), CUDA_ERROR_INVALID_CONTEXT);
    expect("record-null-event", cu->CtxRecordEvent_v1(the_context, NULL), CUDA_ERROR_INVALID_HANDLE);
    expect("wait-null-event", cu->CtxWaitEvent_v1(the_context, NULL), CUDA_ERROR_INVALID_HANDLE);
    require("synchronize", cu->CtxSynchronize_v1());
}
