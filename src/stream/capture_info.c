/* SPDX-License-Identifier: MIT */
/* The state of a capture, the dependencies of its next node, and the capture mode of a thread. */
#include <stdlib.h>
#include <string.h>

#include "stream_internal.h"

CUresult cushim_stream_get_capture_status(struct cushim_stream *stream, CUstreamCaptureStatus *out_status)
{
    static const char function[] = "cushim_stream_get_capture_status";
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_status == NULL)
        return fail_null_output(function);
    CUresult result = CUSH_CALL(StreamIsCapturing_v1, stream->handle, &status);
    if (result == CUDA_SUCCESS)
        *out_status = status;
    return result;
}

/* Arrays that the driver owns. They are valid until the next call on the stream. */
struct capture_view {
    const CUgraphNode *nodes;
    const CUgraphEdgeData *edges; /* NULL: all edges are plain */
};

static bool capture_slot_is_native(enum cushim_slot slot)
{
    return cushim_slot_get_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
}

/* Queries as much as this driver reports: everything with edges, everything but edges, the id, or only the status. If
 * no edges are wanted and one has data, the driver returns CUDA_ERROR_LOSSY_QUERY. */
static CUresult capture_view_query(CUstream stream, bool wants_edges, struct cushim_capture_info *info,
                                   struct capture_view *view)
{
    if (capture_slot_is_native(CUSHIM_SLOT_StreamGetCaptureInfo_v3)) {
        info->valid = CUSHIM_CAPTURE_ID | CUSHIM_CAPTURE_GRAPH | CUSHIM_CAPTURE_DEPENDENCIES;
        return CUSH_CALL(StreamGetCaptureInfo_v3, stream, &info->status, &info->id, &info->graph, &view->nodes,
                         wants_edges ? &view->edges : NULL, &info->dependency_count);
    }
    if (capture_slot_is_native(CUSHIM_SLOT_StreamGetCaptureInfo_v2)) {
        info->valid = CUSHIM_CAPTURE_ID | CUSHIM_CAPTURE_GRAPH | CUSHIM_CAPTURE_DEPENDENCIES;
        return CUSH_CALL(StreamGetCaptureInfo_v2, stream, &info->status, &info->id, &info->graph, &view->nodes,
                         &info->dependency_count);
    }
    if (capture_slot_is_native(CUSHIM_SLOT_StreamGetCaptureInfo_v1)) {
        info->valid = CUSHIM_CAPTURE_ID;
        return CUSH_CALL(StreamGetCaptureInfo_v1, stream, &info->status, &info->id);
    }
    return CUSH_CALL(StreamIsCapturing_v1, stream, &info->status);
}

static CUresult capture_view_query_active(struct cushim_stream *stream, bool wants_edges,
                                          struct cushim_capture_info *info, struct capture_view *view)
{
    memset(info, 0, sizeof *info);
    memset(view, 0, sizeof *view);
    CUresult result = capture_view_query(stream->handle, wants_edges, info, view);
    if (result == CUDA_SUCCESS && info->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *info = (struct cushim_capture_info){.status = info->status};
    return result;
}

/* Copies nodes and edges to the arrays, which are large enough and may be NULL. */
static void capture_view_copy(const struct capture_view *view, CUgraphNode *nodes, CUgraphEdgeData *edges,
                              struct cushim_capture_info *info)
{
    size_t count = info->dependency_count;
    info->nodes = nodes;
    info->edges = edges;
    if (nodes != NULL && count != 0)
        memcpy(nodes, view->nodes, count * sizeof *nodes); /* analyzer: a driver that has a count has nodes */
    if (edges != NULL) {
        info->valid |= CUSHIM_CAPTURE_EDGES;
        if (count != 0 && view->edges != NULL)
            memcpy(edges, view->edges, count * sizeof *edges);
        else if (count != 0)
            memset(edges, 0, count * sizeof *edges);
    }
}

CUresult cushim_stream_get_capture_info(struct cushim_stream *stream, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                        size_t capacity, struct cushim_capture_info *out_info)
{
    static const char function[] = "cushim_stream_get_capture_info";
    struct cushim_capture_info info;
    struct capture_view view;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_info == NULL)
        return fail_null_output(function);
    if (nodes == NULL && edges != NULL)
        return fail_edges_without_nodes(function);
    CUresult result = capture_view_query_active(stream, nodes == NULL || edges != NULL, &info, &view);
    if (result == CUDA_ERROR_LOSSY_QUERY)
        return cushim_error_set(result, function, "An edge has data. Request the edges, too.");
    if (result != CUDA_SUCCESS)
        return result;
    if ((info.valid & CUSHIM_CAPTURE_DEPENDENCIES) != 0 && info.dependency_count <= capacity)
        capture_view_copy(&view, nodes, edges, &info);
    else if (nodes != NULL)
        info.valid &= ~(unsigned)CUSHIM_CAPTURE_DEPENDENCIES;
    *out_info = info;
    return CUDA_SUCCESS;
}

