/* SPDX-License-Identifier: MIT */
/* Contexts: the stack of current contexts, the primary context, synchronising a context that is not current, and
 * handles that outlive their context. */
#include <string.h>

#include "fixture.h"

static void stack(void)
{
    CUcontext second = NULL;
    CUcontext found = NULL;
    CUdevice device = -1;
    rule("create", cu->CtxCreate_v2(&second, 0, the_device), CUDA_SUCCESS);
    need("current", cu->CtxGetCurrent_v1(&found));
    rule_fact("create-makes-current", found == second);
    rule("push", cu->CtxPushCurrent_v2(the_context), CUDA_SUCCESS);
    rule("pop", cu->CtxPopCurrent_v2(&found), CUDA_SUCCESS);
    rule_fact("pop-gives-pushed", found == the_context);
    rule("set", cu->CtxSetCurrent_v1(the_context), CUDA_SUCCESS);
    rule("pop-set", cu->CtxPopCurrent_v2(&found), CUDA_SUCCESS);
    rule_fact("set-replaced-top", found == the_context);
    need("current", cu->CtxGetCurrent_v1(&found));
    rule_fact("below-is-first", found == the_context);
    rule("pop-last", cu->CtxPopCurrent_v2(&found), CUDA_SUCCESS);
    rule("pop-empty", cu->CtxPopCurrent_v2(&found), CUDA_ERROR_INVALID_CONTEXT);
    rule("current-of-none", cu->CtxGetCurrent_v1(&found), CUDA_SUCCESS);
    rule_fact("current-of-none-null", found == NULL);
    rule("device-of-none", cu->CtxGetDevice_v1(&device), CUDA_ERROR_INVALID_CONTEXT);
    saw("push-null", cu->CtxPushCurrent_v2(NULL));
    rule("current-null-pointer", cu->CtxGetCurrent_v1(NULL), CUDA_ERROR_INVALID_VALUE);
    rule("destroy", cu->CtxDestroy_v2(second), CUDA_SUCCESS);
    saw("destroy-null", cu->CtxDestroy_v2(NULL));
    saw("create-null", cu->CtxCreate_v2(NULL, 0, the_device));
    saw("create-flags", cu->CtxCreate_v2(&second, 0x1000, the_device));
    rule("create-no-device", cu->CtxCreate_v2(&second, 0, 1000), CUDA_ERROR_INVALID_DEVICE);
}

