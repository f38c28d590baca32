/* SPDX-License-Identifier: MIT */
/* Captures: beginning and ending them, and captures of the work of a body. */
#include "stream_internal.h"

#include <stdlib.h>

struct cushim_capture {
    struct cushim_stream *stream; /* a reference */
    struct cushim_graph *graph;   /* a reference: the existing graph, or an object for the graph that will result */
    bool has_existing_graph;
    CUstreamCaptureMode mode;
    unsigned long long thread;
    CUcontext context; /* of a special stream: the one that was current at the beginning */
    cuuint64_t id;
    bool has_id;           /* false on CUDA 10.0 */
    atomic_bool abandoned; /* the stream was destroyed, which ended the capture */
    bool has_sticky_error; /* of the context: nothing that was captured will ever run */
    _Atomic(struct captured_call *) calls;
    struct cushim_capture *next_special;
};

/*
 * The open captures of special streams that this thread began. Such a stream belongs to a thread and a context, however
 * many objects wrap it, so it has at most one here for each context.
 */
static CUSH_THREAD_LOCAL struct cushim_capture *special_captures;

/* Returns the number of the calling thread. No later thread gets the same number. */
static unsigned long long thread_number(void)
{
    static atomic_ullong count;
    static CUSH_THREAD_LOCAL unsigned long long number;
    if (number == 0)
        number = atomic_fetch_add(&count, 1) + 1;
    return number;
}

static void capture_free(struct cushim_capture *capture)
{
    cush_captured_calls_end(atomic_load(&capture->calls), capture->has_sticky_error);
    if (capture->has_existing_graph)
        atomic_fetch_sub(&capture->graph->captures, 1);
    cush_graph_unref(capture->graph);
    cush_stream_unref(capture->stream);
    free(capture);
}

/* Returns the status of the capture that a stream is in and, if the driver has ids, its id. */
static CUresult capture_query_stream(CUstream stream, CUstreamCaptureStatus *out_status, cuuint64_t *out_id,
                                     bool *out_has_id)
{
    *out_status = CU_STREAM_CAPTURE_STATUS_NONE;
    *out_has_id =
        cushim_slot_get_state(CUSHIM_SLOT_StreamGetCaptureInfo_v1, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
    if (*out_has_id)
        return CUSH_CALL(StreamGetCaptureInfo_v1, stream, out_status, out_id);
    return CUSH_CALL(StreamIsCapturing_v1, stream, out_status);
}

/* Checks the arguments, and creates everything that ending the capture needs before the capture begins. */
static CUresult capture_prepare(const char *function, struct cushim_stream *stream, struct cushim_graph *existing,
                                CUstreamCaptureMode mode, const void *output, struct cushim_capture **out_capture)
{
    if (stream == NULL)
        return fail_null_stream(function);
    if (output == NULL)
        return fail_null_output(function);
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function,
                                "The mode is not one of CU_STREAM_CAPTURE_MODE_...");
    /* Drivers return this code, too, or crash (observed with driver 580). */
    if (existing != NULL && atomic_load(&existing->captures) != 0)
        return cushim_error_set(CUDA_ERROR_ILLEGAL_STATE, function,
                                "Another capture into the graph is open. End that capture first.");
    struct cushim_capture *capture = calloc(1, sizeof *capture);
    struct cushim_graph *graph = existing != NULL ? cush_graph_ref(existing) : cush_graph_new(NULL, true);
    if (capture == NULL || graph == NULL) {
        cush_graph_unref(graph);
        free(capture);
        return fail_out_of_memory(function);
    }
    capture->stream = cush_stream_ref(stream); /* analyzer: not NULL, as checked above */
    capture->graph = graph;
    capture->has_existing_graph = existing != NULL;
    capture->mode = mode;
    capture->thread = thread_number();
    if (capture->has_existing_graph)
        atomic_fetch_add(&graph->captures, 1);
    *out_capture = capture;
    return CUDA_SUCCESS;
}

/* Returns the link to this thread's capture of the special stream of a context. It holds NULL if there is none. */
static struct cushim_capture **special_find(CUcontext context)
{
    struct cushim_capture **link = &special_captures;
    while (*link != NULL && (*link)->context != context)
        link = &(*link)->next_special;
    return link;
}

static void special_register(struct cushim_capture *capture)
{
    (void)cushim_table_legacy()->CtxGetCurrent_v1(&capture->context);
    struct cushim_capture **link = special_find(capture->context);
    if (*link != NULL) /* that capture was ended through the driver */
        *link = (*link)->next_special;
    capture->next_special = special_captures;
    special_captures = capture;
}

static bool special_unregister(struct cushim_capture *capture)
{
    struct cushim_capture **link = special_find(capture->context);
    if (*link != capture)
        return false;
    *link = capture->next_special;
    return true;
}

