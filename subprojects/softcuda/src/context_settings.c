/* SPDX-License-Identifier: MIT */
/* Queries and settings of a context. */
#include "context.h"

#include "capture.h"
#include "device.h"
#include "stream.h"

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
        *leastPriority = PRIORITY_LEAST;
    if (greatestPriority != NULL)
        *greatestPriority = PRIORITY_GREATEST;
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

/* softcuda has no such cache. */
CUresult soft_CtxResetPersistingL2Cache_v1(void)
{
    struct context *context = NULL;
    return context_need(&context);
}
