/* SPDX-License-Identifier: MIT */
/*
 * The stream layer's objects, and what its files share. Each object is written by its own file; the others read it.
 * What can change after an object was made is atomic.
 */
#ifndef CUSHIM_OBJECTS_H
#define CUSHIM_OBJECTS_H

#include <stdatomic.h>

#include "cushim/capture.h"
#include "cushim/context.h"
#include "cushim/event.h"
#include "cushim/graph.h"
#include "cushim/stream.h"

/* ---- Contexts: context.c ---- */

struct cushim_context {
    atomic_uint references;
    CUcontext handle;
    CUgreenCtx green; /* or NULL */
    CUdevice device;
    enum { CONTEXT_PRIMARY, CONTEXT_OWN, CONTEXT_BORROWED } kind;
};

/* Both take NULL. Dropping the last hold releases the context; the code is the driver's. */
struct cushim_context *cush_context_ref(struct cushim_context *context);
CUresult cush_context_unref(struct cushim_context *context);

/* Makes the context current, and the caller's again: a successful enter wants a leave, on every path. */
CUresult cush_context_enter(struct cushim_context *context, CUcontext *out_before);
CUresult cush_context_leave(CUcontext before);

/* ---- Streams: stream.c ---- */

struct cushim_stream {
    atomic_uint references; /* of the object: the caller's, and one for each open capture and each use */
    atomic_uint uses;       /* of the driver's stream: the caller's, and one for each body that runs with it */
    CUstream handle;
    struct cushim_context *context; /* or NULL */
    bool owned;
    bool special; /* 0, legacy, per-thread: another stream for each thread or context */
    /* The open capture that was begun through us; only whoever takes it off may end it. */
    _Atomic(struct cushim_capture *) capture;
    /* What is known of it: enum known_property, or-ed, set after the value is. */
    atomic_uint known;
    atomic_uint flags;
    atomic_int device;
    atomic_ullong id;
    _Atomic(CUcontext) driver_context;
    _Atomic(CUgreenCtx) green;
};

enum known_property { KNOWN_FLAGS = 1, KNOWN_DEVICE = 2, KNOWN_ID = 4, KNOWN_CONTEXT = 8 };

/* stream_object.c */
struct cushim_stream *cush_stream_new(CUstream handle, bool owned);
struct cushim_stream *cush_stream_ref(struct cushim_stream *stream);
void cush_stream_unref(struct cushim_stream *stream);

/*
 * Keeps the object and the driver's stream alive, also if cushim_stream_destroy() is called meanwhile. The last
 * end of a use destroys an owned stream and returns the driver's code.
 */
void cush_stream_use(struct cushim_stream *stream);
CUresult cush_stream_end_use(struct cushim_stream *stream);

/* Waits for the work of the stream in the relaxed mode, which invalidates no capture of another stream. Returns the
 * driver's code and records nothing. */
CUresult cush_stream_wait_relaxed(struct cushim_stream *stream);

/* Writes what the driver says of a stream that was just made, so that nobody needs to ask again: property.c. */
void cush_stream_remember(struct cushim_stream *stream, unsigned flags);

/*
 * Whether the stream is capturing, active or not, without a word in cushim_last_error() if it cannot be told: then it
 * is not.
 */
bool cush_stream_is_capturing(CUstream handle);

/* ---- Captures: capture.c ---- */

/* Whether a code says that a capture stands in the way of a call, or that a capture came to nothing. */
static inline bool is_capture_refusal(CUresult code)
{
    return code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* A number for each thread that no later thread has again. */
unsigned long long cush_this_thread(void);

/*
 * Ends the capture that is open on a stream, whose object goes on to exist for the caller of cushim_capture_end(). True
 * if there was one. For a stream that is about to be destroyed.
 */
bool cush_capture_abandon(struct cushim_stream *stream);

/*
 * Ends the capture that a body has left the stream in, since nothing would run. True if there was one. The stream may
 * still be capturing afterwards: a stream that joined the capture of another one leaves it only when that one ends.
 */
bool cush_capture_end_leftover(struct cushim_stream *stream);

/* ---- The capture mode of this thread: capture_info.c ---- */

/* In the relaxed mode, calls invalidate no capture of another stream and are not refused because of one. Each relax
 * wants a restore. Neither records an error. */
bool cush_mode_relax(CUstreamCaptureMode *out_previous);
void cush_mode_restore(bool changed, CUstreamCaptureMode previous);

struct captured_call;

/* Adds one to those of the capture that is open on its stream, if that was begun here; else does nothing. */
void cush_capture_add_call(struct cushim_stream *stream, struct captured_call *call);

/* ---- Events and graphs: event.c, graph.c ---- */

struct cushim_event {
    CUevent handle;
    struct cushim_context *context; /* or NULL */
    bool owned;
};

struct cushim_graph {
    atomic_uint references;  /* the caller's, and that of an open capture into it */
    _Atomic(CUgraph) handle; /* NULL: the driver destroyed it */
    bool owned;
    atomic_uint captures; /* that are open into it */
};

/* An object for a graph that will be there; NULL where there is no memory. */
struct cushim_graph *cush_graph_new(CUgraph handle, bool owned);
struct cushim_graph *cush_graph_ref(struct cushim_graph *graph);
CUresult cush_graph_unref(struct cushim_graph *graph);

/* ---- Failures ---- */

/* The common ones, each with its sentence; `function` is the public one. */
static inline CUresult fail_no_stream(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function, "The stream is NULL, or was destroyed.");
}

static inline CUresult fail_no_memory(const char *function)
{
    return cushim_set_error(CUDA_ERROR_OUT_OF_MEMORY, function, "There is no memory on the host.");
}

static inline CUresult fail_null_output(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The output pointer is NULL.");
}

#endif