/* Records the id of a capture that has begun, and registers the capture with its stream. */
static void capture_register(struct cushim_capture *capture)
{
    CUstreamCaptureStatus status;
    if (capture_query_stream(capture->stream->handle, &status, &capture->id, &capture->has_id) != CUDA_SUCCESS)
        capture->has_id = false;
    if (capture->stream->special)
        special_register(capture);
    else
        atomic_store(&capture->stream->capture, capture);
}

/* Returns the capture that is registered for what the stream means in this thread; NULL if there is none. */
static struct cushim_capture *capture_registered(struct cushim_stream *stream)
{
    CUcontext current = NULL;
    if (!stream->special)
        return atomic_load(&stream->capture);
    if (special_captures == NULL || cushim_table_legacy()->CtxGetCurrent_v1(&current) != CUDA_SUCCESS)
        return NULL;
    return *special_find(current);
}

CUresult cushim_capture_begin(struct cushim_stream *stream, CUstreamCaptureMode mode,
                              struct cushim_capture **out_capture)
{
    struct cushim_capture *capture = NULL;
    CUresult result = capture_prepare("cushim_capture_begin", stream, NULL, mode, out_capture, &capture);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(StreamBeginCapture_v2, stream->handle, mode);
    if (result != CUDA_SUCCESS) {
        capture_free(capture);
        return result;
    }
    capture_register(capture);
    *out_capture = capture;
    return CUDA_SUCCESS;
}

CUresult cushim_capture_begin_to_graph(struct cushim_stream *stream, struct cushim_graph *graph,
                                       const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
                                       CUstreamCaptureMode mode, struct cushim_capture **out_capture)
{
    static const char function[] = "cushim_capture_begin_to_graph";
    struct cushim_capture *capture = NULL;
    CUgraph handle = cushim_graph_handle(graph);
    if (handle == NULL)
        return fail_null_graph(function);
    if (nodes == NULL && (count != 0 || edges != NULL))
        return fail_edges_without_nodes(function);
    CUresult result = capture_prepare(function, stream, graph, mode, out_capture, &capture);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(StreamBeginCaptureToGraph_v1, stream->handle, handle, nodes, edges, count, mode);
    if (result != CUDA_SUCCESS) {
        capture_free(capture);
        return result;
    }
    capture_register(capture);
    *out_capture = capture;
    return CUDA_SUCCESS;
}

/*
 * Ends the capture in the driver. If this fails, the driver has destroyed an existing graph (observed with driver 580),
 * unless there was no capture to end.
 */
static CUresult capture_end_in_driver(struct cushim_capture *capture)
{
    CUgraph handle = NULL;
    CUresult result = CUSH_CALL(StreamEndCapture_v1, capture->stream->handle, &handle);
    if (result != CUDA_SUCCESS)
        handle = NULL;
    capture->has_sticky_error =
        result != CUDA_SUCCESS && result != CUDA_ERROR_ILLEGAL_STATE && !is_capture_error(result);
    if (!capture->has_existing_graph || result != CUDA_ERROR_ILLEGAL_STATE)
        atomic_store(&capture->graph->handle, handle);
    return result;
}

/* Returns whether the stream is still in this capture, and not in another one or in none. */
static bool capture_is_current(struct cushim_capture *capture)
{
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    bool has_id;
    if (capture_query_stream(capture->stream->handle, &status, &id, &has_id) != CUDA_SUCCESS)
        return true; /* ending the capture gives a more specific error */
    /* The driver reports no id of an invalidated capture. */
    return status == CU_STREAM_CAPTURE_STATUS_INVALIDATED
           || (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && (!has_id || !capture->has_id || id == capture->id));
}

/*
 * Removes the capture from its stream. Returns false if another capture or none is registered there: then this capture
 * is over, and its stream may be destroyed.
 */
static bool capture_unregister(struct cushim_capture *capture)
{
    struct cushim_capture *expected = capture;
    return capture->stream->special ? special_unregister(capture)
                                    : atomic_compare_exchange_strong(&capture->stream->capture, &expected, NULL);
}

/*
 * Makes the context current in which a capture of a special stream began, because the handle means another stream in
 * any other context. Returns whether cushim_context_leave() must follow.
 */
static bool capture_enter_context(const struct cushim_capture *capture, CUcontext *out_before)
{
    return capture->context != NULL && cushim_table_legacy()->CtxGetCurrent_v1(out_before) == CUDA_SUCCESS
           && *out_before != capture->context
           && cushim_table_legacy()->CtxPushCurrent_v2(capture->context) == CUDA_SUCCESS;
}