CUresult cushim_capture_info_create(struct cushim_stream *stream, struct cushim_capture_info **out_info)
{
    static const char function[] = "cushim_capture_info_create";
    struct cushim_capture_info info;
    struct capture_view view;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_info == NULL)
        return fail_null_output(function);
    CUresult result = capture_view_query_active(stream, true, &info, &view);
    if (result != CUDA_SUCCESS)
        return result;
    /* One block: the struct, the nodes, the edges, in the order of their alignment. */
    size_t count = info.dependency_count;
    if (count > (SIZE_MAX - sizeof info) / (sizeof *info.nodes + sizeof *info.edges))
        return fail_out_of_memory(function);
    struct cushim_capture_info *copy = malloc(sizeof info + count * (sizeof *info.nodes + sizeof *info.edges));
    if (copy == NULL)
        return fail_out_of_memory(function);
    if ((info.valid & CUSHIM_CAPTURE_DEPENDENCIES) != 0) {
        CUgraphNode *nodes = (CUgraphNode *)(copy + 1);
        capture_view_copy(&view, nodes, (CUgraphEdgeData *)(nodes + count), &info);
    }
    *copy = info;
    *out_info = copy;
    return CUDA_SUCCESS;
}

void cushim_capture_info_destroy(struct cushim_capture_info **info)
{
    if (info == NULL)
        return;
    free(*info);
    *info = NULL;
}

/* The driver's prototype lacks the const, but the driver does not write to the nodes. */
CUresult cushim_stream_update_capture_dependencies(struct cushim_stream *stream, const CUgraphNode *nodes,
                                                   const CUgraphEdgeData *edges, size_t count,
                                                   CUstreamUpdateCaptureDependencies_flags operation)
{
    static const char function[] = "cushim_stream_update_capture_dependencies";
    if (stream == NULL)
        return fail_null_stream(function);
    if (nodes == NULL && (count != 0 || edges != NULL))
        return fail_edges_without_nodes(function);
    if (operation != CU_STREAM_ADD_CAPTURE_DEPENDENCIES && operation != CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return cushim_error_set(
            CUDA_ERROR_INVALID_VALUE, function,
            "The operation is neither CU_STREAM_ADD_CAPTURE_DEPENDENCIES nor CU_STREAM_SET_CAPTURE_DEPENDENCIES.");
    return CUSH_CALL(StreamUpdateCaptureDependencies_v2, stream->handle, without_const(nodes), edges, count,
                     (unsigned)operation);
}

CUresult cushim_capture_mode_exchange(CUstreamCaptureMode *mode)
{
    static const char function[] = "cushim_capture_mode_exchange";
    if (mode == NULL)
        return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The pointer to the mode is NULL.");
    if ((unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function,
                                "The mode is not one of CU_STREAM_CAPTURE_MODE_...");
    return CUSH_CALL(ThreadExchangeStreamCaptureMode_v1, mode);
}
