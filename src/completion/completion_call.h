/* SPDX-License-Identifier: MIT */
/* The state of a callback, and what is released with it: completion_call.c. */
#ifndef CUSHIM_COMPLETION_CALL_H
#define CUSHIM_COMPLETION_CALL_H

#include "completion_object.h"

/* Changes the state of the callback from `from` to `to`. Returns false if the state was not `from`. */
bool cush_completion_change_callback(struct cushim_completion *completion, unsigned from, unsigned to);

/* Returns whether there are firings for which the function was not called. */
bool cush_completion_is_callback_due(struct cushim_completion *completion);

/* Calls the function as often as it is due, and adds the number of calls to *count. Ends the callback if it will not be
 * called again. */
void cush_completion_run_callback(struct cushim_completion *completion, size_t *count);

/* Ends the callback without calling the function again. */
void cush_completion_cancel_callback(struct cushim_completion *completion);

/* Takes a completion that is in a set out of the set, without being noticed there. */
void cush_completion_leave_set(struct cushim_completion *completion);

/* Takes a fired completion out of its set; a captured completion stays in the set for its next firing. Returns false if
 * the completion has left the set before. */
bool cush_completion_take_from_set(struct cushim_completion *completion);

/* Releases what the work uses. Does nothing if a callback is still to be called: the release comes after it. Called by
 * every thread that observes that the completion has fired. */
void cush_completion_release_resources(struct cushim_completion *completion);

#endif
