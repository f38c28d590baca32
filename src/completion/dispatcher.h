/* SPDX-License-Identifier: MIT */
/* Queueing callbacks: dispatcher.c. */
#ifndef CUSHIM_DISPATCHER_H
#define CUSHIM_DISPATCHER_H

#include "completion_object.h"

/* Adds a completion whose callback is due to the list of its dispatcher. */
void cush_dispatcher_push(struct cushim_dispatcher *dispatcher, struct cushim_completion *completion);

#endif
