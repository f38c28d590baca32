/* SPDX-License-Identifier: MIT */
/* Completions: firing, asking, waiting, giving up. Their functions are in completion_then.c. */
#include "completion_object.h"

/* ---- The object ---- */

CUresult cush_completion_new(const char *function, struct cushim_completion **out_completion)
{
    struct cushim_completion *completion = cush_completion_pool_get();
    if (completion == NULL)
        return fail_no_memory(function);
    /* Nobody else sees it yet: whoever hands it to another thread publishes it. */
    atomic_store_explicit(&completion->state, COMPLETION_PENDING, memory_order_relaxed);
    atomic_store_explicit(&completion->count, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->signal, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->release, NULL, memory_order_relaxed);
    atomic_store_explicit(&completion->callback_state, CALLBACK_NONE, memory_order_relaxed);
    atomic_store_explicit(&completion->pending_calls, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->queued, false, memory_order_relaxed);
    atomic_store_explicit(&completion->detached, false, memory_order_relaxed);
    atomic_store_explicit(&completion->references, 2, memory_order_relaxed);
    completion->callback.dispatcher = NULL;
    completion->captured = false;
    completion->generation = cush_os_process_generation();
    *out_completion = completion;
    return CUDA_SUCCESS;
}

void cush_completion_fire(struct cushim_completion *completion, CUresult status)
{
    atomic_store_explicit(&completion->status, status, memory_order_relaxed);
    if (completion->captured) {
        atomic_fetch_add_explicit(&completion->count, 1, memory_order_relaxed);
        atomic_fetch_add(&completion->pending_calls, 1);
    }
    if (atomic_exchange(&completion->state, COMPLETION_FIRED) == COMPLETION_WAITED)
        cush_os_wake(&completion->state);
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0)
        cush_os_signal_set(signal);
    cush_completion_dispatch(completion);
    if (atomic_load(&completion->detached))
        cush_completion_release_resources(completion);
}

/* ---- Asking and waiting ---- */

static CUresult fail_forked(const char *function)
{
    return cushim_set_error(CUDA_ERROR_NOT_INITIALIZED, function, "The completion was made before a fork().");
}

/* CUDA_ERROR_NOT_READY until it has fired; *out_status is then its status. */
static CUresult completion_check(const char *function, struct cushim_completion *completion, CUresult *out_status)
{
    if (completion == NULL)
        return fail_no_completion(function);
    if (atomic_load(&completion->state) != COMPLETION_FIRED)
        return completion->generation != cush_os_process_generation() ? fail_forked(function) : CUDA_ERROR_NOT_READY;
    /* Before anything is released: that may give the completion up, and free the place of the status. */
    *out_status = (CUresult)atomic_load(&completion->status);
    cush_completion_release_resources(completion);
    return CUDA_SUCCESS;
}

/* The status of the work, which for cushim_last_error() is a failure of the question. */
static CUresult completion_result(const char *function, CUresult status)
{
    return status == CUDA_SUCCESS ? CUDA_SUCCESS : cushim_set_error(status, function, NULL);
}

CUresult cushim_completion_poll(struct cushim_completion *completion)
{
    static const char function[] = "cushim_completion_poll";
    CUresult status = CUDA_SUCCESS;
    CUresult result = completion_check(function, completion, &status);
    return result != CUDA_SUCCESS ? result : completion_result(function, status);
}

CUresult cushim_completion_status(struct cushim_completion *completion, CUresult *out_status)
{
    if (out_status == NULL)
        return fail_null_output("cushim_completion_status");
    return completion_check("cushim_completion_status", completion, out_status);
}

CUresult cushim_completion_wait(struct cushim_completion *completion, uint64_t deadline)
{
    static const char function[] = "cushim_completion_wait";
    CUresult status = CUDA_SUCCESS;
    CUresult result = completion_check(function, completion, &status);
    bool in_time = true;
    while (result == CUDA_ERROR_NOT_READY && in_time) {
        unsigned expected = COMPLETION_PENDING;
        if (atomic_compare_exchange_strong(&completion->state, &expected, COMPLETION_WAITED)
            || expected == COMPLETION_WAITED)
            in_time = cush_os_wait(&completion->state, COMPLETION_WAITED, deadline);
        result = completion_check(function, completion, &status);
    }
    if (result == CUDA_ERROR_NOT_READY)
        return cushim_set_error(CUDA_ERROR_TIMEOUT, function, "The deadline has passed.");
    return result != CUDA_SUCCESS ? result : completion_result(function, status);
}

CUresult cushim_completion_descriptor(struct cushim_completion *completion, cushim_descriptor *out_descriptor)
{
    static const char function[] = "cushim_completion_descriptor";
    if (completion == NULL)
        return fail_no_completion(function);
    if (out_descriptor == NULL)
        return fail_null_output(function);
    if (atomic_load(&completion->state) != COMPLETION_FIRED && completion->generation != cush_os_process_generation())
        return fail_forked(function);
    os_signal signal = atomic_load(&completion->signal);
    if (signal == 0) {
        os_signal fresh = cush_os_signal_open();
        if (fresh == 0)
            return cushim_set_error(CUDA_ERROR_OPERATING_SYSTEM, function, "The system gives no more descriptors.");
        if (atomic_compare_exchange_strong(&completion->signal, &signal, fresh))
            signal = fresh;
        else
            cush_os_signal_close(fresh);
        if (atomic_load(&completion->state) == COMPLETION_FIRED)
            cush_os_signal_set(signal);
    }
    *out_descriptor = cush_os_signal_descriptor(signal);
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
        return fail_no_completion(function);
    if (!completion->captured)
        return cushim_set_error(CUDA_ERROR_NOT_SUPPORTED, function,
                                "The completion was not captured: it fires once only.");
    /* The descriptor is the parent's too. */
    if (completion->generation != cush_os_process_generation())
        return fail_forked(function);
    if (!atomic_compare_exchange_strong(&completion->state, &expected, COMPLETION_PENDING))
        return CUDA_SUCCESS;
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0) {
        cush_os_signal_clear(signal);
        /* It may have fired again in between. */
        if (atomic_load(&completion->state) == COMPLETION_FIRED)
            cush_os_signal_set(signal);
    }
    return CUDA_SUCCESS;
}

/* ---- Giving up ---- */

static void completion_detach(struct cushim_completion *completion)
{
    atomic_store(&completion->detached, true);
    if (atomic_load(&completion->state) == COMPLETION_FIRED)
        cush_completion_release_resources(completion);
    cush_completion_unref(completion);
}

void cushim_completion_detach(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    struct cushim_completion *detached = *completion;
    *completion = NULL;
    completion_detach(detached);
}

void cushim_completion_destroy(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    struct cushim_completion *destroyed = *completion;
    /* The variable first: it may be part of what the function's release frees. */
    *completion = NULL;
    cush_completion_cancel_callback(destroyed);
    completion_detach(destroyed);
}
