/* SPDX-License-Identifier: MIT */
/* Captures: beginning, ending, and the scoped forms on top of them. */
#include "captured_call.h"

#include <stdlib.h>

struct cushim_capture {
    struct cushim_stream *stream; /* held */
    struct cushim_graph *graph;   /* held: the one that is captured into, or one for the graph to come */
    bool into;                    /* the first of these */
    CUstreamCaptureMode mode;
    unsigned long long thread;
    cuuint64_t id;
    bool has_id;      /* not on CUDA 10.0 */
    atomic_bool over; /* its stream was destroyed, which ended it */
    bool is_dead;     /* the context has a sticky error: nothing that was captured will ever run */
    _Atomic(struct captured_call *) calls;
};

unsigned long long cush_this_thread(void)
{
    static atomic_ullong threads;
    static _Thread_local unsigned long long number;
    if (number == 0)
        number = atomic_fetch_add(&threads, 1) + 1;
    return number;
}

/* ---- Beginning ---- */

static void capture_free(struct cushim_capture *capture)
{
    cush_captured_calls_end(atomic_load(&capture->calls), capture->is_dead);
    if (capture->into)
        atomic_fetch_sub(&capture->graph->captures, 1);
    cush_graph_unref(capture->graph);
    cush_stream_unref(capture->stream);
    free(capture);
}

/* The capture that a stream is in: its status, and its id where there is one. */
static CUresult stream_query_capture(CUstream stream, CUstreamCaptureStatus *out_status, cuuint64_t *out_id,
                                     bool *out_has_id)
{
    *out_status = CU_STREAM_CAPTURE_STATUS_NONE;
    *out_has_id = cushim_query_slot_state(CUSHIM_SLOT_StreamGetCaptureInfo_v1) == CUSHIM_STATE_NATIVE;
    if (*out_has_id)
        return cushim_set_driver_error(cushim_table()->StreamGetCaptureInfo_v1(stream, out_status, out_id),
                                       CUSHIM_SLOT_StreamGetCaptureInfo_v1);
    return cushim_set_driver_error(cushim_table()->StreamIsCapturing_v1(stream, out_status),
                                   CUSHIM_SLOT_StreamIsCapturing_v1);
}

/* All that ending will need is there before anything begins. `place` is the caller's, to be checked with the rest. */
static CUresult capture_prepare(const char *function, struct cushim_stream *stream, struct cushim_graph *into,
                                CUstreamCaptureMode mode, const void *output, struct cushim_capture **out_capture)
{
    if (stream == NULL)
        return fail_no_stream(function);
    if (output == NULL)
        return fail_null_output(function);
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function,
                                "The mode is not one of CU_STREAM_CAPTURE_MODE_...");
    struct cushim_capture *capture = calloc(1, sizeof *capture);
    struct cushim_graph *graph = into != NULL ? cush_graph_ref(into) : cush_graph_new(NULL, true);
    if (capture == NULL || graph == NULL) {
        cush_graph_unref(graph);
        free(capture);
        return fail_no_memory(function);
    }
    capture->stream = cush_stream_ref(stream);
    capture->graph = graph;
    capture->into = into != NULL;
    capture->mode = mode;
    capture->thread = cush_this_thread();
    if (capture->into)
        atomic_fetch_add(&graph->captures, 1);
    *out_capture = capture;
    return CUDA_SUCCESS;
}

/* What a capture that has begun is known by. */
static void capture_begun(struct cushim_capture *capture)
{
    CUstreamCaptureStatus status;
    if (stream_query_capture(capture->stream->handle, &status, &capture->id, &capture->has_id) != CUDA_SUCCESS)
        capture->has_id = false;
    atomic_store(&capture->stream->capture, capture);
}

CUresult cushim_capture_begin(struct cushim_stream *stream, CUstreamCaptureMode mode,
                              struct cushim_capture **out_capture)
{
    struct cushim_capture *capture;
    CUresult result = capture_prepare("cushim_capture_begin", stream, NULL, mode, out_capture, &capture);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_table()->StreamBeginCapture_v2(stream->handle, mode);
    if (result != CUDA_SUCCESS) {
        capture_free(capture);
        return cushim_set_driver_error(result, CUSHIM_SLOT_StreamBeginCapture_v2);
    }
    capture_begun(capture);
    *out_capture = capture;
    return CUDA_SUCCESS;
}

