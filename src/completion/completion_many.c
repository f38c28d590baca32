/* SPDX-License-Identifier: MIT */
/* Waiting for any or all of several completions. */
#include "../stream/fail.h"
#include "completion_fire.h"
#include "completion_wait.h"

/* Checks one completion, and watches it if it has not fired: its firing then changes the word on which the caller
 * sleeps. */
static CUresult completion_check_or_watch(const char *function, struct cushim_completion *completion)
{
    CUresult status;
    CUresult result = cush_completion_check(function, completion, &status);
    if (result == CUDA_ERROR_NOT_READY
        && (atomic_fetch_or(&completion->state, COMPLETION_WATCHED) & COMPLETION_FIRED) != 0)
        result = cush_completion_check(function, completion, &status);
    return result;
}

/* Returns CUDA_ERROR_NOT_READY if none of the completions has fired, and CUDA_SUCCESS if one has. */
static CUresult many_check(const char *function, struct cushim_completion *const *completions, size_t count,
                           size_t *out_index)
{
    bool is_empty = true;
    for (size_t i = 0; i < count; i++) {
        if (completions[i] == NULL)
            continue;
        is_empty = false;
        CUresult result = completion_check_or_watch(function, completions[i]);
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
    for (bool in_time = true;;) {
        unsigned seen = atomic_load(&cush_completion_watched_firings);
        CUresult result = many_check(function, completions, count, out_index);
        if (result != CUDA_ERROR_NOT_READY)
            return result;
        if (!in_time)
            return fail_timeout(function);
        in_time = cush_os_wait(&cush_completion_watched_firings, seen, deadline);
    }
}

CUresult cushim_completion_wait_all(struct cushim_completion *const *completions, size_t count, uint64_t deadline)
{
    static const char function[] = "cushim_completion_wait_all";
    CUresult first = CUDA_SUCCESS;
    if (completions == NULL && count != 0)
        return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The array is NULL.");
    for (size_t i = 0; i < count; i++) {
        CUresult status = CUDA_SUCCESS;
        if (completions[i] == NULL)
            continue;
        CUresult result = cush_completion_wait(function, completions[i], deadline, &status);
        if (result != CUDA_SUCCESS)
            return result;
        if (first == CUDA_SUCCESS)
            first = status;
    }
    return first == CUDA_SUCCESS ? first : cushim_set_error(first, function, NULL);
}
