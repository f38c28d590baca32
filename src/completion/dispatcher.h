/* SPDX-License-Identifier: MIT */
/* Queueing callbacks: dispatcher.c. */
#ifndef CUSHIM_DISPATCHER_H
#define CUSHIM_DISPATCHER_H

#include "completion_object.h"
#include "dispatcher_object.h"

/* Adds a completion whose callback is due to the list of its dispatcher. */
void cush_dispatcher_push(struct cushim_dispatcher *dispatcher, struct cushim_completion *completion);

/* Takes the whole list. Returns index + 1 of the oldest completion, from which `next` leads to newer ones, and writes
 * index + 1 of the newest; 0: the list was empty. */
unsigned cush_dispatcher_take_all(struct cushim_dispatcher *dispatcher, unsigned *out_newest);

/* Wakes the threads that wait for a change. */
void cush_dispatcher_wake(struct cushim_dispatcher *dispatcher);

#endif
