/* SPDX-License-Identifier: MIT */
/*
 * How a completion is tied to the work in a stream: by a status callback of the driver, which always comes.
 *
 * A driver takes no callback while the stream is in a capture, and a stream that joined the capture of another one
 * leaves it only when that one ends. A completion of such a stream is deferred: it stands in a list until it can be
 * started.
 */
#include "completion_object.h"

static void CUDA_CB completion_on_work_done(CUstream stream, CUresult status, void *user)
{
    struct cushim_completion *completion = user;
    (void)stream;
    cush_completion_fire(completion, status);
    cush_completion_unref(completion);
}

/*
 * Whether a refusal is the sticky error of the context, so that nothing will run any more: then every question gives
 * the same code. The priority may be asked for during a capture.
 */
static bool is_sticky(CUstream stream, CUresult refusal)
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
        /* A capture of a blocking stream has the legacy stream refuse every question, too. */
        return !is_capture_refusal(refusal) && cushim_table()->StreamGetPriority_v1(stream, &priority) == refusal;
    }
}

CUresult cush_completion_start(struct cushim_stream *stream, struct cushim_completion *completion)
{
    CUresult result = cushim_table()->StreamAddCallback_v1(stream->handle, completion_on_work_done, completion, 0);
    if (result == CUDA_SUCCESS || !is_sticky(stream->handle, result))
        return cushim_set_driver_error(result, CUSHIM_SLOT_StreamAddCallback_v1);
    completion_on_work_done(stream->handle, result, completion);
    return CUDA_SUCCESS;
}

/* ---- Deferred completions ---- */

static atomic_uint deferred; /* index + 1 of the one that came last; 0: none */

static void push_deferred(struct cushim_completion *completion)
{
    unsigned head = atomic_load(&deferred);
    do
        atomic_store(&completion->next, head);
    while (!atomic_compare_exchange_weak(&deferred, &head, completion->index + 1));
}

static void defer(struct cushim_stream *stream, struct cushim_completion *completion)
{
    CUcontext context = NULL;
    (void)cushim_table()->CtxGetCurrent_v1(&context);
    cush_stream_use(stream);
    completion->deferred.stream = stream;
    completion->deferred.context = context;
    completion->deferred.thread = cush_this_thread();
    push_deferred(completion);
}

/* A special stream is another one in another context, or on another thread. */
static bool is_within_reach(const struct cushim_completion *completion)
{
    CUcontext current = NULL;
    if (!completion->deferred.stream->special)
        return true;
    return completion->deferred.thread == cush_this_thread()
           && cushim_table()->CtxGetCurrent_v1(&current) == CUDA_SUCCESS && current == completion->deferred.context;
}

CUresult cush_completion_start_surely(const char *function, struct cushim_stream *stream,
                                      struct cushim_completion *completion)
{
    if (cush_stream_is_capturing(stream->handle)) {
        defer(stream, completion);
        return cushim_set_error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                                "The body left the stream in a capture of another stream, which has to end first.");
    }
    CUresult result = cush_completion_start(stream, completion);
    if (result == CUDA_SUCCESS)
        return result;
    CUresult waited = cush_stream_wait_relaxed(stream);
    if (is_capture_refusal(waited))
        defer(stream, completion);
    else
        completion_on_work_done(NULL, result, completion);
    return result;
}

void cush_completion_start_deferred(void)
{
    if (atomic_load(&deferred) == 0)
        return;
    unsigned next = atomic_exchange(&deferred, 0);
    while (next != 0) {
        struct cushim_completion *completion = cush_completion_pool_at(next - 1);
        struct cushim_stream *stream = completion->deferred.stream;
        next = atomic_load(&completion->next);
        if (!is_within_reach(completion)) {
            push_deferred(completion);
            continue;
        }
        (void)cush_completion_start_surely("cushim_stream_enqueue", stream, completion);
        (void)cush_stream_end_use(stream);
    }
}
