/* SPDX-License-Identifier: MIT */
/* Polyfills: stream capture, and graphs. The entry points of 12.3 add edge data, which before was always plain. */
#include <string.h>

#include "polyfills.h"

/* Whether all edges are plain: `edges` is NULL, or all data is zero. */
static bool POLYFILL(edges_are_plain)(const CUgraphEdgeData *edges, size_t count)
{
    static const CUgraphEdgeData plain;
    for (size_t i = 0; edges != NULL && i < count; i++) {
        if (memcmp(&edges[i], &plain, sizeof plain) != 0)
            return false;
    }
    return true;
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
    if (!POLYFILL(edges_are_plain)(dependencyData, numDependencies))
        return cush_fail_polyfill(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2,
                                  "Edge data needs a driver for CUDA 12.3.");
    return TABLE->StreamUpdateCaptureDependencies_v1(hStream, dependencies, numDependencies, flags);
}

/* Graphs. */

CUresult CUDAAPI POLYFILL(GraphInstantiateWithFlags_v1)(CUgraphExec *phGraphExec, CUgraph hGraph,
                                                        unsigned long long flags)
{
    const unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
                                     | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
                                     | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if ((flags & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags != 0)
        return cush_fail_polyfill(CUSHIM_SLOT_GraphInstantiateWithFlags_v1,
                                  "Flags for instantiating a graph need a driver for CUDA 11.4.");
    bool has_second = ORIGINS[CUSHIM_SLOT_GraphInstantiate_v2].state == CUSHIM_STATE_NATIVE;
    return has_second ? TABLE->GraphInstantiate_v2(phGraphExec, hGraph, NULL, NULL, 0)
                      : TABLE->GraphInstantiate_v1(phGraphExec, hGraph, NULL, NULL, 0);
}

CUresult CUDAAPI POLYFILL(GraphAddDependencies_v2)(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                                   const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    if (!POLYFILL(edges_are_plain)(edgeData, numDependencies))
        return cush_fail_polyfill(CUSHIM_SLOT_GraphAddDependencies_v2, "Edge data needs a driver for CUDA 12.3.");
    return TABLE->GraphAddDependencies_v1(hGraph, from, to, numDependencies);
}

/* Driver 580 removes the edge between two nodes whatever its data and the given data are. */
CUresult CUDAAPI POLYFILL(GraphRemoveDependencies_v2)(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                                      const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    (void)edgeData;
    return TABLE->GraphRemoveDependencies_v1(hGraph, from, to, numDependencies);
}

/* Completes a query that returned `count` edges. */
static CUresult POLYFILL(add_plain_edges)(CUresult result, CUgraphEdgeData *edges, size_t count)
{
    if (result == CUDA_SUCCESS && edges != NULL)
        memset(edges, 0, count * sizeof *edges);
    return result;
}

/* Driver 580 refuses an array for edge data without arrays for nodes. This query, unlike the two below, writes all of
 * the array for edge data, also behind the last edge. */
CUresult CUDAAPI POLYFILL(GraphGetEdges_v2)(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                            CUgraphEdgeData *edgeData, size_t *numEdges)
{
    if (edgeData != NULL && (from == NULL || to == NULL || numEdges == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    size_t room = edgeData != NULL ? *numEdges : 0;
    return POLYFILL(add_plain_edges)(TABLE->GraphGetEdges_v1(hGraph, from, to, numEdges), edgeData, room);
}

CUresult CUDAAPI POLYFILL(GraphNodeGetDependencies_v2)(CUgraphNode hNode, CUgraphNode *dependencies,
                                                       CUgraphEdgeData *edgeData, size_t *numDependencies)
{
    if (edgeData != NULL && (dependencies == NULL || numDependencies == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = TABLE->GraphNodeGetDependencies_v1(hNode, dependencies, numDependencies);
    return POLYFILL(add_plain_edges)(result, edgeData, edgeData != NULL ? *numDependencies : 0);
}

CUresult CUDAAPI POLYFILL(GraphNodeGetDependentNodes_v2)(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                                         CUgraphEdgeData *edgeData, size_t *numDependentNodes)
{
    if (edgeData != NULL && (dependentNodes == NULL || numDependentNodes == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = TABLE->GraphNodeGetDependentNodes_v1(hNode, dependentNodes, numDependentNodes);
    return POLYFILL(add_plain_edges)(result, edgeData, edgeData != NULL ? *numDependentNodes : 0);
}
