/* SPDX-License-Identifier: MIT */
/* Beginning and ending captures: shared by capture.c and capture_calls.c. */
#ifndef SOFT_CAPTURE_LIST_H
#define SOFT_CAPTURE_LIST_H

#include "capture.h"

/* Adds the stream to the capture. Its next node will depend on `frontier`. Returns false if out of memory. */
bool capture_join(struct capture *capture, struct stream *stream, const struct frontier *frontier);

/* Creates a capture with the stream as its origin; NULL if out of memory. */
struct capture *capture_begin(struct stream *stream, CUstreamCaptureMode mode, struct graph *graph,
                              const struct frontier *frontier);

/* Removes every stream. Destroys the graph unless it is kept, even if it was the caller's before. */
void capture_end(struct capture *capture, bool keep_graph);

/* Returns 905, because the capture would depend on work outside of it, and invalidates it. */
CUresult capture_isolated(struct capture *capture);

#endif
