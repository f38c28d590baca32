/* SPDX-License-Identifier: MIT */
/* The state of a capture, the dependencies of its next node, and the capture mode of a thread. */
#include <stdlib.h>
#include <string.h>

#include "cushim/capture.h"
#include "fail.h"
#include "stream_object.h"

CUresult cushim_stream_capture_status(struct cushim_stream *stream, CUstreamCaptureStatus *out_status)
{
    static const char function[] = "cushim_stream_capture_status";
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_status == NULL)
        return fail_null_output(function);
    CUresult result = cushim_table_legacy()->StreamIsCapturing_v1(stream->handle, &status);
    if (result == CUDA_SUCCESS)
        *out_status = status;
    return cushim_set_driver_error(result, CUSHIM_SLOT_StreamIsCapturing_v1);
}

/* Arrays that the driver owns. They are valid until the next call on the stream. */
struct capture_view {
    const CUgraphNode *nodes;
    const CUgraphEdgeData *edges; /* NULL: all edges are plain */
};

static bool capture_slot_is_native(enum cushim_slot slot)
{
    return cushim_query_slot_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
}

/* Queries as much as this driver reports: everything with edges, everything but edges, the id, or only the status. */
static CUresult capture_view_query(CUstream stream, struct cushim_capture_info *info, struct capture_view *view)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    if (capture_slot_is_native(CUSHIM_SLOT_StreamGetCaptureInfo_v3)) {
        info->valid = CUSHIM_CAPTURE_ID | CUSHIM_CAPTURE_GRAPH | CUSHIM_CAPTURE_DEPENDENCIES;
        return cushim_set_driver_error(table->StreamGetCaptureInfo_v3(stream, &info->status, &info->id, &info->graph,
                                                                      &view->nodes, &view->edges,
                                                                      &info->dependency_count),
                                       CUSHIM_SLOT_StreamGetCaptureInfo_v3);
    }
    if (capture_slot_is_native(CUSHIM_SLOT_StreamGetCaptureInfo_v2)) {
        info->valid = CUSHIM_CAPTURE_ID | CUSHIM_CAPTURE_GRAPH | CUSHIM_CAPTURE_DEPENDENCIES;
        return cushim_set_driver_error(table->StreamGetCaptureInfo_v2(stream, &info->status, &info->id, &info->graph,
                                                                      &view->nodes, &info->dependency_count),
                                       CUSHIM_SLOT_StreamGetCaptureInfo_v2);
    }
    if (capture_slot_is_native(CUSHIM_SLOT_StreamGetCaptureInfo_v1)) {
        info->valid = CUSHIM_CAPTURE_ID;
        return cushim_set_driver_error(table->StreamGetCaptureInfo_v1(stream, &info->status, &info->id),
                                       CUSHIM_SLOT_StreamGetCaptureInfo_v1);
    }
    return cushim_set_driver_error(table->StreamIsCapturing_v1(stream, &info->status),
                                   CUSHIM_SLOT_StreamIsCapturing_v1);
}

static CUresult capture_view_query_active(struct cushim_stream *stream, struct cushim_capture_info *info,
                                          struct capture_view *view)
{
    memset(info, 0, sizeof *info);
    memset(view, 0, sizeof *view);
    CUresult result = capture_view_query(stream->handle, info, view);
    if (result == CUDA_SUCCESS && info->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *info = (struct cushim_capture_info){.status = info->status};
    return result;
}

static bool capture_edges_are_plain(const CUgraphEdgeData *edges, size_t count)
{
    static const CUgraphEdgeData plain;
    for (size_t i = 0; edges != NULL && i < count; i++)
        if (memcmp(&edges[i], &plain, sizeof plain) != 0)
            return false;
    return true;
}

/* Copies nodes and edges to the arrays, which are large enough and may be NULL. */
static void capture_view_copy(const struct capture_view *view, CUgraphNode *nodes, CUgraphEdgeData *edges,
                              struct cushim_capture_info *info)
{
    size_t count = info->dependency_count;
    info->nodes = nodes;
    info->edges = edges;
    if (nodes != NULL && count != 0)
        memcpy(nodes, view->nodes, count * sizeof *nodes);
    if (edges != NULL) {
        info->valid |= CUSHIM_CAPTURE_EDGES;
        if (count != 0 && view->edges != NULL)
            memcpy(edges, view->edges, count * sizeof *edges);
        else if (count != 0)
            memset(edges, 0, count * sizeof *edges);
    }
}

CUresult cushim_stream_capture_info(struct cushim_stream *stream, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                    size_t capacity, struct cushim_capture_info *out_info)
{
    static const char function[] = "cushim_stream_capture_info";
    struct cushim_capture_info info;
    struct capture_view view;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_info == NULL)
        return fail_null_output(function);
    if (nodes == NULL && edges != NULL)
        return fail_edges_without_nodes(function);
    CUresult result = capture_view_query_active(stream, &info, &view);
    if (result != CUDA_SUCCESS)
        return result;
    if (nodes != NULL && edges == NULL && !capture_edges_are_plain(view.edges, info.dependency_count))
        return cushim_set_error(CUDA_ERROR_LOSSY_QUERY, function, "An edge has data. Request the edges, too.");
    if ((info.valid & CUSHIM_CAPTURE_DEPENDENCIES) != 0 && info.dependency_count <= capacity)
        capture_view_copy(&view, nodes, edges, &info);
    else if (nodes != NULL)
        info.valid &= ~(unsigned)CUSHIM_CAPTURE_DEPENDENCIES;
    *out_info = info;
    return CUDA_SUCCESS;
}

CUresult cushim_stream_capture_info_copy(struct cushim_stream *stream, struct cushim_capture_info **out_info)
{
    static const char function[] = "cushim_stream_capture_info_copy";
    struct cushim_capture_info info;
    struct capture_view view;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_info == NULL)
        return fail_null_output(function);
    CUresult result = capture_view_query_active(stream, &info, &view);
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
CUresult cushim_stream_update_dependencies(struct cushim_stream *stream, const CUgraphNode *nodes,
                                           const CUgraphEdgeData *edges, size_t count,
                                           CUstreamUpdateCaptureDependencies_flags operation)
{
    static const char function[] = "cushim_stream_update_dependencies";
    if (stream == NULL)
        return fail_null_stream(function);
    if (nodes == NULL && (count != 0 || edges != NULL))
        return fail_edges_without_nodes(function);
    if (operation != CU_STREAM_ADD_CAPTURE_DEPENDENCIES && operation != CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return cushim_set_error(
            CUDA_ERROR_INVALID_VALUE, function,
            "The operation is neither CU_STREAM_ADD_CAPTURE_DEPENDENCIES nor CU_STREAM_SET_CAPTURE_DEPENDENCIES.");
    CUresult result = cushim_table_legacy()->StreamUpdateCaptureDependencies_v2(stream->handle, (CUgraphNode *)nodes,
                                                                                edges, count, (unsigned)operation);
    return cushim_set_driver_error(result, CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2);
}

CUresult cushim_capture_mode_exchange(CUstreamCaptureMode *mode)
{
    static const char function[] = "cushim_capture_mode_exchange";
    if (mode == NULL)
        return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The pointer to the mode is NULL.");
    if ((unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function,
                                "The mode is not one of CU_STREAM_CAPTURE_MODE_...");
    return cushim_set_driver_error(cushim_table_legacy()->ThreadExchangeStreamCaptureMode_v1(mode),
                                   CUSHIM_SLOT_ThreadExchangeStreamCaptureMode_v1);
}
