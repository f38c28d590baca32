/* SPDX-License-Identifier: MIT */
/* Beginning and ending captures, and queries of them. */
#include "calls.h"

#include <stdlib.h>

static CUresult capture_begin_mode(CUstream hStream, CUgraph into, const CUgraphNode *dependencies,
                                   const CUgraphEdgeData *data, size_t count, CUstreamCaptureMode mode)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->role == STREAM_LEGACY)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture != NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct graph *graph = into != NULL ? handle_find(OBJECT_GRAPH, into) : graph_new();
    if (graph == NULL)
        return into != NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
    if (graph->in_capture) /* one capture at a time */
        return CUDA_ERROR_ILLEGAL_STATE;
    struct node_set given = {0};
    result = graph_read_edges(graph, dependencies, data, count, true, &given);
    if (result == CUDA_SUCCESS && capture_begin(stream, mode, graph, &given) == NULL)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    node_set_clear(&given);
    if (result != CUDA_SUCCESS && into == NULL)
        graph_destroy(graph);
    return result;
}

CUresult soft_StreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return capture_begin_mode(hStream, NULL, NULL, NULL, 0, mode);
}

/* The first version, which has no modes, forbids nothing. */
CUresult soft_StreamBeginCapture_v1(CUstream hStream)
{
    return capture_begin_mode(hStream, NULL, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED);
}

CUresult soft_StreamBeginCaptureToGraph_v1(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
                                           const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                           CUstreamCaptureMode mode)
{
    if (hGraph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return capture_begin_mode(hStream, hGraph, dependencies, dependencyData, numDependencies, mode);
}

/* Whether the last nodes of some stream are not among the dependencies of the origin's last nodes. */
static bool capture_is_unjoined(const struct capture *capture)
{
    graph_mark_ancestors(capture->graph, &capture->origin->dependencies);
    for (const struct stream *stream = capture->streams; stream != NULL; stream = stream->next_captured)
        for (size_t i = 0; i < stream->dependencies.count; i++)
            if (stream->dependencies.nodes[i]->visit == VISIT_NONE)
                return true;
    for (size_t i = 0; i < capture->orphans.count; i++)
        if (capture->orphans.nodes[i]->visit == VISIT_NONE)
            return true;
    return false;
}

CUresult soft_StreamEndCapture_v1(CUstream hStream, CUgraph *phGraph)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct capture *capture = stream->capture;
    CUgraph unwanted;
    if (phGraph == NULL)
        phGraph = &unwanted; /* not an error: the graph is destroyed */
    if (capture == NULL) {
        *phGraph = NULL;
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    if (capture->origin != stream) {
        capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    struct graph *graph = capture->graph;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != thread_self()->id)
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    else if (capture->invalid)
        result = capture_is_lost();
    else if (capture_is_unjoined(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    capture_end(capture, result == CUDA_SUCCESS && phGraph != &unwanted);
    *phGraph = result == CUDA_SUCCESS ? (CUgraph)graph : NULL;
    return result;
}

static CUstreamCaptureStatus capture_status(const struct stream *stream)
{
    if (stream->capture == NULL)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult soft_StreamIsCapturing_v1(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    struct stream *stream = NULL;
    if (captureStatus == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_find(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = capture_implicit(stream, false);
    if (result == CUDA_SUCCESS)
        *captureStatus = capture_status(stream);
    return result;
}

/* The output pointers of a caller of any version; NULL for those that are not requested. */
struct info {
    CUstreamCaptureStatus *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **nodes;
    const CUgraphEdgeData **edges;
    size_t *count;
};

static CUresult capture_get_info(CUstream hStream, const struct info *info)
{
    struct stream *stream = NULL;
    if (info->status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_find(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = capture_implicit(stream, false);
    if (result != CUDA_SUCCESS)
        return result;
    const struct node_set *set = &stream->dependencies;
    if (capture_status(stream) == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (info->edges != NULL && info->nodes == NULL) {
            *info->status = CU_STREAM_CAPTURE_STATUS_ACTIVE; /* driver 580 has written it by then */
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (info->nodes != NULL && info->edges == NULL && node_set_has_data(set))
            return CUDA_ERROR_LOSSY_QUERY;
        if (info->id != NULL)
            *info->id = stream->capture->id;
        if (info->graph != NULL)
            *info->graph = (CUgraph)stream->capture->graph;
        if (info->nodes != NULL)
            *info->nodes = set->count == 0 ? NULL : (const CUgraphNode *)set->nodes;
        if (info->edges != NULL)
            *info->edges = set->count == 0 ? NULL : set->data;
        if (info->count != NULL)
            *info->count = set->count;
    }
    *info->status = capture_status(stream);
    return CUDA_SUCCESS;
}

CUresult soft_StreamGetCaptureInfo_v1(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out)
{
    const struct info info = {.status = captureStatus_out, .id = id_out};
    return capture_get_info(hStream, &info);
}

CUresult soft_StreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                      CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                      size_t *numDependencies_out)
{
    const struct info info = {captureStatus_out, id_out, graph_out, dependencies_out, NULL, numDependencies_out};
    return capture_get_info(hStream, &info);
}

CUresult soft_StreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                      CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                      const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    const struct info info = {captureStatus_out, id_out,       graph_out,
                              dependencies_out,  edgeData_out, numDependencies_out};
    return capture_get_info(hStream, &info);
}

CUresult soft_StreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                                 const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                                 unsigned int flags)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capture == NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (dependencies == NULL && numDependencies > 0))
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture->invalid)
        return capture_is_lost();
    struct node_set given = {0};
    result = graph_read_edges(stream->capture->graph, dependencies, dependencyData, numDependencies, true, &given);
    if (result == CUDA_SUCCESS && flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
        struct node_set old = stream->dependencies;
        stream->dependencies = given;
        given = old;
    } else if (result == CUDA_SUCCESS && !node_set_add_all(&stream->dependencies, &given)) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    node_set_clear(&given);
    return result;
}

CUresult soft_StreamUpdateCaptureDependencies_v1(CUstream hStream, CUgraphNode *dependencies, size_t numDependencies,
                                                 unsigned int flags)
{
    return soft_StreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies, flags);
}

CUresult soft_ThreadExchangeStreamCaptureMode_v1(CUstreamCaptureMode *mode)
{
    struct thread *thread = thread_self();
    if (mode == NULL)
        return CUDA_ERROR_INVALID_VALUE; /* the value is not checked */
    CUstreamCaptureMode before = thread->capture_mode;
    thread->capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
