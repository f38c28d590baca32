/* SPDX-License-Identifier: MIT */
/* Firing completions by their events. */
#include "completion_poll.h"

#include "../stream/stream_object.h"
#include "completion_engage.h"
#include "completion_event.h"
#include "completion_fire.h"
#include "completion_helper.h"

/* Returns whether a query about the stream of the work returns the same error, or the stream is gone. */
static bool stream_agrees(struct cushim_stream *stream, CUresult error)
{
    int priority;
    if (!cush_stream_try_use(stream))
        return true;
    bool agrees = cushim_table_legacy()->StreamGetPriority_v1(stream->handle, &priority) == error;
    (void)cush_stream_end_use(stream);
    return agrees;
}

/* An error of a query is the status of the work if the driver returns it for everything. Otherwise a callback has the
 * status, if there can be one, and fires the completion. */
static bool error_is_status(struct cushim_completion *completion, CUresult error)
{
    if (error == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return true;
    CUresult engaged = cush_completion_engage(completion, ENGAGE_ANYWHERE);
    return (engaged == error || engaged == CUDA_ERROR_NOT_SUPPORTED) && stream_agrees(completion->of.stream, error);
}

bool cush_completion_poll(struct cushim_completion *completion)
{
    if (cush_completion_has_fired(completion))
        return true;
    CUresult result = cush_completion_event_query(completion);
    if (result == CUDA_SUCCESS || (result != CUDA_ERROR_NOT_READY && error_is_status(completion, result)))
        cush_completion_fire_polled(completion, result);
    return cush_completion_has_fired(completion);
}

void cush_completion_engage_or_wait(struct cushim_completion *completion)
{
    const unsigned engaged = COMPLETION_FIRED | COMPLETION_ENGAGED;
    const uint64_t interval = 1000000;
    if (!cush_completion_has_event(completion))
        return;
    /* Callbacks for one stream come in the order of its work. */
    if ((cush_helper_has_older_wait(completion) || atomic_load(&completion->of.stream->callbacks) != 0)
        && cush_completion_engage(completion, ENGAGE_ANYWHERE) == CUDA_SUCCESS)
        return;
    while (!cush_completion_poll(completion) && cush_completion_engage(completion, ENGAGE_ANYWHERE) != CUDA_SUCCESS) {
        unsigned state = atomic_load(&completion->state);
        if ((state & engaged) == 0)
            (void)cush_os_wait(&completion->state, state, cushim_time_ns() + interval);
    }
}
