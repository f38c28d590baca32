/* SPDX-License-Identifier: MIT */
/* Completions: firing, asking, waiting, giving up. */
#include "completion_object.h"

static CUresult no_completion(const char *function)
{
    return cushim_report(CUDA_ERROR_INVALID_HANDLE, function, "The completion is NULL, or was given up.");
}

/* ---- The object ---- */

CUresult cushim_priv_completion_new(const char *function, struct cushim_completion **ret_completion)
{
    struct cushim_completion *completion = cushim_priv_completion_get();
    if (completion == NULL)
        return no_memory(function);
    /* Nobody else sees it yet: whoever hands it to another thread publishes it. */
    atomic_store_explicit(&completion->state, COMPLETION_PENDING, memory_order_relaxed);
    atomic_store_explicit(&completion->count, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->signal, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->release, NULL, memory_order_relaxed);
    atomic_store_explicit(&completion->then_state, THEN_NONE, memory_order_relaxed);
    atomic_store_explicit(&completion->due, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->queued, false, memory_order_relaxed);
    atomic_store_explicit(&completion->given_up, false, memory_order_relaxed);
    atomic_store_explicit(&completion->references, 2, memory_order_relaxed);
    completion->captured = false;
    completion->generation = cushim_priv_os_generation();
    *ret_completion = completion;
    return CUDA_SUCCESS;
}

void cushim_priv_completion_hold(struct cushim_completion *completion)
{
    atomic_fetch_add(&completion->references, 1);
}

void cushim_priv_completion_drop(struct cushim_completion *completion)
{
    if (atomic_fetch_sub(&completion->references, 1) != 1)
        return;
    cushim_priv_completion_cancel(completion);
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0)
        cushim_priv_os_signal_close(signal);
    cushim_priv_completion_put(completion);
}

/* ---- What is to be called and released ---- */

/* Releases what the work uses: nobody has done so, the GPU is done, and there is no function or it has ended. */
static void release_work(struct cushim_completion *completion)
{
    void (*release)(void *) = atomic_exchange(&completion->release, NULL);
    if (release != NULL)
        release(completion->user);
}

/* The same for whoever learns that it fired: with a function to come, that goes first. */
static void learn(struct cushim_completion *completion)
{
    unsigned then = atomic_load(&completion->then_state);
    if (then == THEN_NONE || then == THEN_ENDED)
        release_work(completion);
}

static bool change_then(struct cushim_completion *completion, unsigned from, unsigned to)
{
    return atomic_compare_exchange_strong(&completion->then_state, &from, to);
}

/* What follows a function that has ended. */
static void release_then(struct cushim_completion *completion)
{
    if (completion->then.release != NULL)
        completion->then.release(completion->then.user);
    if (completion->then.dispatcher != NULL)
        cushim_priv_dispatcher_drop(completion->then.dispatcher);
    if (atomic_load(&completion->state) == COMPLETION_FIRED)
        release_work(completion);
}

/* Whether there are firings that the function was not called for; without captures, there is only the one. */
static bool is_due(struct cushim_completion *completion)
{
    return completion->captured ? atomic_load(&completion->due) != 0
                                : atomic_load(&completion->state) == COMPLETION_FIRED;
}

void cushim_priv_completion_run(struct cushim_completion *completion, size_t *count)
{
    /* Where another thread is running it, that one looks again before it goes. */
    while (is_due(completion) && change_then(completion, THEN_SET, THEN_RUNNING)) {
        unsigned due = completion->captured ? atomic_exchange(&completion->due, 0) : 1;
        for (unsigned i = 0; i < due; i++, ++*count)
            completion->then.fn((CUresult)atomic_load(&completion->status), completion->then.user);
        unsigned after = completion->captured ? THEN_SET : THEN_ENDED;
        bool ended = !change_then(completion, THEN_RUNNING, after);
        if (ended || after == THEN_ENDED) {
            release_then(completion);
            return;
        }
    }
}

