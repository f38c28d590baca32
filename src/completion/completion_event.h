/* SPDX-License-Identifier: MIT */
/* The event of a completion: completion_event.c. */
#ifndef CUSHIM_COMPLETION_EVENT_H
#define CUSHIM_COMPLETION_EVENT_H

#include "completion_object.h"

/* The context of a stream, in which its completions record events. */
struct event_place {
    CUcontext context;
    unsigned long long id; /* 0: the completions of the stream use a callback */
};

struct event_place cush_completion_event_place(struct cushim_stream *stream);

/* Makes sure that a new completion has an event in this place. Returns false if it must use a callback instead. The
 * first call in a context can wait for all work of the context: completion_helper.c. */
bool cush_completion_prepare_event(struct cushim_completion *completion, const struct event_place *place);

/*
 * Records the event of a new completion, which keeps a reference to the stream object. Returns false if the completion
 * must use a callback instead.
 */
bool cush_completion_record(struct cushim_stream *stream, struct cushim_completion *completion);

/*
 * Begins driver calls on the event. After CUDA_SUCCESS, cush_completion_event_end() must follow. Returns
 * CUDA_ERROR_NOT_READY if no such call may be made now, CUDA_ERROR_CONTEXT_IS_DESTROYED if the context is gone, or an
 * error that the driver repeats.
 */
CUresult cush_completion_event_begin(struct cushim_completion *completion);
void cush_completion_event_end(struct cushim_completion *completion);

/* Returns CUDA_SUCCESS if the event is done, CUDA_ERROR_NOT_READY, or an error of cush_completion_event_begin(). */
CUresult cush_completion_event_query(struct cushim_completion *completion);

#endif
