/* SPDX-License-Identifier: MIT */
/* Starting completions: completion_start.c. */
#ifndef CUSHIM_COMPLETION_START_H
#define CUSHIM_COMPLETION_START_H

#include "completion_event.h"
#include "completion_object.h"

/* Records the event of the completion, if it has one, or adds a callback that fires it and has a reference to it. */
CUresult cush_completion_start(struct cushim_stream *stream, struct cushim_completion *completion, bool has_event);

/*
 * Starts a completion after a body has enqueued work. On failure, either the work was waited for and the completion has
 * fired, or the completion is deferred until the stream has left the capture that it is in, or the driver does not
 * refuse it any more.
 */
CUresult cush_completion_start_or_wait(const char *function, struct cushim_stream *stream,
                                       struct cushim_completion *completion, bool has_event);

/* Starts the deferred completions that can be started now. */
void cush_completion_start_deferred(void);

#endif
