/* SPDX-License-Identifier: MIT */
/* Polling the event of a completion: completion_poll.c. */
#ifndef CUSHIM_COMPLETION_POLL_H
#define CUSHIM_COMPLETION_POLL_H

#include "completion_object.h"

/* Fires a completion whose event is done or whose context is gone. Returns whether it has fired. */
bool cush_completion_poll(struct cushim_completion *completion);

/* Makes sure that a callback of the driver fires the completion. If the driver refuses every callback, waits for the
 * work. */
void cush_completion_engage_or_wait(struct cushim_completion *completion);

#endif
