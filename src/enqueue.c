/* SPDX-License-Identifier: MIT */
/* How completions come to be: at the end of a stream's work, in a capture, and for work that a body enqueues. */
#include "completion_object.h"

static void CUDA_CB on_done(CUstream stream, CUresult status, void *user)
{
    struct cushim_completion *completion = user;
    (void)stream;
    cushim_priv_completion_fire(completion, status);
    cushim_priv_completion_drop(completion);
}

/*
 * Whether a refusal means that the context is broken, so that nothing will run any more: then asking for anything gives
 * the same code. The priority is the one thing that may be asked while anybody captures.
 */
static bool is_broken(CUstream stream, CUresult refusal)
{
    int priority;
    switch (refusal) {
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
        return cushim_table()->StreamGetPriority_v1(stream, &priority) == refusal;
    }
}

/* Has the driver fire the completion, which keeps one hold of it. On failure the hold is still there. */
static CUresult start(struct cushim_stream *stream, struct cushim_completion *completion)
{
    CUresult result = cushim_table()->StreamAddCallback_v1(stream->handle, on_done, completion, 0);
    if (result == CUDA_SUCCESS || !is_broken(stream->handle, result))
        return cushim_report_call(result, CUSHIM_SLOT_StreamAddCallback_v1);
    on_done(stream->handle, result, completion);
    return CUDA_SUCCESS;
}

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
    if (cushim_priv_stream_is_capturing(stream->handle))
        return capturing(function);
    CUresult result = cushim_priv_completion_new(function, &completion);
    if (result != CUDA_SUCCESS)
        return result;
    result = start(stream, completion);
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

static void synchronize_context(struct cushim_context *context)
{
    CUcontext before = NULL;
    bool entered = context != NULL && cushim_priv_context_enter(context, &before) == CUDA_SUCCESS;
    cushim_table()->CtxSynchronize_v1();
    if (entered)
        cushim_priv_context_leave(before);
}

/*
 * Where no callback can be had, the work is waited for: in a mode that harms nobody's capture. Of a stream that the
 * body destroyed only the context is left to wait for.
 */
static void wait_for_work(struct cushim_stream *stream, struct cushim_context *context)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    /* A missing slot would say so in cushim_last_error(), which has the refusal. */
    bool changed = cushim_slot_state(CUSHIM_SLOT_ThreadExchangeStreamCaptureMode_v1) != CUSHIM_STATE_MISSING
                   && cushim_table()->ThreadExchangeStreamCaptureMode_v1(&mode) == CUDA_SUCCESS;
    if (atomic_load(&stream->gone))
        synchronize_context(context);
    else
        cushim_table()->StreamSynchronize_v1(stream->handle);
    if (changed)
        cushim_table()->ThreadExchangeStreamCaptureMode_v1(&mode);
}

/* After the body: has the completion fire, come what may. */
static CUresult finish(const char *function, struct cushim_stream *stream, struct cushim_context *context,
                       struct cushim_completion *completion)
{
    CUresult result = atomic_load(&stream->gone)
                          ? cushim_report(CUDA_ERROR_INVALID_HANDLE, function, "The body destroyed the stream.")
                          : start(stream, completion);
    if (result != CUDA_SUCCESS) {
        wait_for_work(stream, context);
        on_done(NULL, result, completion);
    }
    return result;
}

/* Calls the body with the stream and its context held, which it may destroy. */
static CUresult run(const char *function, struct cushim_stream *stream,
                    CUresult (*body)(struct cushim_stream *stream, void *user), void *user,
                    struct cushim_completion *completion)
{
    struct cushim_context *context = cushim_priv_context_hold(stream->context);
    cushim_priv_stream_hold(stream);
    CUresult result = body(stream, user);
    if (!atomic_load(&stream->gone) && cushim_priv_capture_end_left(stream) && result == CUDA_SUCCESS)
        result = cushim_report(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                               "The body left the stream capturing; that capture was ended.");
    CUresult finished = finish(function, stream, context, completion);
    cushim_priv_stream_drop(stream);
    cushim_priv_context_drop(context);
    return result != CUDA_SUCCESS ? result : finished;
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
