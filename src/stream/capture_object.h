/* SPDX-License-Identifier: MIT */
/* Captures, for the functions that must know of them: capture.c. */
#ifndef CUSHIM_CAPTURE_OBJECT_H
#define CUSHIM_CAPTURE_OBJECT_H

#include "captured_call.h"
#include "cushim/capture.h"
#include "stream_object.h"

/* Returns whether a code means that a capture prevents a call, or that a capture failed. */
static inline bool is_capture_error(CUresult code)
{
    return code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* Returns the number of the calling thread. No later thread gets the same number. */
unsigned long long cush_thread_number(void);

/* Ends the capture, writes its graph to *out_graph unless that is NULL, and frees the object. */
CUresult cush_capture_end(const char *function, struct cushim_capture *capture, struct cushim_graph **out_graph);

/* Returns whether a capture is open that was begun with this object; of a special stream, in this thread. */
bool cush_capture_is_open(struct cushim_stream *stream);

/*
 * Ends the open capture of a stream that is about to be destroyed. The capture object stays until the caller of
 * cushim_capture_begin() ends it. Returns whether a capture was open.
 */
bool cush_capture_abandon(struct cushim_stream *stream);

/*
 * Ends the capture in which a body has left the stream, because the work would never run. Returns whether the stream
 * was in a capture. The stream can still be capturing afterwards: a stream that joined the capture of another stream
 * leaves it only when that capture ends.
 */
bool cush_capture_end_leftover(struct cushim_stream *stream);

/* Adds a call to the open capture of the stream. Does nothing if cushim did not begin that capture. */
void cush_capture_add_call(struct cushim_stream *stream, struct captured_call *call);

#endif
