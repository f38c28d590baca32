/* SPDX-License-Identifier: MIT */
/* Contexts. */
#include "calls.h"

#include <stdlib.h>

static CUresult context_push(struct context *context)
{
    struct thread *thread = thread_self();
    if (thread == NULL
        || !soft_reserve((void **)&thread->stack, &thread->capacity, thread->depth + 1, sizeof thread->stack[0]))
        return CUDA_ERROR_OUT_OF_MEMORY;
    object_ref(context);
    thread->stack[thread->depth++] = context;
    return CUDA_SUCCESS;
}

static void context_pop(void)
{
    struct thread *thread = thread_self();
    object_unref(thread->stack[--thread->depth]);
}

bool context_flags_are_valid(unsigned flags)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    unsigned known = soft_version >= 12010 ? CU_CTX_FLAGS_MASK : 0x1fu;
    return (flags & ~known) == 0 && schedule != 3 && schedule <= CU_CTX_SCHED_BLOCKING_SYNC;
}

CUresult soft_CtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    if (pctx == NULL || !context_flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    struct context *context = context_new(dev, false);
    if (context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->flags = flags;
    if (!context_start(context) || context_push(context) != CUDA_SUCCESS) {
        soft_CtxDestroy_v2((CUcontext)context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult soft_CtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                           CUdevice dev)
{
    if (numParams > 0)
        return paramsArray == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return soft_CtxCreate_v2(pctx, flags, dev);
}

CUresult soft_CtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
    if (ctxCreateParams == NULL)
        return soft_CtxCreate_v2(pctx, flags, dev);
    if (ctxCreateParams->cigParams != NULL)
        return CUDA_ERROR_NOT_SUPPORTED;
    return soft_CtxCreate_v3(pctx, ctxCreateParams->execAffinityParams, ctxCreateParams->numExecAffinityParams, flags,
                             dev);
}

CUresult soft_CtxDestroy_v2(CUcontext ctx)
{
    if (ctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct context *context = handle_find(OBJECT_CONTEXT, ctx);
    if (context == NULL || context->primary || context->parent != NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    handle_withdraw(context);
    context_stop(context);
    if (context_current() == context)
        context_pop();
    object_unref(context);
    return CUDA_SUCCESS;
}

CUresult soft_CtxAttach_v1(CUcontext *pctx, unsigned int flags)
{
    struct context *context = NULL;
    if (pctx == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    context->attached++;
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult soft_CtxDetach_v1(CUcontext ctx)
{
    struct context *context = handle_find(OBJECT_CONTEXT, ctx);
    if (context == NULL || context != context_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context->attached == 0)
        return soft_CtxDestroy_v2(ctx);
    context->attached--;
    return CUDA_SUCCESS;
}

CUresult soft_CtxPushCurrent_v2(CUcontext ctx)
{
    struct context *context = handle_find(OBJECT_CONTEXT, ctx);
    if (context == NULL)
        return ctx == NULL ? context_is_null(CUDA_ERROR_INVALID_VALUE) : CUDA_ERROR_INVALID_CONTEXT;
    return context_push(context); /* an inactive primary context may be pushed */
}

CUresult soft_CtxPopCurrent_v2(CUcontext *pctx)
{
    struct context *context = context_current();
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx != NULL)
        *pctx = (CUcontext)context;
    context_pop();
    return CUDA_SUCCESS;
}

CUresult soft_CtxSetCurrent_v1(CUcontext ctx)
{
    struct context *context = NULL;
    if (ctx != NULL) {
        context = handle_find(OBJECT_CONTEXT, ctx);
        if (context == NULL)
            return CUDA_ERROR_INVALID_CONTEXT;
        if (!context->alive)
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        object_ref(context); /* the pop may drop the last reference */
    }
    if (context_current() != NULL)
        context_pop();
    CUresult result = context == NULL ? CUDA_SUCCESS : context_push(context);
    object_unref(context);
    return result;
}

CUresult soft_CtxGetCurrent_v1(CUcontext *pctx)
{
    if (queue_is_forked())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (pctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (context_in_callback())
        return CUDA_ERROR_NOT_PERMITTED;
    *pctx = (CUcontext)context_current();
    return CUDA_SUCCESS;
}

CUresult soft_CtxSynchronize_v2(CUcontext ctx)
{
    struct context *context = NULL;
    CUresult result = context_find(ctx, &context);
    if (result == CUDA_SUCCESS)
        result = capture_forbid_in_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t generation = context->generation;
    object_ref(context);
    context_drain(context);
    result = context_state(context, generation);
    object_unref(context);
    return result;
}

CUresult soft_CtxSynchronize_v1(void)
{
    return soft_CtxSynchronize_v2(NULL);
}

CUresult soft_CtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    struct context *context = NULL;
    if (context_in_callback())
        return CUDA_ERROR_NOT_PERMITTED;
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_find(ctx, &context);
    if (context == NULL) /* a lost context still has its device */
        return result;
    *device = context->device;
    return CUDA_SUCCESS;
}

CUresult soft_CtxGetDevice_v1(CUdevice *device)
{
    return soft_CtxGetDevice_v2(device, NULL);
}

CUresult soft_CtxGetFlags_v1(unsigned int *flags)
{
    struct context *context = NULL;
    if (flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_need(&context);
    if (result == CUDA_SUCCESS)
        *flags = context->flags;
    return result;
}

CUresult soft_CtxSetFlags_v1(unsigned int flags)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult soft_CtxGetId_v1(CUcontext ctx, unsigned long long *ctxId)
{
    struct context *context = NULL;
    if (ctxId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_find(ctx, &context);
    if (result == CUDA_SUCCESS)
        *ctxId = context->id;
    return result;
}

CUresult soft_CtxGetApiVersion_v1(CUcontext ctx, unsigned int *version)
{
    struct context *context = NULL;
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_find(ctx, &context);
    if (result == CUDA_SUCCESS)
        *version = 3020; /* the result of every driver for a context with 64-bit pointers */
    return result;
}

CUresult soft_CtxGetStreamPriorityRange_v1(int *leastPriority, int *greatestPriority)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (leastPriority != NULL)
        *leastPriority = deny_priorities() ? 0 : PRIORITY_LEAST;
    if (greatestPriority != NULL)
        *greatestPriority = deny_priorities() ? 0 : PRIORITY_GREATEST;
    return CUDA_SUCCESS;
}

CUresult soft_CtxGetLimit_v1(size_t *pvalue, CUlimit limit)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pvalue == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((unsigned)limit > CU_LIMIT_MALLOC_HEAP_SIZE)
        return (unsigned)limit >= CU_LIMIT_MAX ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_LIMIT;
    *pvalue = context->limits[limit];
    return CUDA_SUCCESS;
}

CUresult soft_CtxSetLimit_v1(CUlimit limit, size_t value)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)limit > CU_LIMIT_MALLOC_HEAP_SIZE)
        return (unsigned)limit >= CU_LIMIT_MAX ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_LIMIT;
    context_drain(context);
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult soft_CtxGetCacheConfig_v1(CUfunc_cache *pconfig)
{
    struct context *context = NULL;
    if (pconfig == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_need(&context);
    if (result == CUDA_SUCCESS)
        *pconfig = context->cache;
    return result;
}

CUresult soft_CtxSetCacheConfig_v1(CUfunc_cache config)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result == CUDA_SUCCESS && (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        context->cache = config;
    return result;
}

CUresult soft_CtxEnablePeerAccess_v1(CUcontext peerContext, unsigned int Flags)
{
    struct context *context = NULL, *peer = handle_find(OBJECT_CONTEXT, peerContext);
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (peer == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    return peer->device == context->device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; /* all memory is in one place */
}

/* softcuda has no profiler. */

CUresult soft_ProfilerStart_v1(void)
{
    struct context *context = NULL;
    return context_need(&context);
}

CUresult soft_ProfilerStop_v1(void)
{
    return soft_ProfilerStart_v1();
}

/* softcuda has no such cache. */
CUresult soft_CtxResetPersistingL2Cache_v1(void)
{
    struct context *context = NULL;
    return context_need(&context);
}
