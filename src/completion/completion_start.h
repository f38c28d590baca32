/* SPDX-License-Identifier: MIT */
/* Registering completions with the driver: completion_start.c. */
#ifndef CUSHIM_COMPLETION_START_H
#define CUSHIM_COMPLETION_START_H

#include "completion_event.h"
#include "completion_object.h"

/*
 * Records the event of the completion in this place, or makes the driver fire it by a callback. Takes over one
 * reference. On failure the caller keeps the reference.
 */
CUresult cush_completion_start(struct cushim_stream *stream, struct cushim_completion *completion,
                               const struct event_place *place);

/*
 * Starts a completion after a body has enqueued work. The driver's reference is always taken over. On failure, either
 * the work was waited for and the completion has fired, or the completion is deferred until the stream has left the
 * capture that it is in, or the driver does not refuse it any more.
 */
CUresult cush_completion_start_or_wait(const char *function, struct cushim_stream *stream,
                                       struct cushim_completion *completion, const struct event_place *place);

/* Starts the deferred completions that can be started now. */
void cush_completion_start_deferred(void);

#endif
