/* SPDX-License-Identifier: MIT */
/*
 * Functions that the tests of the stream layer share. They use the framework of tests/conformance: each check gives
 * answers. Here every answer has an expected value, so that a run is a test, and its answers can be compared with those
 * of another run, with a version limit or on another driver.
 */
#ifndef STREAM_SUPPORT_H
#define STREAM_SUPPORT_H

#include <stdatomic.h>

#include "cushim/cushim.h"
#include "fixture.h"
#include "kernels.h"
#include "watch.h"

/* Checks an error that the layer itself returns: its code, and that cushim_last_error() has the code, the function and
 * a message. */
void refused(const char *key, CUresult result, CUresult expected, const char *function);

/* Checks an error of the driver that the layer passes on: cushim_last_error() has the driver function and a message. */
void passed_on(const char *key, CUresult result, CUresult expected);

/* Checks that a call succeeded. Returns whether it did. */
bool done(const char *key, CUresult result);

/* Wraps the context of the fixture. It is borrowed, so that destroying the object makes no driver call. */
struct cushim_context *context_new(void);

/* Creates a non-blocking stream in such a context, to which it has the only reference. On failure reports it and
 * returns NULL. */
struct cushim_stream *layer_stream(void);
/* Waits for the work of the stream and destroys it. */
void layer_stream_end(struct cushim_stream *stream);

/* Checks which context is current. */
void rule_current(const char *key, CUcontext expected);

/* Returns the status of the stream's capture: "none", "active" or "invalidated". */
const char *layer_status(struct cushim_stream *stream);
/* Checks the status of the stream's capture. */
void rule_status(const char *key, struct cushim_stream *stream, const char *expected);

/* A body that enqueues one host function. The function counts in the atomic_int `user`, unless that is NULL. */
CUresult body_adds_work(struct cushim_stream *stream, void *user);

/* Returns the number of nodes of a graph; -1 if the driver does not report it. */
int node_count(CUgraph graph);

/* A release function that counts in the atomic_int `user`. */
void count_release(void *user);

/* Makes the `turn`th allocation of this thread from now on fail (0: the next one), and no other. */
void allocation_fail(int turn);
/* Returns whether that allocation has failed, and cancels the failure if not. */
bool allocation_failed(void);
/* Returns the number of blocks that this program and the layer have allocated. */
long allocation_count(void);

/* The names of the three capture modes, by number, and the mode that every driver with captures has. */
extern const char *const mode_names[3];
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

#endif
