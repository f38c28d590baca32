/* SPDX-License-Identifier: MIT */
/* Checking one completion, for the functions that wait for one or many: completion.c. */
#ifndef CUSHIM_COMPLETION_WAIT_H
#define CUSHIM_COMPLETION_WAIT_H

#include "completion_object.h"

/* Returns CUDA_ERROR_NOT_READY until the completion has fired; then writes its status to *out_status, and releases what
 * the work used. */
CUresult cush_completion_check(const char *function, struct cushim_completion *completion, CUresult *out_status);

/* Waits until the completion has fired and does the same, or returns CUDA_ERROR_TIMEOUT. */
CUresult cush_completion_wait(const char *function, struct cushim_completion *completion, uint64_t deadline,
                              CUresult *out_status);

static inline CUresult fail_timeout(const char *function)
{
    return cushim_set_error(CUDA_ERROR_TIMEOUT, function, "The deadline has passed.");
}

#endif
