/* SPDX-License-Identifier: MIT */
/* The function of a completion: calling it, ending it, and releasing what the work uses behind it. */
#include "completion_object.h"

static void (*completion_take_release(struct cushim_completion *completion))(void *)
{
    if (atomic_load(&completion->release) == NULL)
        return NULL;
    return atomic_exchange(&completion->release, NULL);
}

void cush_completion_release_resources(struct cushim_completion *completion)
{
    unsigned then = atomic_load(&completion->callback_state);
    if (then != CALLBACK_NONE && then != CALLBACK_ENDED)
        return;
    void (*release)(void *) = completion_take_release(completion);
    if (release != NULL)
        release(completion->user);
}

bool cush_completion_change_then(struct cushim_completion *completion, unsigned from, unsigned to)
{
    return atomic_compare_exchange_strong(&completion->callback_state, &from, to);
}

/* Ends a function that is this thread's to end. */
static void callback_end(struct cushim_completion *completion)
{
    if (completion->callback.release != NULL)
        completion->callback.release(completion->callback.user);
    atomic_store(&completion->callback_state, CALLBACK_ENDED);
}

/* Whether there are firings that the function was not called for; without captures, there is only the one. */
bool cush_completion_is_due(struct cushim_completion *completion)
{
    return completion->captured ? atomic_load(&completion->pending_calls) != 0
                                : atomic_load(&completion->state) == COMPLETION_FIRED;
}

static bool callback_is_closed(const struct cushim_completion *completion)
{
    return completion->callback.dispatcher != NULL && cush_dispatcher_is_closed(completion->callback.dispatcher);
}

/* Calls the function `due` times, or until it, or another thread, ends the completion or the dispatcher. */
static size_t call(struct cushim_completion *completion, unsigned due)
{
    size_t count = 0;
    while (count < due && atomic_load(&completion->callback_state) == CALLBACK_RUNNING
           && !callback_is_closed(completion)) {
        completion->callback.fn((CUresult)atomic_load(&completion->status), completion->callback.user);
        count++;
    }
    return count;
}

void cush_completion_run_callback(struct cushim_completion *completion, size_t *count)
{
    /* Where another thread is running it, that one looks again before it goes. */
    while (cush_completion_is_due(completion)
           && cush_completion_change_then(completion, CALLBACK_SET, CALLBACK_RUNNING)) {
        *count += call(completion, completion->captured ? atomic_exchange(&completion->pending_calls, 0) : 1);
        /* Only where more may come it can be cancelled in the meantime; else this was the only time. */
        if (!completion->captured || callback_is_closed(completion)
            || !cush_completion_change_then(completion, CALLBACK_RUNNING, CALLBACK_SET)) {
            /* Taken before the end, after which another thread may learn of it: it is this one's to release. */
            void (*release)(void *) = completion_take_release(completion);
            callback_end(completion);
            if (release != NULL)
                release(completion->user);
            return;
        }
    }
}

void cush_completion_cancel_callback(struct cushim_completion *completion)
{
    unsigned then = atomic_load(&completion->callback_state);
    while (then == CALLBACK_SET || then == CALLBACK_RUNNING) {
        if (atomic_compare_exchange_strong(&completion->callback_state, &then, CALLBACK_CANCELLED)) {
            if (then == CALLBACK_SET)
                callback_end(completion);
            return;
        }
    }
}
