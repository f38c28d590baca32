/* SPDX-License-Identifier: MIT */
/* How completions come to be: at the end of a stream's work, in a capture, and for work that a body enqueues. */
#include "completion_object.h"

static void drop_both(struct cushim_completion *completion)
{
    cushim_priv_completion_drop(completion);
    cushim_priv_completion_drop(completion);
}

static CUresult capturing(const char *function)
{
    return cushim_report(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                         "The stream is capturing: nothing will be done before the graph is launched.");
}

CUresult cushim_stream_completion(struct cushim_stream *stream, struct cushim_completion **ret_completion)
{
    static const char function[] = "cushim_stream_completion";
    struct cushim_completion *completion;
    if (stream == NULL)
        return no_stream(function);
    if (ret_completion == NULL)
        return no_place(function);
    cushim_priv_completion_start_deferred();
    if (cushim_priv_stream_is_capturing(stream->handle))
        return capturing(function);
    CUresult result = cushim_priv_completion_new(function, &completion);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_priv_completion_start(stream, completion);
    if (result == CUDA_SUCCESS)
        *ret_completion = completion;
    else
        drop_both(completion);
    return result;
}

/* ---- In a capture ---- */

static void CUDA_CB on_launch(void *user)
{
    cushim_priv_completion_fire(user, CUDA_SUCCESS);
}

/* The graph, and all that was made of it, is gone. */
static void on_graph_gone(void *user)
{
    cushim_priv_completion_drop(user);
}

CUresult cushim_stream_notification(struct cushim_stream *stream, struct cushim_completion **ret_completion)
{
    static const char function[] = "cushim_stream_notification";
    struct cushim_completion *completion;
    if (stream == NULL)
        return no_stream(function);
    if (ret_completion == NULL)
        return no_place(function);
    if (!cushim_priv_stream_is_capturing(stream->handle))
        return cushim_stream_completion(stream, ret_completion);
    CUresult result = cushim_priv_completion_new(function, &completion);
    if (result != CUDA_SUCCESS)
        return result;
    completion->captured = true;
    result = cushim_stream_launch_host(stream, on_launch, completion, on_graph_gone);
    if (result == CUDA_SUCCESS)
        *ret_completion = completion;
    else
        cushim_priv_completion_drop(completion);
    return result;
}

/* ---- Work and what it uses ---- */

/* Calls the body with the stream in use, so that the driver's stream outlives a body that destroys it. */
static CUresult run(const char *function, struct cushim_stream *stream,
                    CUresult (*body)(struct cushim_stream *stream, void *user), void *user,
                    struct cushim_completion *completion)
{
    cushim_priv_stream_use(stream);
    CUresult result = body(stream, user);
    if (cushim_priv_capture_end_left(stream) && result == CUDA_SUCCESS)
        result = cushim_report(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                               "The body left the stream capturing; that capture was ended.");
    CUresult started = cushim_priv_completion_start_surely(function, stream, completion);
    (void)cushim_priv_stream_end_use(stream);
    return result != CUDA_SUCCESS ? result : started;
}

CUresult cushim_stream_enqueue(struct cushim_stream *stream, CUresult (*body)(struct cushim_stream *stream, void *user),
                               void *user, void (*release)(void *user), struct cushim_completion **ret_completion)
{
    static const char function[] = "cushim_stream_enqueue";
    struct cushim_completion *completion;
    if (stream == NULL)
        return refuse(no_stream(function), user, release);
    if (body == NULL)
        return refuse(cushim_report(CUDA_ERROR_INVALID_VALUE, function, "The body is NULL."), user, release);
    cushim_priv_completion_start_deferred();
    if (cushim_priv_stream_is_capturing(stream->handle))
        return refuse(capturing(function), user, release);
    CUresult result = cushim_priv_completion_new(function, &completion);
    if (result != CUDA_SUCCESS)
        return refuse(result, user, release);
    completion->user = user;
    atomic_store(&completion->release, release);
    result = run(function, stream, body, user, completion);
    if (result == CUDA_SUCCESS && ret_completion != NULL)
        *ret_completion = completion;
    else
        cushim_completion_detach(&completion);
    return result;
}
