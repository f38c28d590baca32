/* SPDX-License-Identifier: MIT */
/* Polyfills with a stream, for each default stream: host functions, events, what a stream belongs to, and capture. */
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

CUresult CUDAAPI POLYFILL(StreamGetDevice_v1)(CUstream hStream, CUdevice *device)
{
    CUcontext context;
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = TABLE->StreamGetCtx_v1(hStream, &context);
    return result != CUDA_SUCCESS ? result : TABLE->CtxGetDevice_v2(device, context);
}

/*
 * No driver before 10.0 can capture, so the answer is known. Only the stream is checked, by the one query that never
 * invalidates a capture (observed with driver 580): under a version limit, the driver may be newer, and code that does
 * not use cushim may capture.
 */
CUresult CUDAAPI POLYFILL(StreamIsCapturing_v1)(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    int priority;
    if (captureStatus == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = TABLE->StreamGetPriority_v1(hStream, &priority);
    if (result == CUDA_SUCCESS)
        *captureStatus = CU_STREAM_CAPTURE_STATUS_NONE;
    return result;
}

/* The first cuStreamBeginCapture captures in relaxed mode: no call on another stream invalidates the capture (observed
 * with driver 580). */
CUresult CUDAAPI POLYFILL(StreamBeginCapture_v2)(CUstream hStream, CUstreamCaptureMode mode)
{
    if (mode != CU_STREAM_CAPTURE_MODE_GLOBAL && mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        && mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        return cush_fail_polyfill(CUSHIM_SLOT_StreamBeginCapture_v2,
                                  "Capture modes other than relaxed need a driver for CUDA 10.1.");
    return TABLE->StreamBeginCapture_v1(hStream);
}

/* cuStreamGetCaptureInfo: a polyfill that uses another one reports a refusal in the name of the called function. */

static bool POLYFILL(driver_slot_is_native)(enum cushim_slot slot)
{
    return ORIGINS[slot].state == CUSHIM_STATE_NATIVE;
}

/* Refuses the call if it requests more than an older entry point reports. `refusal` is the message, or NULL. An idle or
 * invalidated stream has nothing but its status. */
static CUresult POLYFILL(capture_info_finish)(enum cushim_slot called, CUstreamCaptureStatus status,
                                              const char *refusal, CUstreamCaptureStatus *out_status)
{
    if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && refusal != NULL)
        return cush_fail_polyfill(called, refusal);
    *out_status = status;
    return CUDA_SUCCESS;
}

static CUresult POLYFILL(capture_info_query_v1)(enum cushim_slot called, CUstream stream,
                                                CUstreamCaptureStatus *out_status, cuuint64_t *out_id)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (out_status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (POLYFILL(driver_slot_is_native)(CUSHIM_SLOT_StreamGetCaptureInfo_v1))
        return TABLE->StreamGetCaptureInfo_v1(stream, out_status, out_id);
    CUresult result = TABLE->StreamIsCapturing_v1(stream, &status);
    if (result != CUDA_SUCCESS)
        return result;
    const char *refusal = out_id != NULL ? "The id of a capture needs a driver for CUDA 10.1." : NULL;
    return POLYFILL(capture_info_finish)(called, status, refusal, out_status);
}

static CUresult POLYFILL(capture_info_query_v2)(enum cushim_slot called, CUstream stream,
                                                CUstreamCaptureStatus *out_status, cuuint64_t *out_id,
                                                CUgraph *out_graph, const CUgraphNode **out_dependencies,
                                                size_t *out_count)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    if (out_status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (POLYFILL(driver_slot_is_native)(CUSHIM_SLOT_StreamGetCaptureInfo_v2))
        return TABLE->StreamGetCaptureInfo_v2(stream, out_status, out_id, out_graph, out_dependencies, out_count);
    CUresult result = POLYFILL(capture_info_query_v1)(called, stream, &status, out_id != NULL ? &id : NULL);
    if (result != CUDA_SUCCESS)
        return result;
    const char *refusal = NULL;
    if (out_graph != NULL || out_dependencies != NULL || out_count != NULL)
        refusal = "The graph and the dependencies of a capture need a driver for CUDA 11.3.";
    result = POLYFILL(capture_info_finish)(called, status, refusal, out_status);
    if (result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE && out_id != NULL)
        *out_id = id;
    return result;
}

CUresult CUDAAPI POLYFILL(StreamGetCaptureInfo_v1)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                                   cuuint64_t *id_out)
{
    return POLYFILL(capture_info_query_v1)(CUSHIM_SLOT_StreamGetCaptureInfo_v1, hStream, captureStatus_out, id_out);
}

CUresult CUDAAPI POLYFILL(StreamGetCaptureInfo_v2)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                                   cuuint64_t *id_out, CUgraph *graph_out,
                                                   const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
    return POLYFILL(capture_info_query_v2)(CUSHIM_SLOT_StreamGetCaptureInfo_v2, hStream, captureStatus_out, id_out,
                                           graph_out, dependencies_out, numDependencies_out);
}

/* The data of plain edges. A driver returns an array that it owns, so this array must stay valid, too. Nothing writes
 * to it; it is not const because constant zeros would take room in the file of the library. */
static CUgraphEdgeData POLYFILL(plain_edges)[512];

CUresult CUDAAPI POLYFILL(StreamGetCaptureInfo_v3)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                                   cuuint64_t *id_out, CUgraph *graph_out,
                                                   const CUgraphNode **dependencies_out,
                                                   const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    const enum cushim_slot called = CUSHIM_SLOT_StreamGetCaptureInfo_v3;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = NULL;
    const CUgraphNode *dependencies = NULL;
    size_t count = 0;
    if (captureStatus_out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (edgeData_out == NULL)
        return POLYFILL(capture_info_query_v2)(called, hStream, captureStatus_out, id_out, graph_out, dependencies_out,
                                               numDependencies_out);
    CUresult result = POLYFILL(capture_info_query_v2)(called, hStream, &status, id_out != NULL ? &id : NULL,
                                                      graph_out != NULL ? &graph : NULL,
                                                      dependencies_out != NULL ? &dependencies : NULL, &count);
    if (result != CUDA_SUCCESS)
        return result;
    bool active = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (active && count > sizeof POLYFILL(plain_edges) / sizeof POLYFILL(plain_edges)[0])
        return cush_fail_polyfill(called, "More than 512 dependencies with edge data need a driver for CUDA 12.3.");
    *captureStatus_out = status;
    if (!active)
        return CUDA_SUCCESS;
    if (dependencies_out == NULL)
        return CUDA_ERROR_INVALID_VALUE; /* edges without nodes: driver 580, too, has written the status by then */
    if (id_out != NULL)
        *id_out = id;
    if (graph_out != NULL)
        *graph_out = graph;
    if (numDependencies_out != NULL)
        *numDependencies_out = count;
    *dependencies_out = dependencies;
    *edgeData_out = count != 0 ? POLYFILL(plain_edges) : NULL;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI POLYFILL(StreamUpdateCaptureDependencies_v2)(CUstream hStream, CUgraphNode *dependencies,
                                                              const CUgraphEdgeData *dependencyData,
                                                              size_t numDependencies, unsigned int flags)
{
    if (!polyfill_edges_are_plain(dependencyData, numDependencies))
        return cush_fail_polyfill(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2,
                                  "Edge data needs a driver for CUDA 12.3.");
    return TABLE->StreamUpdateCaptureDependencies_v1(hStream, dependencies, numDependencies, flags);
}
