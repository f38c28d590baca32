/* SPDX-License-Identifier: MIT */
/*
 * event.h - points in streams: to wait for, to ask about, to measure the time between.
 *
 * The general rules stand in context.h. An event holds its context. Any thread may use an event, several at once too;
 * only destroying it must be the last thing done with it.
 */
#ifndef CUSHIM_EVENT_H
#define CUSHIM_EVENT_H

#include "cushim/context.h"
#include "cushim/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes an event in a context. `flags`: CU_EVENT_DEFAULT, or CU_EVENT_BLOCKING_SYNC (who synchronizes sleeps),
 * CU_EVENT_DISABLE_TIMING (cheaper, no elapsed time), CU_EVENT_INTERPROCESS (together with the latter). The caller owns
 * *out_event.
 *   CUDA_ERROR_INVALID_CONTEXT  context is NULL
 */
CUSHIM_API CUresult cushim_event_create(struct cushim_context *context, unsigned flags,
                                        struct cushim_event **out_event);

/* An event that is somebody else's, who keeps it alive; never destroyed by this. `context` may be NULL. */
CUSHIM_API CUresult cushim_event_borrow(CUevent handle, struct cushim_context *context,
                                        struct cushim_event **out_event);

/* Destroys the event and sets *event to NULL; NULL, or a pointer to NULL, is nothing to do. Work that waits for it
 * keeps what it needs. The object is gone whatever the driver's code. */
CUSHIM_API CUresult cushim_event_destroy(struct cushim_event **event);

/* The driver's handle, for slots of the table; NULL for NULL. It stays the event's. */
CUSHIM_API CUevent cushim_event_handle(const struct cushim_event *event);

/*
 * Records: the event now stands for all work in `stream` until here. `flags`: 0, or CU_EVENT_RECORD_EXTERNAL in a
 * capture (CUDA 11.1; CUDA_ERROR_NOT_SUPPORTED below that). Both must be of one context (the driver says
 * CUDA_ERROR_INVALID_HANDLE if not).
 *   CUDA_ERROR_ILLEGAL_STATE  CU_EVENT_RECORD_EXTERNAL without a capture
 */
CUSHIM_API CUresult cushim_event_record(struct cushim_event *event, struct cushim_stream *stream, unsigned flags);

/*
 * CUDA_SUCCESS if all that the event stands for is done, or it was never recorded; CUDA_ERROR_NOT_READY if not.
 * Asking, and waiting, invalidate a capture by CU_STREAM_CAPTURE_MODE_GLOBAL of any thread, and by THREAD_LOCAL of this
 * one (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED), as with cushim_stream_query().
 *   CUDA_ERROR_CAPTURED_EVENT  last recorded in a capture: asking and waiting invalidate that, in every mode (observed)
 */
CUSHIM_API CUresult cushim_event_query(struct cushim_event *event);

/* Waits until all that the event stands for is done. */
CUSHIM_API CUresult cushim_event_synchronize(struct cushim_event *event);

/*
 * The time between two events in milliseconds, good to about half a microsecond (cuEventElapsedTime).
 *   CUDA_ERROR_NOT_READY       one of them is not done
 *   CUDA_ERROR_INVALID_HANDLE  one was never recorded, or was made with CU_EVENT_DISABLE_TIMING
 */
CUSHIM_API CUresult cushim_event_elapsed(struct cushim_event *start, struct cushim_event *end, float *out_milliseconds);

#ifdef __cplusplus
}
#endif

#endif
