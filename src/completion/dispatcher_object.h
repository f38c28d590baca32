/* SPDX-License-Identifier: MIT */
/* The dispatcher object: dispatcher_object.c. */
#ifndef CUSHIM_DISPATCHER_OBJECT_H
#define CUSHIM_DISPATCHER_OBJECT_H

#include <stdatomic.h>

#include "cushim/completion.h"
#include "os_wait.h"

struct cushim_dispatcher {
    atomic_uint references; /* the program, and each completion with a callback for this dispatcher */
    atomic_uint head;       /* index + 1 of the completion that was pushed last; 0: the list is empty */
    atomic_uint changes;    /* of the list, and of the list of fired completions of a set; a word to wait for */
    atomic_uint waiters;    /* threads that wait for changes */
    atomic_bool closed;
    unsigned generation; /* of the process: the child of a fork() has another one, but the same descriptor */
    os_signal signal;
};

void cush_dispatcher_ref(struct cushim_dispatcher *dispatcher);
void cush_dispatcher_unref(struct cushim_dispatcher *dispatcher);

/* Returns whether the program has destroyed the dispatcher. */
bool cush_dispatcher_is_closed(struct cushim_dispatcher *dispatcher);

#endif
