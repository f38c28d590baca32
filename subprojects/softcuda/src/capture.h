/* SPDX-License-Identifier: MIT */
/* Captures: which streams are in one, and which calls are refused or invalidate it. */
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
    uint64_t thread; /* that began it */
    struct graph *graph;
    bool invalid;
    bool ended;
    struct stream *origin;
    struct stream *streams;
    struct frontier orphans; /* the last nodes of streams that are gone */
    struct capture *next;    /* in the list of those under way */
};

void capture_release(struct capture *capture);

/* A call that cannot be made on this very stream while it captures: 900, and that capture is lost. */
CUresult capture_forbid(struct stream *stream);

/* A call that is unsafe while captures are under way, as far as the thread's mode says: 900, and those are lost. */
CUresult capture_unsafe(void);

/* A call that no capture in the context survives, whatever the mode: 900. */
CUresult capture_forbid_in_context(struct context *context);

/* Use of the legacy stream while one that it would join captures: 906; `harmful` says whether those captures are
 * lost. */
CUresult capture_implicit(struct stream *stream, bool harmful);

/* What capture_forbid and capture_unsafe say together of a call that looks at one stream. */
CUresult capture_check_stream(struct stream *stream);

/* A question about the completion of an event that was recorded in a capture: 907, or 1 when that is over. */
CUresult capture_check_event(struct event *event, bool harmful);

/* A question to a stream that is harmless: but 901 where its capture is lost, and 906 of the legacy one, which
 * invalidates. */
CUresult capture_check_question(struct stream *stream);

/* Adds a node to the capture that the stream is in. Takes over the reference to `work`. */
CUresult capture_add(struct stream *stream, struct work *work);

/* Event record and wait in a capture. *out_captured says whether the call is done with that. */
CUresult capture_record(struct stream *stream, struct event *event);
CUresult capture_wait(struct stream *stream, struct event *event, bool *out_captured);

/* The stream goes away, or its context does. */
void capture_abandon(struct stream *stream);

#endif
