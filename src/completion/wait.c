/* SPDX-License-Identifier: MIT */
/*
 * Waiting for completions. A completion with an event is queried without a pause for the spin budget, then between
 * sleeps that grow with the time waited. Any other completion is waited for by a sleep on its state.
 */
#include "completion_internal.h"

static atomic_ullong spin_budget = 50000;

uint64_t cushim_completion_set_spin_ns(uint64_t nanoseconds)
{
    return atomic_exchange(&spin_budget, nanoseconds);
}

/* A sixteenth of the time waited, at most 100 us; in long waits, a 64th, at most 2 ms. */
static uint64_t nap_after(uint64_t waited)
{
    const uint64_t most = 100000, most_in_long_waits = 2000000;
    uint64_t nap = waited / 16 < most ? waited / 16 : most;
    uint64_t long_nap = waited / 64 < most_in_long_waits ? waited / 64 : most_in_long_waits;
    return nap > long_nap ? nap : long_nap;
}

/* Sleeps before the next query of a wait that began at `start`. */
static void sleep_between_queries(uint64_t start, uint64_t deadline)
{
    uint64_t now = cushim_clock_ns();
    uint64_t waited = now - start;
    if (waited < atomic_load_explicit(&spin_budget, memory_order_relaxed))
        return;
    uint64_t end = now + nap_after(waited);
    cush_os_sleep_until(end < deadline ? end : deadline);
}

static void sleep_until_fired(struct cushim_completion *completion, uint64_t deadline)
{
    unsigned state = atomic_fetch_or(&completion->state, STATE_WAITED) | STATE_WAITED;
    if ((state & STATE_FIRED) == 0)
        (void)cush_os_wait(&completion->state, state, deadline);
}

static CUresult completion_wait(const char *function, struct cushim_completion *completion, uint64_t start,
                                uint64_t deadline, CUresult *out_status)
{
    for (;;) {
        bool in_time = cushim_clock_ns() < deadline;
        CUresult result = cush_completion_check(function, completion, out_status);
        if (result != CUDA_ERROR_NOT_READY)
            return result;
        if (!in_time)
            return fail_timeout(function);
        if (completion->event.handle != NULL)
            sleep_between_queries(start, deadline);
        else
            sleep_until_fired(completion, deadline);
    }
}

CUresult cushim_completion_wait(struct cushim_completion *completion, uint64_t deadline, CUresult *out_status)
{
    return completion_wait("cushim_completion_wait", completion, cushim_clock_ns(), deadline, out_status);
}

/* Writes the index of the first completion that has fired. Returns CUDA_ERROR_NOT_READY if none has. */
static CUresult many_check(const char *function, struct cushim_completion *const *completions, size_t count,
                           size_t *out_index)
{
    bool is_empty = true;
    for (size_t i = 0; i < count; i++) {
        if (completions[i] == NULL)
            continue;
        is_empty = false;
        CUresult result = cush_completion_check(function, completions[i], NULL);
        if (result == CUDA_SUCCESS)
            *out_index = i;
        if (result != CUDA_ERROR_NOT_READY)
            return result;
    }
    return !is_empty ? CUDA_ERROR_NOT_READY
                     : cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The array contains no completion.");
}

CUresult cushim_completion_wait_any(struct cushim_completion *const *completions, size_t count, uint64_t deadline,
                                    size_t *out_index)
{
    static const char function[] = "cushim_completion_wait_any";
    if (completions == NULL)
        return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The array is NULL.");
    if (out_index == NULL)
        return fail_null_output(function);
    uint64_t start = cushim_clock_ns();
    for (;;) {
        bool in_time = cushim_clock_ns() < deadline;
        CUresult result = many_check(function, completions, count, out_index);
        if (result != CUDA_ERROR_NOT_READY)
            return result;
        if (!in_time)
            return fail_timeout(function);
        sleep_between_queries(start, deadline);
    }
}

CUresult cushim_completion_wait_all(struct cushim_completion *const *completions, size_t count, uint64_t deadline,
                                    CUresult *out_status)
{
    static const char function[] = "cushim_completion_wait_all";
    CUresult first = CUDA_SUCCESS;
    if (completions == NULL && count != 0)
        return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The array is NULL.");
    uint64_t start = cushim_clock_ns();
    for (size_t i = 0; i < count; i++) {
        CUresult status = CUDA_SUCCESS;
        if (completions[i] == NULL)
            continue;
        CUresult result = completion_wait(function, completions[i], start, deadline, &status);
        if (result != CUDA_SUCCESS)
            return result;
        if (first == CUDA_SUCCESS)
            first = status;
    }
    if (out_status != NULL)
        *out_status = first;
    return CUDA_SUCCESS;
}
