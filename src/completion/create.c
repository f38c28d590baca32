/* SPDX-License-Identifier: MIT */
/* Creating completions: for the work in a stream, in a capture, and for the work that a body enqueues. */
#include "../stream/stream_internal.h"
#include "completion_internal.h"

static CUresult fail_context_is_gone(const char *function)
{
    return cushim_error_set(CUDA_ERROR_CONTEXT_IS_DESTROYED, function, "The context of the stream was destroyed.");
}

/* Creates a completion, and makes the choices that can wait for other work: a notification stream. */
static CUresult completion_prepare(const char *function, struct cushim_stream *stream, unsigned flags,
                                   struct cushim_completion **out_completion)
{
    struct completion_event event = {NULL, NULL, 0};
    CUresult result = cush_completion_new(function, flags, out_completion);
    if (result != CUDA_SUCCESS)
        return result;
    (void)cush_completion_event_find(stream, &event);
    if ((flags & CUSHIM_COMPLETION_NOTIFYING) != 0)
        cush_notification_choose(stream, event.context, event.id);
    else
        (*out_completion)->event = event;
    return CUDA_SUCCESS;
}

/*
 * Returns whether the error is that of the context, so that no work will run any more: the driver returns it for every
 * query about the stream. The priority may be queried during a capture. A capture of a blocking stream makes the legacy
 * stream refuse every query, too.
 */
static bool stream_has_sticky_error(CUstream stream, CUresult error)
{
    int priority;
    switch (error) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_NOT_SUPPORTED:
        return false;
    default:
        return !is_capture_error(error) && cushim_table_legacy()->StreamGetPriority_v1(stream, &priority) == error;
    }
}

/* Records the event of the completion, or adds a callback for it. If the context has a sticky error, the completion
 * fires with that error. */
static CUresult completion_start(const char *function, struct cushim_stream *stream,
                                 struct cushim_completion *completion)
{
    struct completion_event *event = &completion->event;
    CUresult result = event->id != 0 ? cush_event_record(function, stream, event->context, &event->handle)
                                     : cush_completion_notify(function, completion, stream);
    if (result == CUDA_SUCCESS || !stream_has_sticky_error(stream->handle, result))
        return result;
    cush_completion_fire(completion, result);
    return CUDA_SUCCESS;
}

CUresult cushim_completion_create(struct cushim_stream *stream, unsigned flags,
                                  struct cushim_completion **out_completion)
{
    static const char function[] = "cushim_completion_create";
    struct cushim_completion *completion = NULL;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_completion == NULL)
        return fail_null_output(function);
    if ((flags & ~(unsigned)CUSHIM_COMPLETION_NOTIFYING) != 0)
        return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The flags are unknown.");
    if (cush_completion_context_is_gone(stream))
        return fail_context_is_gone(function);
    CUresult result = cush_stream_check_capture(function, stream->handle);
    if (result == CUDA_SUCCESS)
        result = completion_prepare(function, stream, flags, &completion);
    if (result != CUDA_SUCCESS)
        return result;
    result = completion_start(function, stream, completion);
    if (result == CUDA_SUCCESS)
        *out_completion = completion;
    else
        cush_completion_unref(completion);
    return result;
}

static void CUDA_CB completion_on_launch(void *user)
{
    cush_completion_fire(user, CUDA_SUCCESS);
}

/* The graph and everything that was made from it were destroyed. */
static void completion_on_graph_destroyed(void *user)
{
    cush_completion_unref(user);
}

CUresult cushim_completion_create_captured(struct cushim_stream *stream, struct cushim_completion **out_completion)
{
    static const char function[] = "cushim_completion_create_captured";
    struct cushim_completion *completion = NULL;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_completion == NULL)
        return fail_null_output(function);
    if (!cush_stream_is_capturing(stream->handle))
        return cushim_error_set(CUDA_ERROR_ILLEGAL_STATE, function, "The stream is not capturing.");
    CUresult result = cush_completion_new(function, CUSHIM_COMPLETION_NOTIFYING, &completion);
    if (result != CUDA_SUCCESS)
        return result;
    completion->captured = true;
    cush_completion_ref(completion);
    result = cushim_stream_launch_host(stream, completion_on_launch, completion, completion_on_graph_destroyed);
    if (result == CUDA_SUCCESS)
        *out_completion = completion;
    else
        cush_completion_unref(completion);
    return result;
}

/* The work can neither be recorded nor waited for, so that nobody knows when it is done. */
static CUresult enqueue_lose(const char *function, struct cushim_completion *completion)
{
    atomic_store(&completion->destroy_user, 0);
    return cushim_error_set(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, function,
                            "The body left the stream in a capture of another stream, or a blocking stream is "
                            "capturing beside the legacy stream. The work cannot be waited for, so destroy_user is not "
                            "called.");
}

/* If the driver refuses the completion, waits for the work: dropping the completion then calls destroy_user. */
static CUresult enqueue_start_or_wait(const char *function, struct cushim_stream *stream,
                                      struct cushim_completion *completion)
{
    const int attempts = 4; /* an error counts only if the driver repeats it */
    if (cush_completion_context_is_gone(stream))
        return fail_context_is_gone(function);
    if (cush_stream_is_capturing(stream->handle))
        return enqueue_lose(function, completion);
    CUresult result = completion_start(function, stream, completion);
    if (result == CUDA_SUCCESS)
        return result;
    CUresult waited = result;
    for (int i = 0; i < attempts && waited != CUDA_SUCCESS && !is_capture_error(waited); i++)
        waited = cush_stream_wait_relaxed(stream);
    return is_capture_error(waited) ? enqueue_lose(function, completion) : result;
}

/* Calls the body with the stream in use, so that the driver's stream outlives a body that destroys it. */
static CUresult enqueue_call_body(const char *function, struct cushim_stream *stream, cushim_stream_body body,
                                  void *user, struct cushim_completion *completion)
{
    cush_stream_use(stream);
    CUresult result = body(stream, user);
    if (cush_capture_end_leftover(stream) && result == CUDA_SUCCESS)
        result = cushim_error_set(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                                  "The body left a capture open. The capture was ended.");
    CUresult started = enqueue_start_or_wait(function, stream, completion);
    (void)cush_stream_end_use(stream);
    return result == CUDA_SUCCESS || started == CUDA_ERROR_STREAM_CAPTURE_UNJOINED ? started : result;
}

CUresult cushim_stream_enqueue(struct cushim_stream *stream, cushim_stream_body body, void *user,
                               void (*destroy_user)(void *user), struct cushim_completion **out_completion)
{
    static const char function[] = "cushim_stream_enqueue";
    struct cushim_completion *completion = NULL;
    CUresult result = CUDA_SUCCESS;
    if (stream == NULL)
        result = fail_null_stream(function);
    else if (body == NULL)
        result = fail_null_body(function);
    else if (cush_completion_context_is_gone(stream))
        result = fail_context_is_gone(function);
    else
        result = cush_stream_check_capture(function, stream->handle);
    if (result == CUDA_SUCCESS)
        result = completion_prepare(function, stream, CUSHIM_COMPLETION_NOTIFYING, &completion);
    if (result != CUDA_SUCCESS) {
        if (destroy_user != NULL)
            destroy_user(user);
        return result;
    }
    completion->user = user;
    atomic_store(&completion->destroy_user, (uintptr_t)destroy_user);
    result = enqueue_call_body(function, stream, body, user, completion);
    if (result == CUDA_SUCCESS && out_completion != NULL)
        *out_completion = completion;
    else
        cushim_completion_detach(&completion);
    return result;
}
