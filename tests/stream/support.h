/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the stream layer share. The frame is that of tests/conformance: checks give answers, here all with
 * a rule, so a run both tests and can be compared with another one, limited or on another driver.
 */
#ifndef STREAM_SUPPORT_H
#define STREAM_SUPPORT_H

#include <stdatomic.h>

#include "cushim/cushim.h"
#include "fixture.h"
#include "kernels.h"
#include "watch.h"

/* A refusal of the layer's own: the code, and cushim_last_error() has that, the function and a sentence. */
void refused(const char *key, CUresult result, CUresult expected, const char *function);

/* The same for a code of the driver's: its function and words are in cushim_last_error(). */
void passed_on(const char *key, CUresult result, CUresult expected);

/* rule() for what must succeed. Returns whether it did. */
bool done(const char *key, CUresult result);

/* The fixture's context as an object of the layer; borrowed, so that destroying it makes no call. */
struct cushim_context *context_new(void);

/* A non-blocking stream in such a context, which it holds alone. NULL on failure, which is then said. */
struct cushim_stream *layer_stream(void);
/* Waits for its work and ends it. */
void layer_stream_end(struct cushim_stream *stream);

/* Says that the current context is the one that it should be. */
void rule_current(const char *key, CUcontext expected);

/* The state of the stream's capture: none, active, invalidated. */
const char *layer_status(struct cushim_stream *stream);
/* It has to be `expected`. */
void rule_status(const char *key, struct cushim_stream *stream, const char *expected);

/* One node, or work for a stream that captures nothing. As a body: `user` is an atomic_int that is counted, or NULL. */
CUresult body_adds_work(struct cushim_stream *stream, void *user);

/* The nodes of a graph; -1 where they cannot be told. */
int node_count(CUgraph graph);

/* Counts in the atomic_int that it is given: a release function. */
void count_release(void *user);

/* ---- Memory of the host: the `turn`th allocation from now (0: the next) of this thread fails ---- */
void allocation_fail(int turn);
/* Whether it did. No other will. */
bool allocation_failed(void);
/* Blocks that this program and the layer hold. */
long allocation_count(void);

/* Of the three modes, by number; and the one that every driver with captures has. */
extern const char *const mode_names[3];
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

#endif
