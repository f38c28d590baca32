/* SPDX-License-Identifier: MIT */
/* Completions: polling, waiting, detaching and destroying. */
#include "../stream/fail.h"
#include "completion_call.h"
#include "completion_object.h"

/* ---- Polling and waiting ---- */

static CUresult fail_forked(const char *function)
{
    return cushim_set_error(CUDA_ERROR_NOT_INITIALIZED, function, "The completion was made before a fork().");
}

/* Returns CUDA_ERROR_NOT_READY until the completion has fired; then writes its status to *out_status. */
static CUresult completion_check(const char *function, struct cushim_completion *completion, CUresult *out_status)
{
    if (completion == NULL)
        return fail_null_completion(function);
    if (atomic_load(&completion->state) != COMPLETION_FIRED)
        return completion->generation != cush_os_process_generation() ? fail_forked(function) : CUDA_ERROR_NOT_READY;
    /* Written before anything is released, because a release function may destroy the completion. */
    *out_status = (CUresult)atomic_load(&completion->status);
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
        return fail_null_completion(function);
    if (out_descriptor == NULL)
        return fail_null_output(function);
    if (atomic_load(&completion->state) != COMPLETION_FIRED && completion->generation != cush_os_process_generation())
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
        if (atomic_load(&completion->state) == COMPLETION_FIRED)
            cush_os_signal_set(signal);
    }
    *out_descriptor = cush_os_signal_descriptor(signal);
    return CUDA_SUCCESS;
}

uint64_t cushim_completion_count(const struct cushim_completion *completion)
{
    struct cushim_completion *counted = (struct cushim_completion *)completion;
    if (counted == NULL)
        return 0;
    return counted->captured ? atomic_load(&counted->count) : atomic_load(&counted->state) == COMPLETION_FIRED;
}

CUresult cushim_completion_reset(struct cushim_completion *completion)
{
    static const char function[] = "cushim_completion_reset";
    unsigned expected = COMPLETION_FIRED;
    if (completion == NULL)
        return fail_null_completion(function);
    if (!completion->captured)
        return cushim_set_error(CUDA_ERROR_NOT_SUPPORTED, function,
                                "The completion was not captured, so it fires only once.");
    /* The parent process uses the same descriptor. */
    if (completion->generation != cush_os_process_generation())
        return fail_forked(function);
    if (!atomic_compare_exchange_strong(&completion->state, &expected, COMPLETION_PENDING))
        return CUDA_SUCCESS;
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0) {
        cush_os_signal_clear(signal);
        /* The completion may have fired again in between. */
        if (atomic_load(&completion->state) == COMPLETION_FIRED)
            cush_os_signal_set(signal);
    }
    return CUDA_SUCCESS;
}

/* ---- Detaching and destroying ---- */

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
    /* The variable is set first, because it may be part of the memory that the release function frees. */
    *completion = NULL;
    cush_completion_cancel_callback(destroyed);
    completion_detach(destroyed);
}