void cushim_priv_completion_cancel(struct cushim_completion *completion)
{
    if (change_then(completion, THEN_SET, THEN_ENDED))
        release_then(completion);
    else if (!change_then(completion, THEN_RUNNING, THEN_ENDED)
             && change_then(completion, THEN_SET, THEN_ENDED)) /* it was running, and was set again in between */
        release_then(completion);
}

/* Sees to it that a function is called for the firings that are due. */
static void deliver(struct cushim_completion *completion)
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

void cushim_priv_completion_fire(struct cushim_completion *completion, CUresult status)
{
    atomic_store_explicit(&completion->status, status, memory_order_relaxed);
    if (completion->captured) {
        atomic_fetch_add_explicit(&completion->count, 1, memory_order_relaxed);
        atomic_fetch_add(&completion->due, 1);
    }
    if (atomic_exchange(&completion->state, COMPLETION_FIRED) == COMPLETION_WAITED)
        cushim_priv_os_wake(&completion->state);
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0)
        cushim_priv_os_signal_set(signal);
    deliver(completion);
    if (atomic_load(&completion->given_up))
        learn(completion);
}

/* ---- Asking and waiting ---- */

/* CUDA_ERROR_NOT_READY until it has fired; *ret_status is then its status. */
static CUresult look(const char *function, struct cushim_completion *completion, CUresult *ret_status)
{
    if (completion == NULL)
        return no_completion(function);
    if (atomic_load(&completion->state) == COMPLETION_FIRED) {
        learn(completion);
        *ret_status = (CUresult)atomic_load(&completion->status);
        return CUDA_SUCCESS;
    }
    if (completion->generation != cushim_priv_os_generation())
        return cushim_report(CUDA_ERROR_NOT_INITIALIZED, function, "The completion was made before a fork().");
    return CUDA_ERROR_NOT_READY;
}

CUresult cushim_completion_poll(struct cushim_completion *completion)
{
    CUresult status = CUDA_SUCCESS;
    CUresult result = look("cushim_completion_poll", completion, &status);
    return result != CUDA_SUCCESS ? result : status;
}

CUresult cushim_completion_status(struct cushim_completion *completion, CUresult *ret_status)
{
    if (ret_status == NULL)
        return no_place("cushim_completion_status");
    return look("cushim_completion_status", completion, ret_status);
}

CUresult cushim_completion_wait(struct cushim_completion *completion, uint64_t deadline)
{
    static const char function[] = "cushim_completion_wait";
    CUresult status = CUDA_SUCCESS;
    CUresult result = look(function, completion, &status);
    bool in_time = true;
    while (result == CUDA_ERROR_NOT_READY && in_time) {
        unsigned expected = COMPLETION_PENDING;
        if (atomic_compare_exchange_strong(&completion->state, &expected, COMPLETION_WAITED)
            || expected == COMPLETION_WAITED)
            in_time = cushim_priv_os_wait(&completion->state, COMPLETION_WAITED, deadline);
        result = look(function, completion, &status);
    }
    if (result == CUDA_ERROR_NOT_READY)
        return cushim_report(CUDA_ERROR_TIMEOUT, function, "The deadline has passed.");
    return result != CUDA_SUCCESS ? result : status;
}

CUresult cushim_completion_descriptor(struct cushim_completion *completion, cushim_descriptor *ret_descriptor)
{
    static const char function[] = "cushim_completion_descriptor";
    if (completion == NULL)
        return no_completion(function);
    if (ret_descriptor == NULL)
        return no_place(function);
    os_signal signal = atomic_load(&completion->signal);
    if (signal == 0) {
        os_signal fresh = cushim_priv_os_signal_open();
        if (fresh == 0)
            return cushim_report(CUDA_ERROR_OPERATING_SYSTEM, function, "The system gives no more descriptors.");
        if (atomic_compare_exchange_strong(&completion->signal, &signal, fresh))
            signal = fresh;
        else
            cushim_priv_os_signal_close(fresh);
        if (atomic_load(&completion->state) == COMPLETION_FIRED)
            cushim_priv_os_signal_set(signal);
    }
    *ret_descriptor = cushim_priv_os_signal_descriptor(signal);
    return CUDA_SUCCESS;
}

