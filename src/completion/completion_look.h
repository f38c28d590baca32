/* SPDX-License-Identifier: MIT */
/* Looking whether a completion has fired: completion_look.c. */
#ifndef CUSHIM_COMPLETION_LOOK_H
#define CUSHIM_COMPLETION_LOOK_H

#include "completion_object.h"

/* Fires a completion whose event is done or whose context is gone. Returns whether it has fired. */
bool cush_completion_look(struct cushim_completion *completion);

/* Makes sure that a callback of the driver fires the completion. If the driver refuses every callback, waits for the
 * work. */
void cush_completion_engage_surely(struct cushim_completion *completion);

#endif
