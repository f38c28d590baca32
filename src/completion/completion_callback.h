/* SPDX-License-Identifier: MIT */
/* Setting the callback of a completion: completion_callback.c. */
#ifndef CUSHIM_COMPLETION_CALLBACK_H
#define CUSHIM_COMPLETION_CALLBACK_H

#include "completion_object.h"

/* Sets the callback for a completion that has none. With fn NULL, puts the completion into the set that the dispatcher
 * belongs to. */
CUresult cush_completion_set_callback(const char *function, struct cushim_completion *completion,
                                      struct cushim_dispatcher *dispatcher, void (*fn)(CUresult status, void *user),
                                      void *user, void (*release)(void *user));

#endif