/* Ends the capture, writes its graph to *out_graph unless that is NULL, and frees the object. */
static CUresult capture_end(const char *function, struct cushim_capture *capture, struct cushim_graph **out_graph)
{
    CUcontext before = NULL;
    CUresult result;
    bool entered = !atomic_load(&capture->abandoned) && capture_enter_context(capture, &before);
    if (atomic_load(&capture->abandoned))
        result = cushim_error_set(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, function,
                                  "The stream was destroyed, which ended the capture.");
    else if (!capture_unregister(capture) || !capture_is_current(capture))
        result =
            cushim_error_set(CUDA_ERROR_ILLEGAL_STATE, function, "The capture had already been ended by other means.");
    else
        result = capture_end_in_driver(capture);
    if (entered)
        (void)cushim_context_leave(before);
    if (result == CUDA_SUCCESS && out_graph != NULL)
        *out_graph = cush_graph_ref(capture->graph);
    capture_free(capture);
    return result;
}

/* In another thread, the handle of a special stream means another stream, so there the mode does not matter. */
static bool capture_needs_other_thread(const struct cushim_capture *capture)
{
    return (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED || capture->stream->special)
           && capture->thread != thread_number();
}

CUresult cushim_capture_end(struct cushim_capture **capture, struct cushim_graph **out_graph)
{
    static const char function[] = "cushim_capture_end";
    if (capture == NULL || *capture == NULL)
        return cushim_error_set(CUDA_ERROR_INVALID_HANDLE, function, "The capture is NULL or was ended.");
    struct cushim_capture *ended = *capture;
    if (ended->has_existing_graph && out_graph != NULL)
        return cushim_error_set(
            CUDA_ERROR_INVALID_VALUE, function,
            "A capture into an existing graph returns no graph, so the output pointer must be NULL.");
    if (capture_needs_other_thread(ended) && !atomic_load(&ended->abandoned))
        return cushim_error_set(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, function,
                                "Only the thread that began the capture may end it. The capture goes on.");
    *capture = NULL;
    return capture_end(function, ended, out_graph);
}

/* Ends a capture whose object stays. The driver ends it even if this is the wrong thread. */
static bool capture_abandon(struct cushim_capture *capture)
{
    CUcontext before = NULL;
    bool entered = capture_enter_context(capture, &before);
    bool was_open = capture_unregister(capture) && capture_is_current(capture);
    if (was_open) {
        capture_end_in_driver(capture);
        if (!capture->has_existing_graph) {
            CUgraph handle = atomic_exchange(&capture->graph->handle, NULL);
            if (handle != NULL)
                cushim_table_legacy()->GraphDestroy_v1(handle);
        }
        atomic_store(&capture->abandoned, true);
    }
    if (entered)
        (void)cushim_context_leave(before);
    return was_open;
}

/* Returns a capture that was begun with this object and that this thread can end; NULL if there is none. */
static struct cushim_capture *capture_of_object(struct cushim_stream *stream)
{
    struct cushim_capture *capture = special_captures;
    if (!stream->special)
        return atomic_load(&stream->capture);
    while (capture != NULL && capture->stream != stream)
        capture = capture->next_special;
    return capture;
}

bool cush_capture_is_open(struct cushim_stream *stream)
{
    return capture_of_object(stream) != NULL;
}

bool cush_capture_abandon(struct cushim_stream *stream)
{
    struct cushim_capture *capture;
    bool was_open = false;
    while ((capture = capture_of_object(stream)) != NULL)
        was_open |= capture_abandon(capture);
    return was_open;
}

bool cush_capture_end_leftover(struct cushim_stream *stream)
{
    CUgraph graph = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cushim_table_legacy()->StreamIsCapturing_v1(stream->handle, &status) != CUDA_SUCCESS
        || status == CU_STREAM_CAPTURE_STATUS_NONE)
        return false;
    struct cushim_capture *capture = capture_registered(stream);
    if ((capture == NULL || !capture_abandon(capture))
        && cushim_table_legacy()->StreamEndCapture_v1(stream->handle, &graph) == CUDA_SUCCESS && graph != NULL)
        cushim_table_legacy()->GraphDestroy_v1(graph);
    return true;
}

void cush_capture_add_call(struct cushim_stream *stream, struct captured_call *call)
{
    struct cushim_capture *capture = capture_registered(stream);
    if (capture == NULL)
        return;
    struct captured_call **next = cush_captured_call_ref_next(call);
    *next = atomic_load(&capture->calls);
    while (!atomic_compare_exchange_weak(&capture->calls, next, call))
        ;
}

/* ---- Captures of the work of a body ---- */

/* Calls the body of an open capture and ends the capture. An error of the body precedes an error of the end. */
static CUresult capture_call_body(const char *function, struct cushim_stream *stream, struct cushim_capture *capture,
                                  cushim_stream_body body, void *user, struct cushim_graph **out_graph)
{
    CUresult result = body(stream, user);
    struct cushim_graph *graph = NULL;
    CUresult ended = capture_end(function, capture, &graph);
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

CUresult cushim_stream_capture_executable(struct cushim_stream *stream, CUstreamCaptureMode mode, unsigned flags,
                                          cushim_stream_body body, void *user, struct cushim_graph_exec **out_exec)
{
    struct cushim_graph *graph = NULL;
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
