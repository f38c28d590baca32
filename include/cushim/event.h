/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events: points in streams that a program can wait for and query. The time between two events can be measured.
 * cushim_stream_wait_for() orders two streams without an event of the program.
 *
 * @code
 * // Writes how long the work takes that a function enqueues, in milliseconds.
 * CUresult measure(struct cushim_stream *stream, CUresult (*enqueue)(struct cushim_stream *),
 *                  struct cushim_event *start, struct cushim_event *end, float *out_milliseconds)
 * {
 *     CUresult result = cushim_event_record(start, stream, 0);
 *     if (result == CUDA_SUCCESS)
 *         result = enqueue(stream);
 *     if (result == CUDA_SUCCESS)
 *         result = cushim_event_record(end, stream, 0);
 *     if (result == CUDA_SUCCESS)
 *         result = cushim_event_synchronize(end);
 *     return result == CUDA_SUCCESS ? cushim_event_elapsed(start, end, out_milliseconds) : result;
 * }
 * @endcode
 *
 * The general rules stand in context.h.
 */
#ifndef CUSHIM_EVENT_H
#define CUSHIM_EVENT_H

#include "cushim/context.h"
#include "cushim/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates an event.
 *
 * @param context    The context in which to create it. The event holds a reference to the context.
 * @param flags      CU_EVENT_DEFAULT, or CU_EVENT_BLOCKING_SYNC (a thread that synchronizes sleeps),
 *                   CU_EVENT_DISABLE_TIMING (cheaper, without elapsed times) and CU_EVENT_INTERPROCESS (only together
 *                   with CU_EVENT_DISABLE_TIMING).
 * @param out_event  Receives the event, which the caller owns.
 */
CUSHIM_API CUresult cushim_event_create(struct cushim_context *context, unsigned flags,
                                        struct cushim_event **out_event);

/**
 * Wraps an event of the driver without taking ownership: cushim never destroys it, and its owner must keep it alive.
 *
 * @param handle     The driver's event.
 * @param context    The context in which the event was created; the object holds a reference to it. May be NULL.
 * @param out_event  Receives the object, which the caller owns.
 * @retval CUDA_ERROR_INVALID_HANDLE  handle is NULL.
 */
CUSHIM_API CUresult cushim_event_borrow(CUevent handle, struct cushim_context *context,
                                        struct cushim_event **out_event);

/**
 * Destroys the event. Work that waits for the event is not affected.
 *
 * @param event  The address of the pointer to the event. *event is set to NULL.
 * @return The code of cuEventDestroy or of the release of the context.
 */
CUSHIM_API CUresult cushim_event_destroy(struct cushim_event **event);

/** Returns the driver's handle, for slots of the table; NULL for NULL. The event keeps the ownership. */
CUSHIM_API CUevent cushim_event_handle(const struct cushim_event *event);

/**
 * Records the event: it now represents all work that is in the stream.
 *
 * @param event   The event.
 * @param stream  The stream, of the same context as the event.
 * @param flags   0, or CU_EVENT_RECORD_EXTERNAL in a capture (CUDA 11.1; CUDA_ERROR_NOT_SUPPORTED below that).
 * @retval CUDA_ERROR_ILLEGAL_STATE   flags is CU_EVENT_RECORD_EXTERNAL, and the stream is not capturing.
 * @retval CUDA_ERROR_INVALID_HANDLE  An argument is NULL, or event and stream belong to different contexts.
 */
CUSHIM_API CUresult cushim_event_record(struct cushim_event *event, struct cushim_stream *stream, unsigned flags);

/**
 * Returns whether all work that the event represents is done.
 *
 * @note The call invalidates a capture in CU_STREAM_CAPTURE_MODE_GLOBAL of any thread, and a capture in
 * CU_STREAM_CAPTURE_MODE_THREAD_LOCAL of the calling thread. It then returns CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
 *
 * @param event  The event.
 * @retval CUDA_SUCCESS               All work is done, or the event was never recorded.
 * @retval CUDA_ERROR_NOT_READY       Some work is not done.
 * @retval CUDA_ERROR_CAPTURED_EVENT  The event was last recorded in a capture. This call invalidates that capture in
 *                                    every mode (observed with driver 580).
 * @return Otherwise the error of the work.
 */
CUSHIM_API CUresult cushim_event_query(struct cushim_event *event);

/**
 * Waits until all work that the event represents is done. Returns immediately if the event was never recorded.
 * Invalidates captures as cushim_event_query() does.
 *
 * @param event  The event.
 * @retval CUDA_ERROR_CAPTURED_EVENT  As for cushim_event_query().
 * @return CUDA_SUCCESS, or the error of the work.
 */
CUSHIM_API CUresult cushim_event_synchronize(struct cushim_event *event);

/**
 * Returns the time between two events (cuEventElapsedTime).
 *
 * @param start             The first event.
 * @param end               The second event.
 * @param out_milliseconds  Receives the time in milliseconds. The resolution is about half a microsecond.
 * @retval CUDA_ERROR_NOT_READY       The work of one of the events is not done.
 * @retval CUDA_ERROR_INVALID_HANDLE  An event is NULL, was never recorded, or was created with CU_EVENT_DISABLE_TIMING.
 */
CUSHIM_API CUresult cushim_event_elapsed(struct cushim_event *start, struct cushim_event *end, float *out_milliseconds);

#ifdef __cplusplus
}
#endif

#endif
