/* SPDX-License-Identifier: MIT */
/* The operations, each in the file of its object. */
#ifndef RANDOM_OPERATIONS_H
#define RANDOM_OPERATIONS_H

#include "random.h"

#define OPERATION(name, weight, invalidates) void op_##name(void);
#include "operations.inc"
#undef OPERATION

/* A destroy function must be among the functions that are given to the library. */
typedef void (*release_fn)(void *user);

/* Returns expected_release(), or NULL one time in four, and notes this in the expectation. */
release_fn choose_release(struct expectation *expectation);

/* A body that is called for a stream. */
struct body {
    struct body_use use;
    unsigned observing;
    bool covers; /* the expectation covers its work */
    uint64_t seed;
    CUresult result; /* that it returns */
    bool ran;
    bool was_idle; /* at its end, with its stream there */
};

/* Draws a body for a call with this expectation, and closes it after the call. */
void body_open(struct body *body, struct stream_slot *slot, struct expectation *expectation, bool covers);
void body_close(struct body *body);

/* The body itself: some work, and operations, which may do anything to the stream. `user` is the expectation. */
CUresult body_of_work(struct cushim_stream *stream, void *user);

/* Ends a stream's object as its owner would, if that is allowed now; gives whether it is. */
bool stream_may_end(const struct stream_slot *slot);
void stream_emptied(struct stream_slot *slot);

#endif
