/* SPDX-License-Identifier: MIT */
/* Beginning and ending captures: between capture.c and capture_calls.c. */
#ifndef SOFT_CAPTURE_LIST_H
#define SOFT_CAPTURE_LIST_H

#include "capture.h"

/* Puts the stream into the capture; its next node will depend on `frontier`. False without memory. */
bool capture_join(struct capture *capture, struct stream *stream, const struct frontier *frontier);

/* A capture that the stream is the origin of; NULL without memory. */
struct capture *capture_begin(struct stream *stream, CUstreamCaptureMode mode, struct graph *graph,
                              const struct frontier *frontier);

/* Every stream leaves it. The graph is destroyed unless it is kept, even one that was the caller's before. */
void capture_end(struct capture *capture, bool keep_graph);

/* 905: it would have come to depend on work outside of it, and is lost. */
CUresult capture_isolated(struct capture *capture);

/* Makes the event stand for what was captured so far. Takes over what `frontier` holds. */
void event_set_capture(struct event *event, struct capture *capture, const struct frontier *frontier);

#endif
