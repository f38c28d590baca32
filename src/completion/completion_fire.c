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

/* Returns the state before. If that contains one of the bits of `unless`, nothing has changed. */
static unsigned completion_set_fired(struct cushim_completion *completion, CUresult status, unsigned unless)
{
    unsigned fired = COMPLETION_FIRED | (unsigned)status << COMPLETION_STATUS_SHIFT;
    unsigned before = atomic_load(&completion->state);
    while ((before & unless) == 0)
        if (atomic_compare_exchange_weak(&completion->state, &before, fired))
            break;
    return before;
}

/* Wakes the waiting threads and calls or queues the callback after a firing. `before` is the state before it. */
static void completion_announce(struct cushim_completion *completion, unsigned before)
{
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

static void completion_fire_unless(struct cushim_completion *completion, CUresult status, unsigned unless)
{
    unsigned before = completion_set_fired(completion, status, unless);
    if ((before & unless) == 0)
        completion_announce(completion, before);
}

void cush_completion_fire(struct cushim_completion *completion, CUresult status)
{
    if (completion->captured) {
        atomic_fetch_add_explicit(&completion->of.count, 1, memory_order_relaxed);
        atomic_fetch_add(&completion->pending_calls, 1);
    }
    completion_fire_unless(completion, status, completion->captured ? 0 : COMPLETION_FIRED);
}

void cush_completion_fire_polled(struct cushim_completion *completion, CUresult status)
{
    completion_fire_unless(completion, status, COMPLETION_FIRED | COMPLETION_ENGAGED);
}

void CUDA_CB cush_completion_on_work_done(CUstream stream, CUresult status, void *user)
{
    struct cushim_completion *completion = user;
    (void)stream;
    cush_completion_fire(completion, status);
    cush_completion_unref(completion);
}
