/* SPDX-License-Identifier: MIT */
/* Firing completions: completion_fire.c. */
#ifndef CUSHIM_COMPLETION_FIRE_H
#define CUSHIM_COMPLETION_FIRE_H

#include "completion_object.h"

/* Counts the firings of completions that have COMPLETION_WATCHED set. The threads that wait for any of several sleep on
 * it. */
extern atomic_uint cush_completion_watched_firings;

/* Fires a completion. A thread of the driver calls this when the GPU is done. Keeps the driver's reference. */
void cush_completion_fire(struct cushim_completion *completion, CUresult status);

/* Calls an inline callback that is due, or passes the completion to the dispatcher of its callback. */
void cush_completion_dispatch(struct cushim_completion *completion);

#endif
