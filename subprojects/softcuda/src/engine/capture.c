/* SPDX-License-Identifier: MIT */
/* Captures in progress: the calls that they forbid, and work that is submitted to a capturing stream. */
#include "engine.h"

#include <stdlib.h>

static struct capture *open_captures;

void capture_ref(struct capture *capture)
{
    capture->references++;
}

void capture_unref(struct capture *capture)
{
    if (--capture->references > 0)
        return;
    node_set_clear(&capture->orphans);
    free(capture);
}

static void capture_invalidate(struct capture *capture)
{
    capture->invalid = true;
}

CUresult capture_is_lost(void)
{
    thread_explain("Capture was invalidated by a prior API call");
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult capture_forbid(struct stream *stream)
{
    if (stream->capture == NULL)
        return CUDA_SUCCESS;
    capture_invalidate(stream->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* Whether this thread may not make an unsafe call during that capture. */
static bool capture_prohibits(const struct capture *capture, const struct thread *thread)
{
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == thread->id)
        return true;
    return thread->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_unsafe(void)
{
    const struct thread *thread = thread_self();
    CUresult result = CUDA_SUCCESS;
    if (thread->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return result;
    for (struct capture *capture = open_captures; capture != NULL; capture = capture->next) {
        if (capture_prohibits(capture, thread)) {
            capture_invalidate(capture);
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
            if (capture->thread == thread->id)
                thread_explain("API call conflicts with a stream capture sequence initiated from the calling thread");
        }
    }
    return result;
}

CUresult capture_forbid_in_context(struct context *context)
{
    CUresult result = CUDA_SUCCESS;
    for (struct capture *capture = open_captures; capture != NULL; capture = capture->next) {
        for (const struct stream *stream = capture->streams; stream != NULL; stream = stream->next_captured) {
            if (stream->context == context || stream->context->parent == context) {
                capture_invalidate(capture);
                result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
            }
        }
    }
    return result;
}

CUresult capture_implicit(struct stream *stream, bool invalidates)
{
    if (stream->role != STREAM_LEGACY || stream->context->blocking_captures == 0)
        return CUDA_SUCCESS;
    for (struct stream *other = stream->context->streams; invalidates && other != NULL; other = other->next)
        if (other->capture != NULL && stream_is_blocking(other))
            capture_invalidate(other->capture);
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult capture_check_stream(struct stream *stream)
{
    if (stream->capture != NULL)
        return capture_forbid(stream);
    CUresult result = capture_implicit(stream, true);
    return result == CUDA_SUCCESS ? capture_unsafe() : result;
}

CUresult capture_check_event(struct event *event, bool invalidates)
{
    struct capture *capture = event->capture;
    if (capture == NULL)
        return CUDA_SUCCESS;
    if (capture->ended || capture->invalid)
        return CUDA_ERROR_INVALID_VALUE;
    if (invalidates)
        capture_invalidate(capture);
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult capture_check_query(struct stream *stream)
{
    if (stream->capture != NULL && stream->capture->invalid)
        return capture_is_lost();
    return capture_implicit(stream, true);
}

/* Adds the stream to the capture. Its next node will have these dependencies. Returns false if out of memory. */
static bool capture_join(struct capture *capture, struct stream *stream, const struct node_set *dependencies)
{
    if (dependencies != NULL && !node_set_add_all(&stream->dependencies, dependencies))
        return false;
    capture_ref(capture);
    stream->capture = capture;
    stream->next_captured = capture->streams;
    capture->streams = stream;
    if (stream_is_blocking(stream))
        stream->context->blocking_captures++;
    return true;
}

static void capture_leave(struct stream *stream)
{
    struct capture *capture = stream->capture;
    struct stream **at = &capture->streams;
    while (*at != stream)
        at = &(*at)->next_captured;
    *at = stream->next_captured;
    stream->capture = NULL;
    node_set_clear(&stream->dependencies);
    if (stream_is_blocking(stream))
        stream->context->blocking_captures--;
    capture_unref(capture);
}

struct capture *capture_begin(struct stream *stream, CUstreamCaptureMode mode, struct graph *graph,
                              const struct node_set *dependencies)
{
    struct capture *capture = calloc(1, sizeof *capture);
    if (capture == NULL || !capture_join(capture, stream, dependencies)) {
        free(capture);
        return NULL;
    }
    capture_ref(capture); /* the reference of the list of captures in progress */
    capture->id = soft_next_id();
    capture->mode = mode;
    capture->thread = thread_self()->id;
    capture->origin = stream;
    capture->graph = graph;
    graph->in_capture = true;
    capture->next = open_captures;
    open_captures = capture;
    return capture;
}

void capture_end(struct capture *capture, bool keep_graph)
{
    struct capture **at = &open_captures;
    while (*at != capture)
        at = &(*at)->next;
    *at = capture->next;
    capture->ended = true;
    capture->graph->in_capture = false;
    if (!keep_graph)
        graph_destroy(capture->graph);
    capture->graph = NULL;
    while (capture->streams != NULL)
        capture_leave(capture->streams);
    capture_unref(capture);
}

void capture_abandon(struct stream *stream)
{
    struct capture *capture = stream->capture;
    if (capture == NULL)
        return;
    if (capture->origin == stream) {
        capture_end(capture, false);
        return;
    }
    /* Its captured work must still be joined. */
    if (!node_set_add_all(&capture->orphans, &stream->dependencies))
        capture_invalidate(capture);
    capture_leave(stream);
}

CUresult capture_add(struct stream *stream, struct work *work)
{
    struct capture *capture = stream->capture;
    if (capture->invalid) {
        work_unref(work);
        return capture_is_lost();
    }
    struct node *node = graph_add(capture->graph, work, &stream->dependencies);
    if (node == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node_set_clear(&stream->dependencies);
    return node_set_add(&stream->dependencies, node, NULL) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult capture_record(struct stream *stream, struct event *event)
{
    struct capture *capture = stream->capture;
    if (capture->invalid)
        return capture_is_lost();
    struct node_set captured = {0};
    if (!node_set_add_all(&captured, &stream->dependencies))
        return CUDA_ERROR_OUT_OF_MEMORY;
    event_set_capture(event, capture, &captured);
    return CUDA_SUCCESS;
}

/* The capture would depend on work outside of it. */
static CUresult capture_isolated(struct capture *capture)
{
    capture_invalidate(capture);
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

CUresult capture_wait(struct stream *stream, struct event *event, bool *out_captured)
{
    struct capture *mine = stream->capture, *its = event->capture;
    *out_captured = true;
    if (mine != NULL && mine->invalid)
        return capture_is_lost();
    if (its == NULL) {
        *out_captured = mine != NULL && event->op == NULL; /* never recorded, so nothing to wait for */
        return mine == NULL || event->op == NULL ? CUDA_SUCCESS : capture_isolated(mine);
    }
    if (its->ended || its->invalid) {
        if (mine != NULL)
            capture_invalidate(mine);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (mine == NULL) {
        if (stream->role == STREAM_LEGACY) {
            capture_invalidate(its);
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
        return capture_join(its, stream, &event->dependencies) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (mine != its) {
        capture_invalidate(mine);
        capture_invalidate(its);
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    return node_set_add_all(&stream->dependencies, &event->dependencies) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
