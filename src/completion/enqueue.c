/* SPDX-License-Identifier: MIT */
/* Creating completions: for the work in a stream, in a capture, and for the work that a body enqueues. */
#include "../stream/capture_object.h"
#include "../stream/fail.h"
#include "../stream/property.h"
#include "../stream/stream_object.h"
#include "completion_fire.h"
#include "completion_object.h"
#include "completion_start.h"

static CUresult fail_capturing(const char *function)
{
    return cushim_set_error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                            "The stream is capturing. Its work is not executed before the graph is launched.");
}

/* If *has_event, tries to give the completion an event, and writes whether it has one. */
static CUresult completion_new(const char *function, struct cushim_stream *stream, bool *has_event,
                               struct cushim_completion **out_completion)
{
    struct event_place place = {NULL, 0};
    if (*has_event)
        place = cush_completion_event_place(stream);
    CUresult result = cush_completion_new(function, place.id, out_completion);
    *has_event = result == CUDA_SUCCESS && cush_completion_prepare_event(*out_completion, &place);
    return result;
}

CUresult cushim_stream_completion(struct cushim_stream *stream, struct cushim_completion **out_completion)
{
    static const char function[] = "cushim_stream_completion";
    struct cushim_completion *completion;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_completion == NULL)
        return fail_null_output(function);
    cush_completion_start_deferred();
    if (cush_stream_is_capturing(stream->handle))
        return fail_capturing(function);
    bool has_event = true;
    CUresult result = completion_new(function, stream, &has_event, &completion);
    if (result != CUDA_SUCCESS)
        return result;
    result = cush_completion_start(stream, completion, has_event);
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

CUresult cushim_stream_capturable_completion(struct cushim_stream *stream, struct cushim_completion **out_completion)
{
    static const char function[] = "cushim_stream_capturable_completion";
    struct cushim_completion *completion;
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_completion == NULL)
        return fail_null_output(function);
    if (!cush_stream_is_capturing(stream->handle))
        return cushim_stream_completion(stream, out_completion);
    CUresult result = cush_completion_new(function, 0, &completion);
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

/* Calls the body with the stream in use, so that the driver's stream outlives a body that destroys it. */
static CUresult enqueue_call_body(const char *function, struct cushim_stream *stream, cushim_stream_body body,
                                  void *user, struct cushim_completion *completion, bool has_event)
{
    cush_stream_use(stream);
    CUresult result = body(stream, user);
    if (cush_capture_end_leftover(stream) && result == CUDA_SUCCESS)
        result = cushim_set_error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                                  "The body left a capture open. The capture was ended.");
    CUresult started = cush_completion_start_or_wait(function, stream, completion, has_event);
    (void)cush_stream_end_use(stream);
    return result != CUDA_SUCCESS ? result : started;
}

CUresult cushim_stream_enqueue(struct cushim_stream *stream, cushim_stream_body body, void *user,
                               void (*release)(void *user), struct cushim_completion **out_completion)
{
    static const char function[] = "cushim_stream_enqueue";
    struct cushim_completion *completion;
    if (stream == NULL)
        return fail_and_release(fail_null_stream(function), user, release);
    if (body == NULL)
        return fail_and_release(fail_null_body(function), user, release);
    cush_completion_start_deferred();
    if (cush_stream_is_capturing(stream->handle))
        return fail_and_release(fail_capturing(function), user, release);
    /* Without an owner, a callback has to release what the work uses. The event is created before the body enqueues
     * work, because that can wait for all work of the context. */
    bool has_event = out_completion != NULL;
    CUresult result = completion_new(function, stream, &has_event, &completion);
    if (result != CUDA_SUCCESS)
        return fail_and_release(result, user, release);
    completion->user = user;
    atomic_store(&completion->release, release);
    result = enqueue_call_body(function, stream, body, user, completion, has_event);
    if (result == CUDA_SUCCESS && out_completion != NULL)
        *out_completion = completion;
    else
        cushim_completion_detach(&completion);
    return result;
}