CUresult cushim_capture_begin_to_graph(struct cushim_stream *stream, struct cushim_graph *graph,
                                       const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
                                       CUstreamCaptureMode mode, struct cushim_capture **out_capture)
{
    static const char function[] = "cushim_capture_begin_to_graph";
    struct cushim_capture *capture;
    CUgraph handle = cushim_graph_handle(graph);
    if (handle == NULL)
        return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function,
                                "The graph is NULL, was destroyed, or was lost by a capture into it that failed.");
    if (nodes == NULL && (count != 0 || edges != NULL))
        return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function,
                                "There is a count, or there are edges, without nodes.");
    CUresult result = capture_prepare(function, stream, graph, mode, out_capture, &capture);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_table()->StreamBeginCaptureToGraph_v1(stream->handle, handle, nodes, edges, count, mode);
    if (result != CUDA_SUCCESS) {
        capture_free(capture);
        return cushim_set_driver_error(result, CUSHIM_SLOT_StreamBeginCaptureToGraph_v1);
    }
    capture_begun(capture);
    *out_capture = capture;
    return CUDA_SUCCESS;
}

/* ---- Ending ---- */

/*
 * Ends it at the driver. A graph that was captured into does not outlive a failure (observed with driver 580), unless
 * nothing was there to end.
 */
static CUresult capture_end_in_driver(struct cushim_capture *capture)
{
    CUgraph handle = NULL;
    CUresult result = cushim_table()->StreamEndCapture_v1(capture->stream->handle, &handle);
    if (result != CUDA_SUCCESS)
        handle = NULL;
    capture->is_dead = result != CUDA_SUCCESS && result != CUDA_ERROR_ILLEGAL_STATE && !is_capture_refusal(result);
    if (!capture->into || result != CUDA_ERROR_ILLEGAL_STATE)
        atomic_store(&capture->graph->handle, handle);
    return cushim_set_driver_error(result, CUSHIM_SLOT_StreamEndCapture_v1);
}

/* Whether the stream is still in this capture, rather than in none or in somebody else's. */
static bool capture_is_current(struct cushim_capture *capture)
{
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    bool has_id;
    if (stream_query_capture(capture->stream->handle, &status, &id, &has_id) != CUDA_SUCCESS)
        return true; /* ending says more */
    /* Of an invalidated capture the driver tells no id. */
    return status == CU_STREAM_CAPTURE_STATUS_INVALIDATED
           || (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && (!has_id || !capture->has_id || id == capture->id));
}

/*
 * Takes the capture off its stream. False if another one stands there, or none: then this one is over, and its stream
 * perhaps gone. A special stream is another one for each thread, so there that says nothing.
 */
static bool capture_detach(struct cushim_capture *capture)
{
    struct cushim_capture *expected = capture;
    return atomic_compare_exchange_strong(&capture->stream->capture, &expected, NULL) || capture->stream->special;
}

/* Ends the capture and gives its graph, if it has one of its own and `out_graph` asks for it; frees the object. */
static CUresult capture_finish(const char *function, struct cushim_capture *capture, struct cushim_graph **out_graph)
{
    CUresult result;
    if (atomic_load(&capture->over))
        result = cushim_set_error(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, function,
                                  "The stream of the capture was destroyed, which ended it.");
    else if (!capture_detach(capture) || !capture_is_current(capture))
        result = cushim_set_error(CUDA_ERROR_ILLEGAL_STATE, function, "The capture was ended by somebody else.");
    else
        result = capture_end_in_driver(capture);
    if (result == CUDA_SUCCESS && out_graph != NULL)
        *out_graph = cush_graph_ref(capture->graph);
    capture_free(capture);
    return result;
}