uint64_t cushim_completion_count(const struct cushim_completion *completion)
{
    struct cushim_completion *asked = (struct cushim_completion *)completion;
    if (asked == NULL)
        return 0;
    return asked->captured ? atomic_load(&asked->count) : atomic_load(&asked->state) == COMPLETION_FIRED;
}

CUresult cushim_completion_reset(struct cushim_completion *completion)
{
    static const char function[] = "cushim_completion_reset";
    unsigned expected = COMPLETION_FIRED;
    if (completion == NULL)
        return no_completion(function);
    if (!completion->captured)
        return cushim_report(CUDA_ERROR_NOT_SUPPORTED, function,
                             "The completion was not captured: it fires once only.");
    if (!atomic_compare_exchange_strong(&completion->state, &expected, COMPLETION_PENDING))
        return CUDA_SUCCESS;
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0) {
        cushim_priv_os_signal_clear(signal);
        /* It may have fired again in between. */
        if (atomic_load(&completion->state) == COMPLETION_FIRED)
            cushim_priv_os_signal_set(signal);
    }
    return CUDA_SUCCESS;
}

/* ---- Functions ---- */

static CUresult refuse_then(CUresult result, void *user, void (*release)(void *user))
{
    if (release != NULL)
        release(user);
    return result;
}

static CUresult set_then(const char *function, struct cushim_completion *completion,
                         struct cushim_dispatcher *dispatcher, void (*fn)(CUresult status, void *user), void *user,
                         void (*release)(void *user))
{
    if (completion == NULL)
        return refuse_then(no_completion(function), user, release);
    if (fn == NULL)
        return refuse_then(cushim_report(CUDA_ERROR_INVALID_VALUE, function, "The function is NULL."), user, release);
    if (!change_then(completion, THEN_NONE, THEN_SETTING))
        return refuse_then(cushim_report(CUDA_ERROR_ILLEGAL_STATE, function, "The completion has a function already."),
                           user, release);
    completion->then.fn = fn;
    completion->then.user = user;
    completion->then.release = release;
    completion->then.dispatcher = dispatcher;
    if (dispatcher != NULL)
        cushim_priv_dispatcher_hold(dispatcher);
    atomic_store(&completion->then_state, THEN_SET);
    if (is_due(completion))
        deliver(completion);
    return CUDA_SUCCESS;
}

CUresult cushim_completion_then(struct cushim_completion *completion, struct cushim_dispatcher *dispatcher,
                                void (*fn)(CUresult status, void *user), void *user, void (*release)(void *user))
{
    static const char function[] = "cushim_completion_then";
    if (dispatcher == NULL)
        return refuse_then(
            cushim_report(CUDA_ERROR_INVALID_HANDLE, function, "The dispatcher is NULL, or was destroyed."), user,
            release);
    return set_then(function, completion, dispatcher, fn, user, release);
}

CUresult cushim_completion_then_at_once(struct cushim_completion *completion, void (*fn)(CUresult status, void *user),
                                        void *user, void (*release)(void *user))
{
    return set_then("cushim_completion_then_at_once", completion, NULL, fn, user, release);
}

/* ---- Giving up ---- */

void cushim_completion_detach(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    struct cushim_completion *detached = *completion;
    *completion = NULL;
    atomic_store(&detached->given_up, true);
    if (atomic_load(&detached->state) == COMPLETION_FIRED)
        learn(detached);
    cushim_priv_completion_drop(detached);
}

void cushim_completion_destroy(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    cushim_priv_completion_cancel(*completion);
    cushim_completion_detach(completion);
}
