/* SPDX-License-Identifier: MIT */
/* Captures of the work of a body. */
#include "capture_object.h"
#include "fail.h"
#include "graph_object.h"

/* Calls the body of an open capture and ends the capture. An error of the body precedes an error of the end. */
static CUresult capture_call_body(const char *function, struct cushim_stream *stream, struct cushim_capture *capture,
                                  cushim_stream_body body, void *user, struct cushim_graph **out_graph)
{
    CUresult result = body(stream, user);
    struct cushim_graph *graph = NULL;
    CUresult ended = cush_capture_end(function, capture, &graph);
    if (result == CUDA_SUCCESS && ended == CUDA_SUCCESS && out_graph != NULL)
        *out_graph = graph;
    else
        cush_graph_unref(graph);
    return result != CUDA_SUCCESS ? result : ended;
}

CUresult cushim_stream_capture(struct cushim_stream *stream, CUstreamCaptureMode mode, cushim_stream_body body,
                               void *user, struct cushim_graph **out_graph)
{
    static const char function[] = "cushim_stream_capture";
    struct cushim_capture *capture = NULL;
    if (body == NULL)
        return fail_null_body(function);
    if (out_graph == NULL)
        return fail_null_output(function);
    CUresult result = cushim_capture_begin(stream, mode, &capture);
    return result != CUDA_SUCCESS ? result : capture_call_body(function, stream, capture, body, user, out_graph);
}

CUresult cushim_stream_capture_executable(struct cushim_stream *stream, CUstreamCaptureMode mode,
                                          unsigned long long flags, cushim_stream_body body, void *user,
                                          struct cushim_graph_exec **out_exec)
{
    struct cushim_graph *graph;
    if (out_exec == NULL)
        return fail_null_output("cushim_stream_capture_executable");
    CUresult result = cushim_stream_capture(stream, mode, body, user, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_graph_instantiate(graph, stream->context, flags, out_exec);
    cushim_graph_destroy(&graph);
    return result;
}

CUresult cushim_stream_capture_to_graph(struct cushim_stream *stream, struct cushim_graph *graph,
                                        const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
                                        CUstreamCaptureMode mode, cushim_stream_body body, void *user)
{
    static const char function[] = "cushim_stream_capture_to_graph";
    struct cushim_capture *capture = NULL;
    if (body == NULL)
        return fail_null_body(function);
    CUresult result = cushim_capture_begin_to_graph(stream, graph, nodes, edges, count, mode, &capture);
    return result != CUDA_SUCCESS ? result : capture_call_body(function, stream, capture, body, user, NULL);
}
