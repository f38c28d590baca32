/* SPDX-License-Identifier: MIT */
#include "completion_fire.h"

#include "completion_call.h"
#include "dispatcher.h"

atomic_uint cush_completion_watched_firings;

void cush_completion_dispatch(struct cushim_completion *completion)
{
    size_t count = 0;
    unsigned callback = atomic_load(&completion->callback_state);
    if (callback != CALLBACK_SET && callback != CALLBACK_RUNNING)
        return;
    if (completion->callback.dispatcher == NULL)
        cush_completion_run_callback(completion, &count);
    else if (!atomic_exchange(&completion->queued, true))
        cush_dispatcher_push(completion->callback.dispatcher, completion);
}

void cush_completion_fire(struct cushim_completion *completion, CUresult status)
{
    atomic_store_explicit(&completion->status, status, memory_order_relaxed);
    if (completion->captured) {
        atomic_fetch_add_explicit(&completion->count, 1, memory_order_relaxed);
        atomic_fetch_add(&completion->pending_calls, 1);
    }
    unsigned before = atomic_exchange(&completion->state, COMPLETION_FIRED);
    if ((before & COMPLETION_WAITED) != 0)
        cush_os_wake(&completion->state);
    if ((before & COMPLETION_WATCHED) != 0) {
        atomic_fetch_add(&cush_completion_watched_firings, 1);
        cush_os_wake(&cush_completion_watched_firings);
    }
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0)
        cush_os_signal_set(signal);
    cush_completion_dispatch(completion);
    if (atomic_load(&completion->detached))
        cush_completion_release_resources(completion);
}
