/* SPDX-License-Identifier: MIT */
/*
 * A helper stream waits for the event of a completion and then calls back. At a time it carries the waits of one
 * stream, in the order of the work: so none holds back another, and the callbacks come in that order. A wait for older
 * work than the newest there goes to another helper. If no helper is free, the callback goes onto the stream of the
 * work, behind newer work, and so do the next ones while it is there, to keep their order. If that stream is gone or in
 * a capture, the callback goes onto a busy helper, behind other waits.
 */
#include "completion_engage.h"

#include "../stream/property.h"
#include "../stream/stream_object.h"
#include "completion_event.h"
#include "completion_fire.h"
#include "completion_helper.h"

static void CUDA_CB helper_on_event(CUstream stream, CUresult status, void *user)
{
    int helper = ((struct cushim_completion *)user)->helper;
    cush_completion_on_work_done(stream, status, user);
    cush_helper_end_wait(helper);
}

static void CUDA_CB stream_on_work_done(CUstream handle, CUresult status, void *user)
{
    struct cushim_stream *stream = cush_stream_ref(((struct cushim_completion *)user)->of.stream);
    cush_completion_on_work_done(handle, status, user);
    atomic_fetch_sub(&stream->callbacks, 1);
    cush_stream_unref(stream);
}

/* `helper` is claimed, or -1. */
static CUresult engage_helper(struct cushim_completion *completion, int helper)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    if (helper < 0)
        return CUDA_ERROR_NOT_READY;
    CUstream stream = cush_helper_stream(helper);
    completion->helper = (unsigned char)helper;
    cush_completion_ref(completion);
    CUresult result = table->StreamWaitEvent_v1(stream, completion->event.handle, 0);
    if (result == CUDA_SUCCESS) {
        result = table->StreamAddCallback_v1(stream, helper_on_event, completion, 0);
        if (result != CUDA_SUCCESS)
            cush_helper_close(helper);
    }
    if (result != CUDA_SUCCESS)
        cush_completion_unref(completion);
    cush_helper_release(helper, result == CUDA_SUCCESS);
    return result;
}

/* Finds a helper that delays the callback by nothing. */
static CUresult engage_promptly(struct cushim_completion *completion)
{
    struct cushim_stream *stream = completion->of.stream;
    bool may = atomic_load(&stream->callbacks) == 0;
    return engage_helper(completion, may ? cush_helper_claim(completion) : -1);
}

/* The caller keeps the stream in use. */
static CUresult engage_stream(struct cushim_completion *completion, struct cushim_stream *stream)
{
    if (cush_stream_is_capturing(stream->handle))
        return CUDA_ERROR_NOT_READY;
    atomic_fetch_add(&stream->callbacks, 1);
    cush_completion_ref(completion);
    CUresult result = cushim_table_legacy()->StreamAddCallback_v1(stream->handle, stream_on_work_done, completion, 0);
    if (result != CUDA_SUCCESS) {
        atomic_fetch_sub(&stream->callbacks, 1);
        cush_completion_unref(completion);
    }
    return result;
}

/* `stream` is the stream of the work, if the callback may go there. */
static CUresult engage_in_turn(struct cushim_completion *completion, enum engagement engagement,
                               struct cushim_stream *stream)
{
    CUresult result = cush_completion_event_begin(completion);
    if (result != CUDA_SUCCESS)
        return result;
    result = engage_promptly(completion);
    if (result != CUDA_SUCCESS && stream != NULL)
        result = engage_stream(completion, stream);
    if (result == CUDA_ERROR_NOT_READY && engagement == ENGAGE_ANYWHERE)
        result = engage_helper(completion, cush_helper_claim_busy(completion));
    if (result == CUDA_ERROR_NOT_READY && stream == NULL && cush_helpers_count(completion->event.id) == 0)
        result = CUDA_ERROR_NOT_SUPPORTED;
    cush_completion_event_end(completion);
    return result;
}

CUresult cush_completion_engage(struct cushim_completion *completion, enum engagement engagement)
{
    const unsigned engaged = COMPLETION_FIRED | COMPLETION_ENGAGED;
    if (!atomic_load_explicit(&completion->by_event, memory_order_acquire)
        || (atomic_load(&completion->state) & engaged) != 0)
        return CUDA_SUCCESS;
    unsigned before = atomic_fetch_or(&completion->state, COMPLETION_ENGAGING);
    if ((before & (COMPLETION_ENGAGING | engaged)) != 0)
        return (before & engaged) != 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    int cancellation = cush_os_cancellation_disable();
    struct cushim_stream *stream = completion->of.stream;
    bool used = engagement == ENGAGE_ANYWHERE && cush_stream_try_use(stream);
    CUresult result = engage_in_turn(completion, engagement, used ? stream : NULL);
    if (result == CUDA_SUCCESS)
        atomic_fetch_or(&completion->state, COMPLETION_ENGAGED);
    else
        atomic_fetch_and(&completion->state, ~(unsigned)COMPLETION_ENGAGING);
    /* This can end the stream and its context, which waits for the completions in it. */
    if (used)
        (void)cush_stream_end_use(stream);
    cush_os_cancellation_restore(cancellation);
    return result;
}