/* Of a special stream, other threads mean another one by the same handle, whatever the mode. */
static bool capture_is_of_other_thread(const struct cushim_capture *capture)
{
    return (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED || capture->stream->special)
           && capture->thread != cush_this_thread();
}

CUresult cushim_capture_end(struct cushim_capture **capture, struct cushim_graph **out_graph)
{
    static const char function[] = "cushim_capture_end";
    if (capture == NULL || *capture == NULL)
        return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function, "The capture is NULL, or was ended.");
    struct cushim_capture *ended = *capture;
    if (ended->into && out_graph != NULL)
        return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function,
                                "The capture goes into a graph that the caller has: it gives no other.");
    if (capture_is_of_other_thread(ended) && !atomic_load(&ended->over))
        return cushim_set_error(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, function,
                                "Only the thread that began the capture may end it; it goes on.");
    *capture = NULL;
    return capture_finish(function, ended, out_graph);
}

bool cush_capture_abandon(struct cushim_stream *stream)
{
    struct cushim_capture *capture = atomic_exchange(&stream->capture, NULL);
    if (capture == NULL || (stream->special && capture->thread != cush_this_thread()) || !capture_is_current(capture))
        return false;
    /* From the wrong thread the driver ends it, too. */
    capture_end_in_driver(capture);
    if (!capture->into) {
        CUgraph handle = atomic_exchange(&capture->graph->handle, NULL);
        if (handle != NULL)
            cushim_table()->GraphDestroy_v1(handle);
    }
    atomic_store(&capture->over, true);
    return true;
}

bool cush_capture_end_leftover(struct cushim_stream *stream)
{
    CUgraph graph = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cushim_table()->StreamIsCapturing_v1(stream->handle, &status) != CUDA_SUCCESS
        || status == CU_STREAM_CAPTURE_STATUS_NONE)
        return false;
    if (!cush_capture_abandon(stream) && cushim_table()->StreamEndCapture_v1(stream->handle, &graph) == CUDA_SUCCESS
        && graph != NULL)
        cushim_table()->GraphDestroy_v1(graph);
    return true;
}

void cush_capture_add_call(struct cushim_stream *stream, struct captured_call *call)
{
    struct cushim_capture *capture = atomic_load(&stream->capture);
    if (capture == NULL || (stream->special && capture->thread != cush_this_thread()))
        return;
    struct captured_call **next = cush_captured_call_ref_next(call);
    *next = atomic_load(&capture->calls);
    while (!atomic_compare_exchange_weak(&capture->calls, next, call))
        ;
}

/* ---- The scoped forms ---- */

/* Calls the body of an open capture and ends that. The body's error comes first, then the end's. */
static CUresult capture_run_body(const char *function, struct cushim_capture *capture, cushim_stream_body body,
                                 void *user, struct cushim_graph **out_graph)
{
    CUresult result = body(capture->stream, user);
    struct cushim_graph *graph = NULL;
    CUresult ended = capture_finish(function, capture, &graph);
    if (result == CUDA_SUCCESS && ended == CUDA_SUCCESS && out_graph != NULL)
        *out_graph = graph;
    else
        cush_graph_unref(graph);
    return result != CUDA_SUCCESS ? result : ended;
}

static CUresult fail_null_body(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The body is NULL.");
}

CUresult cushim_stream_capture(struct cushim_stream *stream, CUstreamCaptureMode mode, cushim_stream_body body,
                               void *user, struct cushim_graph **out_graph)
{
    static const char function[] = "cushim_stream_capture";
    struct cushim_capture *capture;
    if (body == NULL)
        return fail_null_body(function);
    if (out_graph == NULL)
        return fail_null_output(function);
    CUresult result = cushim_capture_begin(stream, mode, &capture);
    return result != CUDA_SUCCESS ? result : capture_run_body(function, capture, body, user, out_graph);
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
    struct cushim_capture *capture;
    if (body == NULL)
        return fail_null_body(function);
    CUresult result = cushim_capture_begin_to_graph(stream, graph, nodes, edges, count, mode, &capture);
    return result != CUDA_SUCCESS ? result : capture_run_body(function, capture, body, user, NULL);
}
