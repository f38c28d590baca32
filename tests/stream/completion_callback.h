/* SPDX-License-Identifier: MIT */
/* Functions that the tests of callbacks share. */
#ifndef STREAM_COMPLETION_CALLBACK_H
#define STREAM_COMPLETION_CALLBACK_H

#include "completion.h"

/* The calls and releases of one callback. */
struct note {
    atomic_int calls;
    atomic_int releases;
    atomic_int status;
    atomic_int released_at; /* the number of calls at the first release */
    pthread_t thread;
};

/* A callback and a destroy function that write to the struct note `user`. */
void take_note(CUresult status, void *user);
void release_note(void *user);

/* Checks how often the callback was called and released. */
void expect_note(const char *key, struct note *note, int calls, int releases);

struct cushim_dispatcher *dispatcher_new(void);

/* Runs the dispatcher once. Returns the number of callbacks. */
size_t dispatcher_run(struct cushim_dispatcher *dispatcher);

/* Runs the dispatcher until a callback is due: the completion fires a moment earlier. */
size_t dispatcher_run_something(struct cushim_dispatcher *dispatcher);

#endif
