/* SPDX-License-Identifier: MIT */
/* Checking one completion, for the functions that wait for one or many: completion.c. */
#ifndef CUSHIM_COMPLETION_WAIT_H
#define CUSHIM_COMPLETION_WAIT_H

#include "completion_object.h"

/* Returns CUDA_ERROR_NOT_READY until the completion has fired; then writes its status to *out_status, and releases what
 * the work used. */
CUresult cush_completion_check(const char *function, struct cushim_completion *completion, CUresult *out_status);

/* Waits until the completion has fired and does the same, or returns CUDA_ERROR_TIMEOUT. */
CUresult cush_completion_wait(const char *function, struct cushim_completion *completion, uint64_t spin_end,
                              uint64_t deadline, CUresult *out_status);

/* Until when a wait checks events without a pause. */
uint64_t cush_completion_spin_until(uint64_t deadline);

/* Until when a wait sleeps before it checks again. If no callback will wake it, it checks the event in turns. */
uint64_t cush_completion_sleep_until(bool engaged, uint64_t deadline);

/* Returns whether checking the completion again can find that it has fired. Otherwise only a callback fires it. */
static inline bool cush_completion_waits_for_event(const struct cushim_completion *completion)
{
    return atomic_load_explicit(&completion->by_event, memory_order_relaxed)
           && (atomic_load(&completion->state) & COMPLETION_ENGAGED) == 0;
}

static inline CUresult fail_timeout(const char *function)
{
    return cushim_set_error(CUDA_ERROR_TIMEOUT, function, "The deadline has passed.");
}

#endif
