/* SPDX-License-Identifier: MIT */
/* Completions: firing, asking, waiting, giving up. Their functions are in completion_then.c. */
#include "completion_object.h"

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
    completion->then.dispatcher = NULL;
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
    cushim_priv_completion_learn(completion);
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0)
        cushim_priv_os_signal_close(signal);
    if (completion->then.dispatcher != NULL)
        cushim_priv_dispatcher_drop(completion->then.dispatcher);
    cushim_priv_completion_put(completion);
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
    cushim_priv_completion_deliver(completion);
    if (atomic_load(&completion->given_up))
        cushim_priv_completion_learn(completion);
}

/* ---- Asking and waiting ---- */

static CUresult forked(const char *function)
{
    return cushim_report(CUDA_ERROR_NOT_INITIALIZED, function, "The completion was made before a fork().");
}

/* CUDA_ERROR_NOT_READY until it has fired; *ret_status is then its status. */
static CUresult look(const char *function, struct cushim_completion *completion, CUresult *ret_status)
{
    if (completion == NULL)
        return no_completion(function);
    if (atomic_load(&completion->state) != COMPLETION_FIRED)
        return completion->generation != cushim_priv_os_generation() ? forked(function) : CUDA_ERROR_NOT_READY;
    /* Before anything is released: that may give the completion up, and free the place of the status. */
    *ret_status = (CUresult)atomic_load(&completion->status);
    cushim_priv_completion_learn(completion);
    return CUDA_SUCCESS;
}

/* The status of the work, which for cushim_last_error() is a failure of the question. */
static CUresult tell(const char *function, CUresult status)
{
    return status == CUDA_SUCCESS ? CUDA_SUCCESS : cushim_report(status, function, NULL);
}

CUresult cushim_completion_poll(struct cushim_completion *completion)
{
    static const char function[] = "cushim_completion_poll";
    CUresult status = CUDA_SUCCESS;
    CUresult result = look(function, completion, &status);
    return result != CUDA_SUCCESS ? result : tell(function, status);
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
    return result != CUDA_SUCCESS ? result : tell(function, status);
}

CUresult cushim_completion_descriptor(struct cushim_completion *completion, cushim_descriptor *ret_descriptor)
{
    static const char function[] = "cushim_completion_descriptor";
    if (completion == NULL)
        return no_completion(function);
    if (ret_descriptor == NULL)
        return no_place(function);
    if (atomic_load(&completion->state) != COMPLETION_FIRED && completion->generation != cushim_priv_os_generation())
        return forked(function);
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
    /* The descriptor is the parent's too. */
    if (completion->generation != cushim_priv_os_generation())
        return forked(function);
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

/* ---- Giving up ---- */

static void give_up(struct cushim_completion *completion)
{
    atomic_store(&completion->given_up, true);
    if (atomic_load(&completion->state) == COMPLETION_FIRED)
        cushim_priv_completion_learn(completion);
    cushim_priv_completion_drop(completion);
}

void cushim_completion_detach(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    struct cushim_completion *detached = *completion;
    *completion = NULL;
    give_up(detached);
}

void cushim_completion_destroy(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    struct cushim_completion *destroyed = *completion;
    /* The variable first: it may be part of what the function's release frees. */
    *completion = NULL;
    cushim_priv_completion_cancel(destroyed);
    give_up(destroyed);
}
