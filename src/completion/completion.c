/* SPDX-License-Identifier: MIT */
/* Completions: polling, waiting, detaching and destroying. */
#include "../stream/fail.h"
#include "completion_call.h"
#include "completion_engage.h"
#include "completion_poll.h"
#include "completion_object.h"
#include "completion_wait.h"

static CUresult fail_forked(const char *function)
{
    return cushim_set_error(CUDA_ERROR_NOT_INITIALIZED, function, "The completion was made before a fork().");
}

CUresult cush_completion_check(const char *function, struct cushim_completion *completion, CUresult *out_status)
{
    if (completion == NULL)
        return fail_null_completion(function);
    if (!cush_completion_poll(completion))
        return completion->generation != cush_os_process_generation() ? fail_forked(function) : CUDA_ERROR_NOT_READY;
    /* Written before anything is released, because a release function may destroy the completion. */
    *out_status = cush_completion_result(completion);
    cush_completion_release_resources(completion);
    return CUDA_SUCCESS;
}

/* Returns the status of the work. cushim_last_error() reports it as an error of `function`. */
static CUresult completion_result(const char *function, CUresult status)
{
    return status == CUDA_SUCCESS ? CUDA_SUCCESS : cushim_set_error(status, function, NULL);
}

CUresult cushim_completion_poll(struct cushim_completion *completion)
{
    static const char function[] = "cushim_completion_poll";
    CUresult status = CUDA_SUCCESS;
    CUresult result = cush_completion_check(function, completion, &status);
    return result != CUDA_SUCCESS ? result : completion_result(function, status);
}

CUresult cushim_completion_status(struct cushim_completion *completion, CUresult *out_status)
{
    if (out_status == NULL)
        return fail_null_output("cushim_completion_status");
    return cush_completion_check("cushim_completion_status", completion, out_status);
}

static atomic_ullong spin_budget = 50000;

uint64_t cushim_set_spin_budget_ns(uint64_t nanoseconds)
{
    return atomic_exchange(&spin_budget, nanoseconds);
}

uint64_t cush_completion_spin_until(uint64_t deadline)
{
    uint64_t budget = atomic_load_explicit(&spin_budget, memory_order_relaxed);
    uint64_t now = cushim_time_ns();
    return deadline > now && deadline - now > budget ? now + budget : deadline;
}

uint64_t cush_completion_sleep_until(bool engaged, uint64_t deadline)
{
    const uint64_t turn = 500000;
    uint64_t end = engaged ? deadline : cushim_time_ns() + turn;
    return end < deadline ? end : deadline;
}

/* Checks an event often, for a short time. */
static CUresult completion_spin(const char *function, struct cushim_completion *completion, uint64_t end,
                                CUresult *out_status)
{
    CUresult result = cush_completion_check(function, completion, out_status);
    while (result == CUDA_ERROR_NOT_READY && cush_completion_waits_for_event(completion) && cushim_time_ns() < end)
        result = cush_completion_check(function, completion, out_status);
    return result;
}

CUresult cush_completion_wait(const char *function, struct cushim_completion *completion, uint64_t spin_end,
                              uint64_t deadline, CUresult *out_status)
{
    if (completion == NULL)
        return fail_null_completion(function);
    CUresult result = completion_spin(function, completion, spin_end, out_status);
    while (result == CUDA_ERROR_NOT_READY && cushim_time_ns() < deadline) {
        bool engaged = cush_completion_engage(completion, ENGAGE_PROMPTLY) == CUDA_SUCCESS;
        unsigned state = atomic_fetch_or(&completion->state, COMPLETION_WAITED) | COMPLETION_WAITED;
        if ((state & COMPLETION_FIRED) == 0)
            (void)cush_os_wait(&completion->state, state, cush_completion_sleep_until(engaged, deadline));
        result = cush_completion_check(function, completion, out_status);
    }
    return result == CUDA_ERROR_NOT_READY ? fail_timeout(function) : result;
}

