/* SPDX-License-Identifier: MIT */
/* Waiting for any or all of several completions. */
#include "../stream/fail.h"
#include "completion_engage.h"
#include "completion_fire.h"
#include "completion_wait.h"

/* A pass over the array. */
struct pass {
    bool watch;     /* the firing of each completion changes the word on which the caller sleeps */
    bool has_event; /* written by the pass: checking again can find one that has fired */
};

static CUresult completion_check_or_watch(const char *function, struct cushim_completion *completion, struct pass *pass)
{
    CUresult status;
    CUresult result = cush_completion_check(function, completion, &status);
    if (result != CUDA_ERROR_NOT_READY)
        return result;
    if (pass->watch) {
        (void)cush_completion_engage(completion, ENGAGE_PROMPTLY);
        if ((atomic_fetch_or(&completion->state, COMPLETION_WATCHED) & COMPLETION_FIRED) != 0)
            result = cush_completion_check(function, completion, &status);
    }
    pass->has_event |= cush_completion_waits_for_event(completion);
    return result;
}

/* Returns CUDA_ERROR_NOT_READY if none of the completions has fired, and CUDA_SUCCESS if one has. */
static CUresult many_check(const char *function, struct cushim_completion *const *completions, size_t count,
                           struct pass *pass, size_t *out_index)
{
    bool is_empty = true;
    for (size_t i = 0; i < count; i++) {
        if (completions[i] == NULL)
            continue;
        is_empty = false;
        CUresult result = completion_check_or_watch(function, completions[i], pass);
        if (result == CUDA_ERROR_NOT_READY)
            continue;
        if (result == CUDA_SUCCESS)
            *out_index = i;
        return result;
    }
    return !is_empty ? CUDA_ERROR_NOT_READY
                     : cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The array contains no completion.");
}

CUresult cushim_completion_wait_any(struct cushim_completion *const *completions, size_t count, uint64_t deadline,
                                    size_t *out_index)
{
    static const char function[] = "cushim_completion_wait_any";
    if (completions == NULL)
        return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The array is NULL.");
    if (out_index == NULL)
        return fail_null_output(function);
    struct pass pass = {.watch = false, .has_event = true};
    uint64_t spin_end = cush_completion_spin_until(deadline);
    for (;;) {
        uint64_t now = cushim_time_ns();
        bool in_time = now < deadline;
        pass.watch = in_time && (pass.watch || !pass.has_event || now >= spin_end);
        pass.has_event = false;
        unsigned seen = atomic_load(&cush_completion_watched_firings);
        CUresult result = many_check(function, completions, count, &pass, out_index);
        if (result != CUDA_ERROR_NOT_READY)
            return result;
        if (!in_time)
            return fail_timeout(function);
        if (pass.watch)
            (void)cush_os_wait(&cush_completion_watched_firings, seen,
                               cush_completion_sleep_until(!pass.has_event, deadline));
    }
}

CUresult cushim_completion_wait_all(struct cushim_completion *const *completions, size_t count, uint64_t deadline)
{
    static const char function[] = "cushim_completion_wait_all";
    CUresult first = CUDA_SUCCESS;
    if (completions == NULL && count != 0)
        return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The array is NULL.");
    uint64_t spin_end = cush_completion_spin_until(deadline);
    for (size_t i = 0; i < count; i++) {
        CUresult status = CUDA_SUCCESS;
        if (completions[i] == NULL)
            continue;
        CUresult result = cush_completion_wait(function, completions[i], spin_end, deadline, &status);
        if (result != CUDA_SUCCESS)
            return result;
        if (first == CUDA_SUCCESS)
            first = status;
    }
    return first == CUDA_SUCCESS ? first : cushim_set_error(first, function, NULL);
}
