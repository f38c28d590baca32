/* SPDX-License-Identifier: MIT */
/* Calls of host functions in streams, and such calls in a capture: captured_call.c. */
#ifndef CUSHIM_CAPTURED_CALL_H
#define CUSHIM_CAPTURED_CALL_H

#include "cushim/stream.h"

/* A host function or a status callback, with its user data. */
struct host_call {
    CUhostFn host;           /* NULL for a status callback */
    CUstreamCallback status; /* NULL for a host function */
    void *user;
    void (*release)(void *user); /* or NULL */
};

/* Releases the user data of a call that was made or will not be made. Returns `result`. */
static inline CUresult host_call_release(const struct host_call *call, CUresult result)
{
    if (call->release != NULL)
        call->release(call->user);
    return result;
}

/* A host function in a capture. Its user data lives as long as the graph and everything that was made from it. */
struct captured_call;

/*
 * Launches a host function into the capture whose graph is `graph`. On success the caller has a reference to *out_call;
 * on failure the user data was released.
 */
CUresult cush_captured_call_launch(const char *function, CUstream stream, CUgraph graph, const struct host_call *call,
                                   struct captured_call **out_call);

void cush_captured_call_unref(struct captured_call *call);

/* Takes a reference for a list, and returns the address of the call's link to the next call in that list. */
struct captured_call **cush_captured_call_ref_next(struct captured_call *call);

/*
 * Drops the calls of a capture that is over. With `has_sticky_error` no call will be made, and the driver may never
 * destroy the user objects, so the user data is released here. Otherwise the user objects release it: an executable
 * graph or a copy that was made while the capture was open may still make the calls.
 */
void cush_captured_calls_end(struct captured_call *calls, bool has_sticky_error);

#endif
