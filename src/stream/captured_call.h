/* SPDX-License-Identifier: MIT */
/* A function of the host in a capture, whose user data lives as long as the graph and what was made of it. */
#ifndef CUSHIM_CAPTURED_CALL_H
#define CUSHIM_CAPTURED_CALL_H

#include "objects.h"

struct host_call {
    CUhostFn host;           /* either this */
    CUstreamCallback status; /* or this */
    void *user;
    void (*release)(void *user); /* or NULL */
};

/* Ends a call that will not be made, or was; returns `result`. */
static inline CUresult host_call_release(const struct host_call *call, CUresult result)
{
    if (call->release != NULL)
        call->release(call->user);
    return result;
}

/*
 * Launches a function of the host into a capture of `graph`. On success *out_call is the call, to be dropped; on
 * failure the call was released.
 */
CUresult cush_captured_call_launch(const char *function, CUstream stream, CUgraph graph, const struct host_call *call,
                                   struct captured_call **out_call);

void cush_captured_call_unref(struct captured_call *captured);

/* Holds a call and returns the address of its link to the next one in a list. */
struct captured_call **cush_captured_call_ref_next(struct captured_call *call);

/*
 * The capture is over. With `is_dead` no call will ever be made, and the driver may never destroy the user objects, so
 * the calls are released. Otherwise the user objects release them: an executable or a copy that was made of the graph
 * while the capture was open may still make the calls.
 */
void cush_captured_calls_end(struct captured_call *calls, bool is_dead);

#endif
