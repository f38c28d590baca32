/* SPDX-License-Identifier: MIT */
/* The operations, each in the file of its object. */
#ifndef RANDOM_OPERATIONS_H
#define RANDOM_OPERATIONS_H

#include "random.h"

#define OPERATION(name, weight, invalidates) void op_##name(void);
#include "operations.inc"
#undef OPERATION

/* A release function must be among the functions that are given to the library. */
typedef void (*release_fn)(void *user);

/* promise_release(), or NULL for one in four, which the promise then knows. */
release_fn choose_release(struct promise *promise);

/* How a body goes that is called for a stream. */
struct body {
    struct body_use use;
    unsigned observing;
    bool covers; /* its work is that of the promise */
    uint64_t seed;
    CUresult result; /* that it returns */
    bool ran;
    bool was_idle; /* at its end, with its stream there */
};

/* Draws one for a call with this promise, and closes it after the call. */
void body_open(struct body *body, struct stream_slot *slot, struct promise *promise, bool covers);
void body_close(struct body *body);

/* The body itself: some work, and operations, which may do anything to the stream. `user` is the promise. */
CUresult body_of_work(struct cushim_stream *stream, void *user);

/* Ends a stream's object as its owner would, if that is allowed now; gives whether it is. */
bool stream_may_end(const struct stream_slot *slot);
void stream_emptied(struct stream_slot *slot);

#endif