CUresult cushim_completion_wait(struct cushim_completion *completion, uint64_t deadline)
{
    static const char function[] = "cushim_completion_wait";
    CUresult status = CUDA_SUCCESS;
    CUresult result =
        cush_completion_wait(function, completion, cush_completion_spin_until(deadline), deadline, &status);
    return result != CUDA_SUCCESS ? result : completion_result(function, status);
}

CUresult cushim_completion_descriptor(struct cushim_completion *completion, cushim_descriptor *out_descriptor)
{
    static const char function[] = "cushim_completion_descriptor";
    if (completion == NULL)
        return fail_null_completion(function);
    if (out_descriptor == NULL)
        return fail_null_output(function);
    if (!cush_completion_poll(completion) && completion->generation != cush_os_process_generation())
        return fail_forked(function);
    os_signal signal = atomic_load(&completion->signal);
    if (signal == 0) {
        os_signal fresh = cush_os_signal_open();
        if (fresh == 0)
            return cushim_set_error(CUDA_ERROR_OPERATING_SYSTEM, function,
                                    "The operating system provides no more descriptors.");
        if (atomic_compare_exchange_strong(&completion->signal, &signal, fresh))
            signal = fresh;
        else
            cush_os_signal_close(fresh);
        cush_completion_engage_or_wait(completion);
        if (cush_completion_has_fired(completion))
            cush_os_signal_set(signal);
    }
    *out_descriptor = cush_os_signal_descriptor(signal);
    return CUDA_SUCCESS;
}

uint64_t cushim_completion_count(struct cushim_completion *completion)
{
    if (completion == NULL)
        return 0;
    return completion->captured ? atomic_load(&completion->of.count) : cush_completion_poll(completion);
}

CUresult cushim_completion_reset(struct cushim_completion *completion)
{
    static const char function[] = "cushim_completion_reset";
    if (completion == NULL)
        return fail_null_completion(function);
    if (!completion->captured)
        return cushim_set_error(CUDA_ERROR_NOT_SUPPORTED, function,
                                "The completion was not captured, so it fires only once.");
    /* The parent process uses the same descriptor. */
    if (completion->generation != cush_os_process_generation())
        return fail_forked(function);
    if ((atomic_fetch_and(&completion->state, ~(unsigned)COMPLETION_FIRED) & COMPLETION_FIRED) == 0)
        return CUDA_SUCCESS;
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0) {
        cush_os_signal_clear(signal);
        /* The completion may have fired again in between. */
        if (cush_completion_has_fired(completion))
            cush_os_signal_set(signal);
    }
    return CUDA_SUCCESS;
}

/* Whether the work may still use what will be released, and nobody but the program has a reference. */
static bool completion_needs_callback(struct cushim_completion *completion)
{
    return atomic_load(&completion->by_event) && atomic_load(&completion->release) != NULL
           && !cush_completion_poll(completion);
}

static void completion_detach(struct cushim_completion *completion)
{
    if (!cush_completion_has_fired(completion)) {
        atomic_store(&completion->detached, true);
        if (completion_needs_callback(completion)) {
            /* In the child of a fork() the release never happens. */
            if (completion->generation != cush_os_process_generation())
                return;
            cush_completion_engage_or_wait(completion);
        }
    }
    if (cush_completion_has_fired(completion))
        cush_completion_release_resources(completion);
    cush_completion_unref(completion);
}

void cushim_completion_detach(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    struct cushim_completion *detached = *completion;
    *completion = NULL;
    cush_completion_leave_set(detached);
    completion_detach(detached);
}

void cushim_completion_destroy(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    struct cushim_completion *destroyed = *completion;
    /* The variable is set first, because it may be part of the memory that the release function frees. */
    *completion = NULL;
    cush_completion_cancel_callback(destroyed);
    completion_detach(destroyed);
}
