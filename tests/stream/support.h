/* SPDX-License-Identifier: MIT */
/*
 * Functions that the tests of the stream layer share. They use the framework of tests/conformance: each check gives
 * answers. Here every answer has an expected value, so that a run is a test, and its answers can be compared with those
 * of another run, with a version limit or on another driver.
 */
#ifndef STREAM_SUPPORT_H
#define STREAM_SUPPORT_H

#include <stdatomic.h>

#include "allocation.h"
#include "cushim/cushim.h"
#include "fixture.h"
#include "kernels.h"
#include "watch.h"

/* Checks an error that the layer itself returns: expect_error(key, call, expected). cushim_error_last() must have this
 * code, the called function (or the one in a fourth argument) and a message. */
#define expect_error(key, call, ...) expect_error_of(key, #call, call, __VA_ARGS__, NULL)
void expect_error_of(const char *key, const char *call, CUresult result, CUresult expected, const char *function, ...);

/* Checks an error of the driver that the layer passes on: cushim_error_last() has the driver function and a message. */
void expect_driver_error(const char *key, CUresult result, CUresult expected);

/* Checks that a call succeeded. Returns whether it did. */
bool expect_success(const char *key, CUresult result);

/* Each of these functions reports a failure. */

/* Wraps the context of the fixture. It is borrowed, so that destroying the object makes no driver call. */
struct cushim_context *context_new(void);
/* Creates a non-blocking stream in such a context, to which it has the only reference. */
struct cushim_stream *test_stream_new(void);
/* Waits for the work of the stream and destroys it. */
void test_stream_close(struct cushim_stream *stream);
/* The same objects, which are destroyed after the check. */
struct cushim_context *fixture_context(void);
struct cushim_stream *fixture_stream(void);
struct cushim_stream *fixture_borrowed(CUstream handle);
struct cushim_event *fixture_event(unsigned flags);

struct cushim_graph *test_graph_new(void);
struct cushim_capture *test_capture_begin(struct cushim_stream *stream, CUstreamCaptureMode mode);
/* Checks that the capture is active, and that it ends with success. */
void expect_capture_ends(struct cushim_stream *stream, struct cushim_capture **capture);

/* The state of a slot of the legacy table, which the stream layer uses. */
bool is_native(enum cushim_slot slot);
bool is_missing(enum cushim_slot slot);

/* Checks which context is current. */
void expect_current(const char *key, CUcontext expected);

/* Returns the status of the stream's capture: "none", "active" or "invalidated". */
const char *test_stream_status(struct cushim_stream *stream);
/* Checks the status of the stream's capture. */
void expect_status(const char *key, struct cushim_stream *stream, const char *expected);

/* A body that enqueues one host function. The function counts in the atomic_int `user`, unless that is NULL. */
CUresult body_adds_work(struct cushim_stream *stream, void *user);

/* Returns the number of nodes of a graph; -1 if the driver does not report it. */
int node_count(CUgraph graph);

/* User data of a host function or callback, which counts its calls and releases. */
struct user_data {
    atomic_int calls;
    atomic_int releases;
    atomic_int calls_at_release;
    _Atomic(CUstream) stream; /* of the last callback */
    atomic_int status;
};
void CUDA_CB user_called(void *user);
void CUDA_CB user_called_back(CUstream stream, CUresult status, void *user);
void user_released(void *user);

/* Waits until the count is reached, for five seconds at most. */
void wait_for_count(const atomic_int *count, int wanted);

/* Opens the gate `user` after a moment: the main function of a thread. */
void *open_soon(void *user);

/* A destroy function that counts in the atomic_int `user`. */
void count_release(void *user);

/* The names of the three capture modes, by number, and the mode that every driver with captures has. */
extern const char *const mode_names[3];
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

#endif
