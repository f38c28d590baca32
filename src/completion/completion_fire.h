/* SPDX-License-Identifier: MIT */
/* Firing completions: completion_fire.c. */
#ifndef CUSHIM_COMPLETION_FIRE_H
#define CUSHIM_COMPLETION_FIRE_H

#include "completion_object.h"

/* Counts the firings of completions that have COMPLETION_WATCHED set. The threads that wait for any of several sleep on
 * it. */
extern atomic_uint cush_completion_watched_firings;

/* Fires a completion; does nothing if one that fires only once has fired. Keeps the reference of the caller. */
void cush_completion_fire(struct cushim_completion *completion, CUresult status);

/* Does the same for a thread of the program that has found the event done; does nothing if it is engaged. */
void cush_completion_fire_polled(struct cushim_completion *completion, CUresult status);

/* Fires a completion and drops the driver's reference: the callback of the driver. */
void CUDA_CB cush_completion_on_work_done(CUstream stream, CUresult status, void *user);

/* Calls an inline callback that is due, or passes the completion to the dispatcher of its callback. */
void cush_completion_dispatch(struct cushim_completion *completion);

#endif
