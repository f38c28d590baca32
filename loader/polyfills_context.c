/* SPDX-License-Identifier: MIT */
/* Polyfills: contexts, events, and functions of modules. */
#include "polyfills.h"

/* Makes `context` current; NULL means the current one. *out_pushed is for leave_context. */
static CUresult SHARED_POLYFILL(enter_context)(CUcontext context, bool *out_pushed)
{
    *out_pushed = context != NULL;
    return context != NULL ? TABLE->CtxPushCurrent_v2(context) : CUDA_SUCCESS;
}

/* Undoes enter_context. Returns `result`, the code of the calls in between, if that is an error. */
static CUresult SHARED_POLYFILL(leave_context)(bool pushed, CUresult result)
{
    CUcontext popped;
    CUresult left = pushed ? TABLE->CtxPopCurrent_v2(&popped) : CUDA_SUCCESS;
    return result != CUDA_SUCCESS ? result : left;
}

/* cuCtxGetDevice_v2 and cuCtxSynchronize_v2 (13.0): the same for a context that is not current. */

CUresult CUDAAPI SHARED_POLYFILL(CtxGetDevice_v2)(CUdevice *device, CUcontext ctx)
{
    bool pushed;
    CUdevice found;
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = SHARED_POLYFILL(enter_context)(ctx, &pushed);
    if (result != CUDA_SUCCESS)
        return result;
    result = SHARED_POLYFILL(leave_context)(pushed, TABLE->CtxGetDevice_v1(&found));
    if (result == CUDA_SUCCESS)
        *device = found;
    return result;
}

CUresult CUDAAPI SHARED_POLYFILL(CtxSynchronize_v2)(CUcontext ctx)
{
    bool pushed;
    CUresult result = SHARED_POLYFILL(enter_context)(ctx, &pushed);
    return result != CUDA_SUCCESS ? result : SHARED_POLYFILL(leave_context)(pushed, TABLE->CtxSynchronize_v1());
}

/* cuCtxCreate_v3 (11.4) adds execution affinity, cuCtxCreate_v4 (12.5) CUDA in graphics. */

static CUresult SHARED_POLYFILL(fail_affinity)(enum cushim_slot called)
{
    return cush_fail_polyfill(called, "Execution affinity needs a driver for CUDA 11.4.");
}

CUresult CUDAAPI SHARED_POLYFILL(CtxCreate_v3)(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                                               unsigned int flags, CUdevice dev)
{
    (void)paramsArray;
    if (numParams > 0) /* driver 580 ignores a negative count */
        return SHARED_POLYFILL(fail_affinity)(CUSHIM_SLOT_CtxCreate_v3);
    return TABLE->CtxCreate_v2(pctx, flags, dev);
}

CUresult CUDAAPI SHARED_POLYFILL(CtxCreate_v4)(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                                               CUdevice dev)
{
    if (ctxCreateParams == NULL)
        return TABLE->CtxCreate_v3(pctx, NULL, 0, flags, dev);
    if (ctxCreateParams->cigParams != NULL)
        return cush_fail_polyfill(CUSHIM_SLOT_CtxCreate_v4, "CUDA in graphics needs a driver for CUDA 12.5.");
    /* Otherwise the polyfill of version 3 would refuse the call in its own name. */
    if (ctxCreateParams->numExecAffinityParams > 0 && ORIGINS[CUSHIM_SLOT_CtxCreate_v3].state != CUSHIM_STATE_NATIVE)
        return SHARED_POLYFILL(fail_affinity)(CUSHIM_SLOT_CtxCreate_v4);
    return TABLE->CtxCreate_v3(pctx, ctxCreateParams->execAffinityParams, ctxCreateParams->numExecAffinityParams, flags,
                               dev);
}

/* For a release without a retain, the older function returns CUDA_SUCCESS and the newer one an error. */
CUresult CUDAAPI SHARED_POLYFILL(DevicePrimaryCtxRelease_v2)(CUdevice dev)
{
    return TABLE->DevicePrimaryCtxRelease_v1(dev);
}

CUresult CUDAAPI SHARED_POLYFILL(DevicePrimaryCtxSetFlags_v2)(CUdevice dev, unsigned int flags)
{
    CUresult result = TABLE->DevicePrimaryCtxSetFlags_v1(dev, flags);
    if (result == CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE)
        return cush_fail_polyfill(CUSHIM_SLOT_DevicePrimaryCtxSetFlags_v2,
                                  "Changing the flags of a primary context in use needs a driver for CUDA 11.0.");
    return result;
}

/* The newer one promises less: v1 may also report an error of work that is still pending. */
CUresult CUDAAPI SHARED_POLYFILL(EventElapsedTime_v2)(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return TABLE->EventElapsedTime_v1(pMilliseconds, hStart, hEnd);
}

/*
 * The number of parameters of a function and of a kernel (13.2). The older entry point describes one
 * parameter and returns CUDA_ERROR_INVALID_VALUE after the last one. It returns that for a wrong handle, too, so the
 * name is asked first.
 */
#define PARAM_COUNT(slot, type, GetName, GetParamInfo)                                                                 \
    CUresult CUDAAPI SHARED_POLYFILL(slot)(type object, size_t * paramCount)                                           \
    {                                                                                                                  \
        size_t count = 0, offset, size;                                                                                \
        const char *text;                                                                                              \
        if (object == NULL || paramCount == NULL)                                                                      \
            return CUDA_ERROR_INVALID_VALUE;                                                                           \
        CUresult result = TABLE->GetName(&text, object);                                                               \
        if (result != CUDA_SUCCESS)                                                                                    \
            return result;                                                                                             \
        while ((result = TABLE->GetParamInfo(object, count, &offset, &size)) == CUDA_SUCCESS)                          \
            count++;                                                                                                   \
        if (result != CUDA_ERROR_INVALID_VALUE)                                                                        \
            return result;                                                                                             \
        *paramCount = count;                                                                                           \
        return CUDA_SUCCESS;                                                                                           \
    }

PARAM_COUNT(FuncGetParamCount_v1, CUfunction, FuncGetName_v1, FuncGetParamInfo_v1)

PARAM_COUNT(KernelGetParamCount_v1, CUkernel, KernelGetName_v1, KernelGetParamInfo_v1)

#undef PARAM_COUNT
