/* SPDX-License-Identifier: MIT */
/* The stream object: stream_object.c. Members that can change after the object was created are atomic. */
#ifndef CUSHIM_STREAM_OBJECT_H
#define CUSHIM_STREAM_OBJECT_H

#include <stdatomic.h>

#include "cushim/stream.h"

/* The properties that a stream remembers. */
enum known_property { KNOWN_FLAGS = 1, KNOWN_DEVICE = 2, KNOWN_ID = 4, KNOWN_CONTEXT = 8 };

struct cushim_stream {
    atomic_uint references; /* of the object: the caller, each open capture and each use */
    atomic_uint uses;       /* of the driver's stream: the caller, and each body that runs with it */
    CUstream handle;
    struct cushim_context *context; /* or NULL */
    bool owned;
    bool special; /* 0, legacy or per-thread: a different stream in each thread or context */
    /* The open capture that cushim began, unless special. Only the thread that takes it from here may end it. */
    _Atomic(struct cushim_capture *) capture;
    atomic_uint recorded; /* completions that have recorded an event */
    atomic_uint known;    /* bits of enum known_property, each set after its value below */
    atomic_uint flags;
    atomic_int device;
    atomic_ullong id;
    _Atomic(CUcontext) driver_context;
    _Atomic(CUgreenCtx) green;
    atomic_uint callbacks; /* of completions, in this stream: completion_engage.c */
};

/* Creates an object. Returns NULL if the host is out of memory. */
struct cushim_stream *cush_stream_new(CUstream handle, bool owned);

/* References to the object alone. */
struct cushim_stream *cush_stream_ref(struct cushim_stream *stream);
void cush_stream_unref(struct cushim_stream *stream);

/*
 * Keeps the object and the driver's stream alive, even if cushim_stream_destroy() is called in the meantime. The end of
 * the last use destroys an owned stream and returns the driver's code.
 */
void cush_stream_use(struct cushim_stream *stream);
/* Returns false if the last use has ended. */
bool cush_stream_try_use(struct cushim_stream *stream);
CUresult cush_stream_end_use(struct cushim_stream *stream);

/*
 * Sets the capture mode of this thread to relaxed: calls then invalidate no capture of another stream, and are not
 * refused because of one. Each relax needs a restore. Neither records an error.
 */
bool cush_capture_mode_relax(CUstreamCaptureMode *out_previous);
void cush_capture_mode_restore(bool changed, CUstreamCaptureMode previous);

/*
 * Waits for the work of the stream in the relaxed capture mode, which invalidates no capture of another stream. Returns
 * the driver's code and records no error.
 */
CUresult cush_stream_wait_relaxed(struct cushim_stream *stream);

#endif
