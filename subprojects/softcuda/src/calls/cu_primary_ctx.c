/* SPDX-License-Identifier: MIT */
/* Primary contexts: one for each device, with a reference count, and active again after a reset. */
#include "calls.h"

static struct context *primaries[MAX_DEVICES];

static CUresult primary_of(CUdevice dev, struct context **out_context)
{
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (primaries[dev] == NULL)
        primaries[dev] = context_new(dev, true);
    *out_context = primaries[dev];
    return primaries[dev] == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult soft_DevicePrimaryCtxRetain_v1(CUcontext *pctx, CUdevice dev)
{
    struct context *context = NULL;
    if (pctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = primary_of(dev, &context);
    if (result == CUDA_SUCCESS)
        result = sticky_error(context->device);
    if (result == CUDA_SUCCESS && !context->alive && !context_start(context))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS)
        return result;
    context->retained++;
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult soft_DevicePrimaryCtxRelease_v2(CUdevice dev)
{
    struct context *context = NULL;
    CUresult result = primary_of(dev, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (context->retained == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--context->retained == 0) {
        context->flags = 0;
        context_stop(context);
    }
    return CUDA_SUCCESS;
}

/* Unlike its successor, it accepts one release too many. */
CUresult soft_DevicePrimaryCtxRelease_v1(CUdevice dev)
{
    CUresult result = soft_DevicePrimaryCtxRelease_v2(dev);
    return result == CUDA_ERROR_INVALID_CONTEXT ? CUDA_SUCCESS : result;
}

CUresult soft_DevicePrimaryCtxReset_v2(CUdevice dev)
{
    struct context *context = NULL;
    CUresult result = primary_of(dev, &context);
    if (result != CUDA_SUCCESS)
        return result;
    context->flags = 0;
    if (context->alive)
        context_stop(context);
    return CUDA_SUCCESS;
}

CUresult soft_DevicePrimaryCtxReset_v1(CUdevice dev)
{
    return soft_DevicePrimaryCtxReset_v2(dev);
}

CUresult soft_DevicePrimaryCtxGetState_v1(CUdevice dev, unsigned int *flags, int *active)
{
    struct context *context = NULL;
    if (flags == NULL || active == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = primary_of(dev, &context);
    if (result != CUDA_SUCCESS)
        return result;
    *flags = context->flags;
    *active = context->alive;
    return CUDA_SUCCESS;
}

CUresult soft_DevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    struct context *context = NULL;
    if (!context_flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = primary_of(dev, &context);
    if (result == CUDA_SUCCESS)
        context->flags = flags;
    return result;
}

CUresult soft_DevicePrimaryCtxSetFlags_v1(CUdevice dev, unsigned int flags)
{
    struct context *context = NULL;
    CUresult result = context_flags_are_valid(flags) ? primary_of(dev, &context) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && context->alive)
        return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
    return soft_DevicePrimaryCtxSetFlags_v2(dev, flags);
}
