/* SPDX-License-Identifier: MIT */
/*
 * Starts a completion: records its event, or registers a status callback with the driver, which the driver always calls
 * and which fires it.
 *
 * The driver refuses a callback while the stream is in a capture, and a stream that joined the capture of another
 * stream leaves it only when that capture ends. A completion of such a stream is deferred: it is in a list until it can
 * be started. So is a completion whose callback and whose wait the driver refuses.
 */
#include "completion_start.h"

#include "../stream/capture_object.h"
#include "../stream/property.h"
#include "../stream/stream_object.h"
#include "completion_fire.h"
#include "completion_pool.h"
#include "completion_context.h"

/*
 * Returns whether every query about the stream returns this error, so that no work will run any more. The priority may
 * be queried during a capture. A capture of a blocking stream makes the legacy stream refuse every query, too.
 */
static bool stream_is_lost(CUstream stream, CUresult error)
{
    int priority;
    return !is_capture_error(error) && cushim_table_legacy()->StreamGetPriority_v1(stream, &priority) == error;
}

static bool stream_has_sticky_error(CUstream stream, CUresult error)
{
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
        return stream_is_lost(stream, error);
    }
}

CUresult cush_completion_start(struct cushim_stream *stream, struct cushim_completion *completion, bool has_event)
{
    if (has_event && cush_completion_record(stream, completion)) {
        cush_completions_hook_context_end();
        return CUDA_SUCCESS;
    }
    cush_completion_ref(completion);
    CUresult result =
        cushim_table_legacy()->StreamAddCallback_v1(stream->handle, cush_completion_on_work_done, completion, 0);
    if (result == CUDA_SUCCESS)
        return result;
    cush_completion_unref(completion);
    if (!stream_has_sticky_error(stream->handle, result))
        return cushim_set_driver_error(result, CUSHIM_SLOT_StreamAddCallback_v1);
    cush_completion_fire(completion, result);
    return CUDA_SUCCESS;
}

static atomic_uint deferred_head; /* index + 1 of the completion that was deferred last; 0: none */

static void deferred_push(struct cushim_completion *completion)
{
    unsigned head = atomic_load(&deferred_head);
    do
        atomic_store(&completion->next, head);
    while (!atomic_compare_exchange_weak(&deferred_head, &head, completion->index + 1));
}

static void completion_defer(struct cushim_completion *completion, struct cushim_stream *stream)
{
    CUcontext context = NULL;
    (void)cushim_table_legacy()->CtxGetCurrent_v1(&context);
    cush_completion_ref(completion);
    cush_stream_use(stream);
    completion->deferred.stream = stream;
    completion->deferred.context = context;
    completion->deferred.thread = cush_thread_number();
    deferred_push(completion);
}

/* In another context, or in another thread, the handle of a special stream means another stream. */
static bool deferred_is_reachable(const struct cushim_completion *completion)
{
    CUcontext current = NULL;
    if (!completion->deferred.stream->special)
        return true;
    return completion->deferred.thread == cush_thread_number()
           && cushim_table_legacy()->CtxGetCurrent_v1(&current) == CUDA_SUCCESS
           && current == completion->deferred.context;
}

CUresult cush_completion_start_or_wait(const char *function, struct cushim_stream *stream,
                                       struct cushim_completion *completion, bool has_event)
{
    if (cush_stream_is_capturing(stream->handle)) {
        completion_defer(completion, stream);
        return cushim_set_error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                                "The body left the stream in a capture of another stream, which must end first.");
    }
    CUresult result = cush_completion_start(stream, completion, has_event);
    if (result == CUDA_SUCCESS)
        return result;
    CUresult waited = cush_stream_wait_relaxed(stream);
    if (waited == CUDA_SUCCESS || stream_is_lost(stream->handle, waited))
        cush_completion_fire(completion, result);
    else
        completion_defer(completion, stream);
    return result;
}

void cush_completion_start_deferred(void)
{
    if (atomic_load(&deferred_head) == 0)
        return;
    unsigned next = atomic_exchange(&deferred_head, 0);
    while (next != 0) {
        struct cushim_completion *completion = cush_completion_pool_at(next - 1);
        struct cushim_stream *stream = completion->deferred.stream;
        next = atomic_load(&completion->next);
        if (!deferred_is_reachable(completion)) {
            deferred_push(completion);
            continue;
        }
        completion->callback.dispatcher = NULL; /* it shares its memory with what was deferred */
        /* Nobody would look at an event, and `release` may be due: enqueue.c. */
        (void)cush_completion_start_or_wait("cushim_stream_enqueue", stream, completion, false);
        (void)cush_stream_end_use(stream);
        cush_completion_unref(completion);
    }
}
