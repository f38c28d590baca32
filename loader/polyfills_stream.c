/* SPDX-License-Identifier: MIT */
/* Polyfills: host functions, events, and what a stream belongs to. */
#include <stdlib.h>

#include "polyfills.h"

struct POLYFILL(host_function) {
    CUhostFn function;
    void *user_data;
};

/* A host function is not called when the work before it failed; a callback always is, and here it releases the
 * record. */
static void CUDA_CB POLYFILL(host_function_call)(CUstream stream, CUresult status, void *user_data)
{
    struct POLYFILL(host_function) *host = user_data;
    (void)stream;
    if (status == CUDA_SUCCESS)
        host->function(host->user_data);
    free(host);
}

/* A callback cannot be captured: the attempt would invalidate the capture. A driver with hidden functions may be
 * capturing. Under a version limit below 10.0, code that does not use cushim may capture, too. The driver is not
 * queried then: it must behave as one that cannot capture. */
static CUresult POLYFILL(stream_check_not_capturing)(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (ORIGINS[CUSHIM_SLOT_StreamIsCapturing_v1].state != CUSHIM_STATE_NATIVE)
        return CUDA_SUCCESS;
    CUresult result = TABLE->StreamIsCapturing_v1(stream, &status);
    if (result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE)
        return cush_fail_polyfill(CUSHIM_SLOT_LaunchHostFunc_v1,
                                  "Capturing a host function needs a driver for CUDA 10.0.");
    return result;
}

CUresult CUDAAPI POLYFILL(LaunchHostFunc_v1)(CUstream hStream, CUhostFn fn, void *userData)
{
    if (fn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult checked = POLYFILL(stream_check_not_capturing)(hStream);
    if (checked != CUDA_SUCCESS)
        return checked;
    struct POLYFILL(host_function) *host = malloc(sizeof *host);
    if (host == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    host->function = fn;
    host->user_data = userData;
    CUresult result = TABLE->StreamAddCallback_v1(hStream, POLYFILL(host_function_call), host, 0);
    if (result != CUDA_SUCCESS)
        free(host);
    return result;
}

/* cuLaunchHostFunc_v2 (13.1), which has a choice of how the driver's thread waits. */

CUresult CUDAAPI POLYFILL(LaunchHostFunc_v2)(CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode)
{
    if (syncMode != CU_HOST_TASK_BLOCKING)
        return cush_fail_polyfill(CUSHIM_SLOT_LaunchHostFunc_v2,
                                  "Modes other than CU_HOST_TASK_BLOCKING need a driver for CUDA 13.1.");
    return TABLE->LaunchHostFunc_v1(hStream, fn, userData);
}

CUresult CUDAAPI POLYFILL(EventRecordWithFlags_v1)(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    if (hEvent == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if ((flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags != 0)
        return cush_fail_polyfill(CUSHIM_SLOT_EventRecordWithFlags_v1,
                                  "External event nodes need a driver for CUDA 11.1.");
    return TABLE->EventRecord_v1(hEvent, hStream);
}

/* The newer one promises less: v1 may also report an error of work that is still pending. */
CUresult CUDAAPI POLYFILL(EventElapsedTime_v2)(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return TABLE->EventElapsedTime_v1(pMilliseconds, hStart, hEnd);
}

/*
 * For a stream of a green context, the newer entry point returns the green context and the primary context of the
 * device. The older entry point returns the green context as a CUcontext, so the primary context is unknown.
 */
CUresult CUDAAPI POLYFILL(StreamGetCtx_v2)(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    CUgreenCtx green = NULL;
    CUcontext context = NULL;
    CUresult result = CUDA_SUCCESS;
    if (pCtx == NULL && pGreenCtx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    /* Green contexts need CUDA 12.4; on older drivers no stream can belong to one (see the rule in polyfills.c). */
    if (ORIGINS[CUSHIM_SLOT_StreamGetGreenCtx_v1].state == CUSHIM_STATE_NATIVE)
        result = TABLE->StreamGetGreenCtx_v1(hStream, &green);
    if (result == CUDA_SUCCESS && green != NULL && pCtx != NULL)
        return cush_fail_polyfill(CUSHIM_SLOT_StreamGetCtx_v2,
                                  "The primary context of a green context's stream needs a driver for CUDA 12.5.");
    if (result == CUDA_SUCCESS && green == NULL)
        result = TABLE->StreamGetCtx_v1(hStream, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pCtx != NULL)
        *pCtx = context;
    if (pGreenCtx != NULL)
        *pGreenCtx = green;
    return CUDA_SUCCESS;
}