static void primary(void)
{
    CUcontext again = NULL;
    unsigned flags = 99;
    int active = -1;
    rule("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device), CUDA_SUCCESS);
    rule_fact("same", again == the_context);
    rule("state", cu->DevicePrimaryCtxGetState_v1(the_device, &flags, &active), CUDA_SUCCESS);
    rule_number("active", active, 1);
    saw_number("flags", flags);
    rule("release", cu->DevicePrimaryCtxRelease_v1(the_device), CUDA_SUCCESS);
    rule("destroy", cu->CtxDestroy_v2(the_context), CUDA_ERROR_INVALID_CONTEXT);
    saw("retain-null", cu->DevicePrimaryCtxRetain_v1(NULL, the_device));
    rule("retain-no-device", cu->DevicePrimaryCtxRetain_v1(&again, 1000), CUDA_ERROR_INVALID_DEVICE);
    saw("set-flags-active", cu->DevicePrimaryCtxSetFlags_v1(the_device, CU_CTX_SCHED_BLOCKING_SYNC));
    saw("set-flags-unknown", cu->DevicePrimaryCtxSetFlags_v1(the_device, 0x1000));
    if (have("set-flags-v2", S(DevicePrimaryCtxSetFlags_v2)))
        saw("set-flags-v2", cu->DevicePrimaryCtxSetFlags_v2(the_device, flags));
}

static void primary_ends(void)
{
    int active = -1;
    unsigned flags = 0;
    CUcontext current = NULL;
    rule("release", cu->DevicePrimaryCtxRelease_v1(the_device), CUDA_SUCCESS);
    rule("state", cu->DevicePrimaryCtxGetState_v1(the_device, &flags, &active), CUDA_SUCCESS);
    rule_number("active", active, 0);
    saw("release-too-often", cu->DevicePrimaryCtxRelease_v1(the_device));
    saw("current", cu->CtxGetCurrent_v1(&current));
    saw_fact("current-stays", current == the_context);
}

static void primary_comes_back(void)
{
    CUcontext again = NULL;
    CUstream stream = NULL;
    need("release", cu->DevicePrimaryCtxRelease_v1(the_device));
    rule("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device), CUDA_SUCCESS);
    saw_fact("same-handle", again == the_context);
    rule("set", cu->CtxSetCurrent_v1(again), CUDA_SUCCESS);
    rule("create", cu->StreamCreate_v1(&stream, 0), CUDA_SUCCESS);
    rule("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
}

/* A reset destroys every stream of the primary context; the handle of the context stays valid. */
static void primary_reset(void)
{
    CUcontext again = NULL;
    CUstream stream = NULL;
    rule("code", cu->DevicePrimaryCtxReset_v1(the_device), CUDA_SUCCESS);
    saw("create", cu->StreamCreate_v1(&stream, 0));
    saw("context-synchronize", cu->CtxSynchronize_v1());
    saw("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device));
    saw_fact("same-handle", again == the_context);
    saw("set", cu->CtxSetCurrent_v1(again));
    saw("create-after-retain", cu->StreamCreate_v1(&stream, 0));
}

static void flags(void)
{
    CUcontext second = NULL;
    CUcontext popped = NULL;
    unsigned value = 99;
    rule("code", cu->CtxGetFlags_v1(&value), CUDA_SUCCESS);
    rule("null", cu->CtxGetFlags_v1(NULL), CUDA_ERROR_INVALID_VALUE);
    if (need("context", cu->CtxCreate_v2(&second, CU_CTX_SCHED_BLOCKING_SYNC, the_device))) {
        need("flags", cu->CtxGetFlags_v1(&value));
        rule_number("blocking-sync", value & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
        CUstream stream = stream_new();
        rule("blocking-synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
        stream_end(stream);
        need("pop", cu->CtxPopCurrent_v2(&popped));
        need("context-destroy", cu->CtxDestroy_v2(second));
    }
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->CtxGetFlags_v1(&value), CUDA_ERROR_INVALID_CONTEXT);
}

static void device_of(void)
{
    CUcontext second = NULL;
    CUcontext found = NULL;
    CUdevice device = -1;
    if (!need("context", cu->CtxCreate_v2(&second, 0, the_device)))
        return;
    need("pop", cu->CtxPopCurrent_v2(&found));
    rule("code", cu->CtxGetDevice_v2(&device, second), CUDA_SUCCESS);
    rule_fact("is", device == the_device);
    rule("of-current", cu->CtxGetDevice_v2(&device, NULL), CUDA_SUCCESS);
    saw("null", cu->CtxGetDevice_v2(NULL, second));
    need("current", cu->CtxGetCurrent_v1(&found));
    rule_fact("current-stays", found == the_context);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("without-current", cu->CtxGetDevice_v2(&device, second), CUDA_SUCCESS);
    rule("of-none", cu->CtxGetDevice_v2(&device, NULL), CUDA_ERROR_INVALID_CONTEXT);
    need("context-destroy", cu->CtxDestroy_v2(second));
}

static void synchronize(void)
{
    struct gate gate;
    CUcontext second = NULL;
    CUcontext found = NULL;
    if (!need("context", cu->CtxCreate_v2(&second, 0, the_device)))
        return;
    CUstream stream = stream_new();
    need("pop", cu->CtxPopCurrent_v2(&found));
    if (!gate_close(&gate, stream))
        return;
    rule("current-is-idle", cu->CtxSynchronize_v2(NULL), CUDA_SUCCESS);
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    gate_open(&gate);
    rule("code", cu->CtxSynchronize_v2(second), CUDA_SUCCESS);
    rule_number("waited", atomic_load(&gate.passed), 1);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("without-current", cu->CtxSynchronize_v2(second), CUDA_SUCCESS);
    rule("of-none", cu->CtxSynchronize_v2(NULL), CUDA_ERROR_INVALID_CONTEXT);
    stream_end(stream);
    need("context-destroy", cu->CtxDestroy_v2(second));
}

/* Queries each context while each context is current. */
static void of_each(void)
{
    CUcontext contexts[CONTEXT_COUNT];
    if (!contexts_new(contexts))
        return;
    for (int i = 0; i < CONTEXT_COUNT * CONTEXT_COUNT; i++) {
        CUdevice device = UNTOUCHED_DEVICE;
        need("set", cu->CtxSetCurrent_v1(contexts[i / CONTEXT_COUNT]));
        CUresult of_device = cu->CtxGetDevice_v2(&device, contexts[i % CONTEXT_COUNT]);
        const char *between = current_word();
        CUresult synchronized = cu->CtxSynchronize_v2(contexts[i % CONTEXT_COUNT]);
        saw_words(key_of(context_names[i / CONTEXT_COUNT], context_names[i % CONTEXT_COUNT], NULL),
                  "%d device %s, current %s, %d synchronized, current %s", (int)of_device, device_word(device), between,
                  (int)synchronized, current_word());
    }
    need("context-destroy", cu->CtxDestroy_v2(contexts[CONTEXT_SECOND]));
}

static void saw_created(const char *key, CUresult result, CUcontext context)
{
    unsigned flags = 99;
    CUcontext current = NULL;
    bool is_new = result == CUDA_SUCCESS;
    need("current", cu->CtxGetCurrent_v1(&current));
    if (is_new)
        need("flags", cu->CtxGetFlags_v1(&flags));
    saw_words(key, "%d context %s, current %s, flags %u", (int)result, is_new ? "new" : context_word(context),
              is_new && current == context ? "new" : context_word(current), flags);
    if (is_new)
        need("destroy", cu->CtxDestroy_v2(context));
    need("set", cu->CtxSetCurrent_v1(the_context));
}

static void create_newer(void)
{
    CUexecAffinityParam affinity;
    CUctxCreateParams empty;
    memset(&affinity, 0, sizeof affinity);
    memset(&empty, 0, sizeof empty);
    affinity.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT;
    affinity.param.smCount.val = 8;
    CUctxCreateParams with_affinity = empty;
    with_affinity.numExecAffinityParams = 1;
    CUctxCreateParams without_array = with_affinity;
    with_affinity.execAffinityParams = &affinity;
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
        saw_created(key_of("v3", calls[i].key, NULL), result, context);
        if (calls[i].count < 0) /* for version 3 alone */
            continue;
        context = UNTOUCHED_HANDLE;
        result = cu->CtxCreate_v4(&context, calls[i].parameters, calls[i].flags, calls[i].device);
        saw_created(key_of("v4", calls[i].key, NULL), result, context);
    }
}

static void saw_primary(const char *key, CUresult result)
{
    unsigned flags = 99;
    int active = -1;
    need("state", cu->DevicePrimaryCtxGetState_v1(the_device, &flags, &active));
    saw_words(key, "%d flags %u, active %d, current %s", (int)result, flags, active, current_word());
}

static void primary_newer(void)
{
    CUcontext again = NULL;
    need("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device));
    saw_primary("release-one-of-two", cu->DevicePrimaryCtxRelease_v2(the_device));
    saw("release-no-device", cu->DevicePrimaryCtxRelease_v2(99));
    saw("flags-no-device", cu->DevicePrimaryCtxSetFlags_v2(99, 0));
    saw_primary("flags-unknown", cu->DevicePrimaryCtxSetFlags_v2(the_device, 0x8000));
    saw_primary("flags-active", cu->DevicePrimaryCtxSetFlags_v2(the_device, CU_CTX_SCHED_SPIN));
    need("set", cu->CtxSetCurrent_v1(NULL));
    need("release", cu->DevicePrimaryCtxRelease_v1(the_device));
    saw("flags-reset", cu->DevicePrimaryCtxSetFlags_v2(the_device, 0));
    need("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device));
    saw_primary("release-last", cu->DevicePrimaryCtxRelease_v2(the_device));
    saw_primary("release-too-often", cu->DevicePrimaryCtxRelease_v2(the_device));
    saw_primary("flags-inactive", cu->DevicePrimaryCtxSetFlags_v2(the_device, CU_CTX_SCHED_BLOCKING_SYNC));
    saw_primary("flags-inactive-unknown", cu->DevicePrimaryCtxSetFlags_v2(the_device, 0x8000));
    need("retain", cu->DevicePrimaryCtxRetain_v1(&again, the_device));
    saw_primary("flags-same-active", cu->DevicePrimaryCtxSetFlags_v2(the_device, CU_CTX_SCHED_BLOCKING_SYNC));
    saw_primary("release-last-again", cu->DevicePrimaryCtxRelease_v2(the_device));
}

/* Events recorded in, and waited for by, a whole context: CUDA 12.5. */
static void events_of_context(void)
{
    CUevent event = event_new();
    CUstream stream = stream_new();
    struct gate gate;
    if (!gate_close(&gate, stream))
        return;
    saw("record", cu->CtxRecordEvent_v1(the_context, event));
    saw("pending", cu->EventQuery_v1(event));
    gate_open(&gate);
    need("synchronize", cu->CtxSynchronize_v1());
    saw("wait", cu->CtxWaitEvent_v1(the_context, event));
    saw("record-null-context", cu->CtxRecordEvent_v1(NULL, event));
    saw("record-null-event", cu->CtxRecordEvent_v1(the_context, NULL));
    saw("wait-null-event", cu->CtxWaitEvent_v1(the_context, NULL));
    need("synchronize", cu->CtxSynchronize_v1());
    need("destroy", cu->EventDestroy_v2(event));
    stream_end(stream);
}

static const struct check checks[] = {
    {"context.stack", stack, 0, {S(CtxCreate_v2)}},
    {"context.primary", primary, 0, {S(DevicePrimaryCtxRetain_v1)}},
    {"context.primary-ends", primary_ends, CHECK_ALONE, {S(DevicePrimaryCtxRetain_v1)}},
    {"context.primary-comes-back", primary_comes_back, CHECK_ALONE, {S(DevicePrimaryCtxRetain_v1)}},
    {"context.primary-reset", primary_reset, CHECK_ALONE, {S(DevicePrimaryCtxReset_v1)}},
    {"context.flags", flags, 0, {S(CtxGetFlags_v1)}},
    {"context.device-of", device_of, 0, {S(CtxGetDevice_v2)}},
    {"context.synchronize", synchronize, 0, {S(CtxSynchronize_v2)}},
    {"context.of-each", of_each, 0, {S(CtxGetDevice_v2), S(CtxSynchronize_v2)}},
    {"context.create-newer", create_newer, 0, {S(CtxCreate_v3), S(CtxCreate_v4), S(CtxGetFlags_v1)}},
    {"context.primary-newer",
     primary_newer,
     CHECK_ALONE,
     {S(DevicePrimaryCtxRelease_v2), S(DevicePrimaryCtxSetFlags_v2), S(DevicePrimaryCtxRetain_v1)}},
    {"context.event", events_of_context, 0, {S(CtxRecordEvent_v1), S(CtxWaitEvent_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_context = {"context", checks};
