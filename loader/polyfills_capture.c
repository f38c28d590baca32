/* SPDX-License-Identifier: MIT */
/* Polyfills: stream capture. */
#include "polyfill.h"

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

static bool driver_slot_is_native(enum cushim_slot slot)
{
    return ORIGINS[slot].state == CUSHIM_STATE_NATIVE;
}

/* Refuses the call if it requests more than an older entry point reports. `refusal` is the message, or NULL. An idle or
 * invalidated stream has nothing but its status. */
static CUresult capture_info_finish(enum cushim_slot called, CUstreamCaptureStatus status, const char *refusal,
                                    CUstreamCaptureStatus *out_status)
{
    if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && refusal != NULL)
        return cush_fail_polyfill(called, refusal);
    *out_status = status;
    return CUDA_SUCCESS;
}

static CUresult capture_info_query_v1(enum cushim_slot called, CUstream stream, CUstreamCaptureStatus *out_status,
                                      cuuint64_t *out_id)
{
    CUstreamCaptureStatus status;
    if (out_status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (driver_slot_is_native(CUSHIM_SLOT_StreamGetCaptureInfo_v1))
        return TABLE->StreamGetCaptureInfo_v1(stream, out_status, out_id);
    CUresult result = TABLE->StreamIsCapturing_v1(stream, &status);
    if (result != CUDA_SUCCESS)
        return result;
    const char *refusal = out_id != NULL ? "The id of a capture needs a driver for CUDA 10.1." : NULL;
    return capture_info_finish(called, status, refusal, out_status);
}

static CUresult capture_info_query_v2(enum cushim_slot called, CUstream stream, CUstreamCaptureStatus *out_status,
                                      cuuint64_t *out_id, CUgraph *out_graph, const CUgraphNode **out_dependencies,
                                      size_t *out_count)
{
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    if (out_status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (driver_slot_is_native(CUSHIM_SLOT_StreamGetCaptureInfo_v2))
        return TABLE->StreamGetCaptureInfo_v2(stream, out_status, out_id, out_graph, out_dependencies, out_count);
    CUresult result = capture_info_query_v1(called, stream, &status, out_id != NULL ? &id : NULL);
    if (result != CUDA_SUCCESS)
        return result;
    const char *refusal = NULL;
    if (out_graph != NULL || out_dependencies != NULL || out_count != NULL)
        refusal = "The graph and the dependencies of a capture need a driver for CUDA 11.3.";
    result = capture_info_finish(called, status, refusal, out_status);
    if (result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE && out_id != NULL)
        *out_id = id;
    return result;
}

CUresult CUDAAPI POLYFILL(StreamGetCaptureInfo_v1)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                                   cuuint64_t *id_out)
{
    return capture_info_query_v1(CUSHIM_SLOT_StreamGetCaptureInfo_v1, hStream, captureStatus_out, id_out);
}

CUresult CUDAAPI POLYFILL(StreamGetCaptureInfo_v2)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                                   cuuint64_t *id_out, CUgraph *graph_out,
                                                   const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
    return capture_info_query_v2(CUSHIM_SLOT_StreamGetCaptureInfo_v2, hStream, captureStatus_out, id_out, graph_out,
                                 dependencies_out, numDependencies_out);
}

/* The data of plain edges. A driver returns an array that it owns, so this array must stay valid, too. Nothing writes
 * to it; it is not const because constant zeros would take room in the file of the library. */
static CUgraphEdgeData plain_edges[512];

CUresult CUDAAPI POLYFILL(StreamGetCaptureInfo_v3)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                                   cuuint64_t *id_out, CUgraph *graph_out,
                                                   const CUgraphNode **dependencies_out,
                                                   const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    const enum cushim_slot called = CUSHIM_SLOT_StreamGetCaptureInfo_v3;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    CUgraph graph = NULL;
    const CUgraphNode *dependencies = NULL;
    size_t count = 0;
    if (captureStatus_out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (edgeData_out == NULL)
        return capture_info_query_v2(called, hStream, captureStatus_out, id_out, graph_out, dependencies_out,
                                     numDependencies_out);
    CUresult result =
        capture_info_query_v2(called, hStream, &status, id_out != NULL ? &id : NULL, graph_out != NULL ? &graph : NULL,
                              dependencies_out != NULL ? &dependencies : NULL, &count);
    if (result != CUDA_SUCCESS)
        return result;
    bool active = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (active && count > sizeof plain_edges / sizeof plain_edges[0])
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
    *edgeData_out = count != 0 ? plain_edges : NULL;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI POLYFILL(StreamUpdateCaptureDependencies_v2)(CUstream hStream, CUgraphNode *dependencies,
                                                              const CUgraphEdgeData *dependencyData,
                                                              size_t numDependencies, unsigned int flags)
{
    if (!cush_polyfill_edges_are_plain(dependencyData, numDependencies))
        return cush_fail_polyfill(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2,
                                  "Edge data needs a driver for CUDA 12.3.");
    return TABLE->StreamUpdateCaptureDependencies_v1(hStream, dependencies, numDependencies, flags);
}
