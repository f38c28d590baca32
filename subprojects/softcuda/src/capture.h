/* SPDX-License-Identifier: MIT */
/* Captures: which streams they contain, and which calls are refused or invalidate them. */
#ifndef SOFT_CAPTURE_H
#define SOFT_CAPTURE_H

#include "soft.h"

#include "event.h"
#include "graph.h"
#include "stream.h"

struct capture {
    unsigned references;
    uint64_t id;
    CUstreamCaptureMode mode;
    uint64_t thread; /* the thread that began it */
    struct graph *graph;
    bool invalid;
    bool ended;
    struct stream *origin;
    struct stream *streams;
    struct frontier orphans; /* the last nodes of streams that were destroyed */
    struct capture *next;    /* in the list of captures in progress */
};

void capture_ref(struct capture *capture);

void capture_unref(struct capture *capture);

/* For a call that is not allowed on this stream while it captures: returns 900 and invalidates that capture. */
CUresult capture_forbid(struct stream *stream);

/* For a call that is unsafe during a capture, as far as the thread's mode forbids it: returns 900 and invalidates the
 * captures. */
CUresult capture_unsafe(void);

/* For a call that invalidates every capture in the context, in any mode: returns 900. */
CUresult capture_forbid_in_context(struct context *context);

/* For a use of the legacy stream while a stream that it would join is capturing: returns 906. `invalidates` is whether
 * those captures are invalidated. */
CUresult capture_implicit(struct stream *stream, bool invalidates);

/* The combination of capture_forbid and capture_unsafe for a call that queries one stream. */
CUresult capture_check_stream(struct stream *stream);

/* For a query of the completion of an event that was recorded in a capture: returns 907, or 1 after the end of that
 * capture. `invalidates` is whether the capture is invalidated. */
CUresult capture_check_event(struct event *event, bool invalidates);

/* For a query of a stream that is allowed during capture: returns 901 if its capture is invalidated, and 906 for the
 * legacy stream, which invalidates. */
CUresult capture_check_question(struct stream *stream);

/* Adds a node to the stream's capture. Takes over the reference to `work`. */
CUresult capture_add(struct stream *stream, struct work *work);

/* Event record and wait in a capture. *out_captured is whether that completes the call. */
CUresult capture_record(struct stream *stream, struct event *event);
CUresult capture_wait(struct stream *stream, struct event *event, bool *out_captured);

/* The stream or its context is destroyed. */
void capture_abandon(struct stream *stream);

#endif
