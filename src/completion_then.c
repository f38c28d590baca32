/* SPDX-License-Identifier: MIT */
/* What a completion calls and releases: the function of cushim_completion_then(), and what the work uses behind it. */
#include "completion_object.h"

static void (*take_release(struct cushim_completion *completion))(void *)
{
    if (atomic_load(&completion->release) == NULL)
        return NULL;
    return atomic_exchange(&completion->release, NULL);
}

void cushim_priv_completion_learn(struct cushim_completion *completion)
{
    unsigned then = atomic_load(&completion->then_state);
    if (then != THEN_NONE && then != THEN_ENDED)
        return;
    void (*release)(void *) = take_release(completion);
    if (release != NULL)
        release(completion->user);
}

static bool change_then(struct cushim_completion *completion, unsigned from, unsigned to)
{
    return atomic_compare_exchange_strong(&completion->then_state, &from, to);
}

/* Ends a function that is this thread's to end. */
static void end_then(struct cushim_completion *completion)
{
    if (completion->then.release != NULL)
        completion->then.release(completion->then.user);
    atomic_store(&completion->then_state, THEN_ENDED);
}

/* Whether there are firings that the function was not called for; without captures, there is only the one. */
static bool is_due(struct cushim_completion *completion)
{
    return completion->captured ? atomic_load(&completion->due) != 0
                                : atomic_load(&completion->state) == COMPLETION_FIRED;
}

static bool is_closed(const struct cushim_completion *completion)
{
    return completion->then.dispatcher != NULL && cushim_priv_dispatcher_is_closed(completion->then.dispatcher);
}

/* Calls the function `due` times, or until it, or another thread, ends the completion or the dispatcher. */
static size_t call(struct cushim_completion *completion, unsigned due)
{
    size_t count = 0;
    while (count < due && atomic_load(&completion->then_state) == THEN_RUNNING && !is_closed(completion)) {
        completion->then.fn((CUresult)atomic_load(&completion->status), completion->then.user);
        count++;
    }
    return count;
}

void cushim_priv_completion_run(struct cushim_completion *completion, size_t *count)
{
    /* Where another thread is running it, that one looks again before it goes. */
    while (is_due(completion) && change_then(completion, THEN_SET, THEN_RUNNING)) {
        *count += call(completion, completion->captured ? atomic_exchange(&completion->due, 0) : 1);
        /* Only where more may come it can be cancelled in the meantime; else this was the only time. */
        if (!completion->captured || is_closed(completion) || !change_then(completion, THEN_RUNNING, THEN_SET)) {
            /* Taken before the end, after which another thread may learn of it: it is this one's to release. */
            void (*release)(void *) = take_release(completion);
            end_then(completion);
            if (release != NULL)
                release(completion->user);
            return;
        }
    }
}

void cushim_priv_completion_cancel(struct cushim_completion *completion)
{
    unsigned then = atomic_load(&completion->then_state);
    while (then == THEN_SET || then == THEN_RUNNING) {
        if (atomic_compare_exchange_strong(&completion->then_state, &then, THEN_CANCELLED)) {
            if (then == THEN_SET)
                end_then(completion);
            return;
        }
    }
}

void cushim_priv_completion_deliver(struct cushim_completion *completion)
{
    size_t count = 0;
    unsigned then = atomic_load(&completion->then_state);
    if (then != THEN_SET && then != THEN_RUNNING)
        return;
    if (completion->then.dispatcher == NULL)
        cushim_priv_completion_run(completion, &count);
    else if (!atomic_exchange(&completion->queued, true))
        cushim_priv_dispatcher_push(completion->then.dispatcher, completion);
}

/* ---- What users call ---- */

static CUresult set_then(const char *function, struct cushim_completion *completion,
                         struct cushim_dispatcher *dispatcher, void (*fn)(CUresult status, void *user), void *user,
                         void (*release)(void *user))
{
    if (completion == NULL)
        return refuse(no_completion(function), user, release);
    if (fn == NULL)
        return refuse(cushim_report(CUDA_ERROR_INVALID_VALUE, function, "The function is NULL."), user, release);
    if (!change_then(completion, THEN_NONE, THEN_SETTING))
        return refuse(cushim_report(CUDA_ERROR_ILLEGAL_STATE, function, "The completion has a function already."), user,
                      release);
    completion->then.fn = fn;
    completion->then.user = user;
    completion->then.release = release;
    completion->then.dispatcher = dispatcher;
    if (dispatcher != NULL)
        cushim_priv_dispatcher_hold(dispatcher);
    /* Once it is set, another thread may call the function, which may destroy the completion. */
    cushim_priv_completion_hold(completion);
    atomic_store(&completion->then_state, THEN_SET);
    if (is_due(completion))
        cushim_priv_completion_deliver(completion);
    cushim_priv_completion_drop(completion);
    return CUDA_SUCCESS;
}

CUresult cushim_completion_then(struct cushim_completion *completion, struct cushim_dispatcher *dispatcher,
                                void (*fn)(CUresult status, void *user), void *user, void (*release)(void *user))
{
    static const char function[] = "cushim_completion_then";
    if (dispatcher == NULL)
        return refuse(cushim_report(CUDA_ERROR_INVALID_HANDLE, function, "The dispatcher is NULL, or was destroyed."),
                      user, release);
    return set_then(function, completion, dispatcher, fn, user, release);
}

CUresult cushim_completion_then_at_once(struct cushim_completion *completion, void (*fn)(CUresult status, void *user),
                                        void *user, void (*release)(void *user))
{
    return set_then("cushim_completion_then_at_once", completion, NULL, fn, user, release);
}
