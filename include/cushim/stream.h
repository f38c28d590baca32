/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Streams: queues of work on a device.
 *
 * @code
 * CUresult clear(struct cushim_context *context, CUdeviceptr memory, size_t size)
 * {
 *     struct cushim_stream *stream = NULL;
 *     CUresult result = cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream);
 *     if (result == CUDA_SUCCESS)
 *         result = CUSHIM_CALL(MemsetD8Async_v1, memory, 0, size, cushim_stream_handle(stream));
 *     CUresult closed = cushim_stream_close(&stream); // waits for the work
 *     return result != CUDA_SUCCESS ? result : closed;
 * }
 * @endcode
 *
 * The general rules stand in context.h. A call on a stream needs no current context (observed with driver 580), except
 * on the special streams, see cushim_stream_borrow(). While one thread ends the capture of a stream, no other thread
 * may use that stream. While a blocking stream is capturing, perhaps in another thread, the driver refuses work in the
 * legacy stream, and the functions that refuse a stream that is capturing refuse the legacy stream, too.
 *
 * Three functions end a stream: cushim_stream_close() waits for its work, cushim_stream_destroy() does not, and
 * cushim_stream_release() leaves the driver's stream to the caller. Two call a function that enqueues work:
 * cushim_stream_run() waits for the work, and cushim_stream_enqueue() does not.
 */
#ifndef CUSHIM_STREAM_H
#define CUSHIM_STREAM_H

#include "cushim/context.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cushim_stream;
struct cushim_event;

/**
 * A body: a function of the program that enqueues work into a stream, for cushim_stream_run(), cushim_stream_enqueue()
 * and the scoped captures of capture.h.
 *
 * A body must return. If a longjmp or an exception leaves it, the function that called it does not complete its work.
 * The bodies of cushim.hpp may throw.
 *
 * @param stream  The stream that the program passed with the body.
 * @param user    The pointer that the program passed with the body.
 * @return CUDA_SUCCESS, or the error that the body met.
 */
typedef CUresult (*cushim_stream_body)(struct cushim_stream *stream, void *user);

/** @name Creating and ending */
/** @{ */

/**
 * Creates a stream. In this call, the driver can wait for all work of the context (observed with driver 580 at the 36th
 * and the 79th stream of a context).
 *
 * @param context     The context in which to create it. The stream holds a reference to the context.
 * @param flags       CU_STREAM_DEFAULT (0), or CU_STREAM_NON_BLOCKING for a stream that does not wait for the legacy
 *                    stream.
 * @param priority    0 is the lowest priority; smaller numbers are higher priorities. The driver silently clamps a
 *                    number outside cushim_context_get_priority_range().
 * @param out_stream  Receives the stream, which the caller owns.
 */
CUSHIM_API CUresult cushim_stream_create(struct cushim_context *context, unsigned flags, int priority,
                                         struct cushim_stream **out_stream);

/**
 * Takes ownership of a stream of the driver: cushim destroys it together with *out_stream. On failure the caller still
 * owns it. The call cannot check that handle is a stream; the driver crashes on other pointers.
 *
 * @param handle      The driver's stream.
 * @param context     The context in which the stream was created; the stream holds a reference to it. NULL if the
 *                    caller keeps the driver's context alive itself.
 * @param out_stream  Receives the stream, which the caller owns.
 * @retval CUDA_ERROR_INVALID_HANDLE  handle is 0, CU_STREAM_LEGACY or CU_STREAM_PER_THREAD, which cannot be owned.
 */
CUSHIM_API CUresult cushim_stream_adopt(CUstream handle, struct cushim_context *context,
                                        struct cushim_stream **out_stream);

/**
 * Wraps a stream of the driver without taking ownership: cushim never destroys it, and its owner must keep it alive.
 *
 * The special streams 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD (CUDA 7.0) can be wrapped with a NULL context. Each
 * call then means the special stream of the calling thread's current context, and returns CUDA_ERROR_INVALID_CONTEXT if
 * the thread has no current context.
 *
 * Several objects can wrap one stream of the driver. They share no state, so the caller must use only one of them for
 * captures: ending the capture of one object can end a capture that another one began.
 *
 * @param handle      The driver's stream, or a special stream.
 * @param context     As for cushim_stream_adopt().
 * @param out_stream  Receives the object, which the caller owns.
 * @retval CUDA_ERROR_INVALID_CONTEXT  handle is a special stream, and context is not NULL.
 * @retval CUDA_ERROR_NOT_SUPPORTED    handle is CU_STREAM_LEGACY or CU_STREAM_PER_THREAD, and the driver is older than
 *                                     CUDA 7.0: it would take the handle for an address.
 */
CUSHIM_API CUresult cushim_stream_borrow(CUstream handle, struct cushim_context *context,
                                         struct cushim_stream **out_stream);

/**
 * Ends the object without destroying the driver's stream, and sets *stream to NULL. If the object owned the driver's
 * stream, the caller owns it now.
 *
 * @param stream      The stream.
 * @param out_handle  Receives the driver's handle.
 * @retval CUDA_ERROR_ILLEGAL_STATE  A capture that cushim_capture_begin() began is open, or a body of
 *                                   cushim_stream_run() or cushim_stream_enqueue() runs with the stream. Nothing
 *                                   changed.
 */
CUSHIM_API CUresult cushim_stream_release(struct cushim_stream **stream, CUstream *out_handle);

/**
 * Ends the object, and destroys the driver's stream if the object owns it. The call does not wait: pending work and
 * callbacks are still executed.
 *
 * An open capture of the stream ends, and its graph is lost, as in the driver. cushim_capture_end() then reports this;
 * another thread must not call it during this call. A capture that functions of the driver began on a stream that the
 * object does not own goes on.
 *
 * A body of cushim_stream_run() or cushim_stream_enqueue() may destroy its stream. The driver's stream is then
 * destroyed after the body has returned.
 *
 * @param stream  The address of the pointer to the stream. *stream is set to NULL.
 * @return The code of cuStreamDestroy or of the release of the context.
 */
CUSHIM_API CUresult cushim_stream_destroy(struct cushim_stream **stream);

/**
 * Waits for all work, then destroys the stream as cushim_stream_destroy() does, even if waiting failed. A capture that
 * cushim_capture_begin() began is ended before the wait. A capture that functions of the driver began is invalidated by
 * the wait. Captures of other streams are not invalidated, except a capture that the stream has joined.
 *
 * @param stream  The address of the pointer to the stream. *stream is set to NULL.
 * @retval CUDA_ERROR_STREAM_CAPTURE_INVALIDATED  A capture that cushim_capture_begin() began was open.
 * @return Otherwise the first error of waiting and destroying.
 */
CUSHIM_API CUresult cushim_stream_close(struct cushim_stream **stream);

/** Returns the driver's handle, for slots of the table; 0 for NULL. The stream keeps the ownership. */
CUSHIM_API CUstream cushim_stream_handle(const struct cushim_stream *stream);

/** @} */

/**
 * @name Properties
 *
 * These functions do not invalidate a capture.
 *
 * The driver invalidates a capture when it is asked for the flags, the id or the device of the capturing stream
 * (observed with driver 580). A stream from cushim_stream_create() remembers these properties and needs no driver call.
 * For an adopted or borrowed stream, the first call asks the driver and the stream remembers the result; for a special
 * stream, each call asks the driver. The driver is not asked while the stream is capturing:
 * cushim_stream_get_flags(), cushim_stream_get_device() and cushim_stream_get_id() then return
 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if the property is not yet known. Call them before or after the capture.
 *
 * While one of these functions asks the driver, no other thread may begin a capture of the stream: the question could
 * invalidate it.
 */
/** @{ */

/** Returns the flags with which the stream was created. */
CUSHIM_API CUresult cushim_stream_get_flags(struct cushim_stream *stream, unsigned *out_flags);

/**
 * Returns the priority of the stream, after clamping. Every call asks the driver, because an attribute can change the
 * priority. This does not invalidate a capture (observed with driver 580).
 */
CUSHIM_API CUresult cushim_stream_get_priority(struct cushim_stream *stream, int *out_priority);

/**
 * Returns the device of the stream. For an adopted or borrowed stream without a context, this needs CUDA 9.2;
 * CUDA_ERROR_NOT_SUPPORTED below that.
 */
CUSHIM_API CUresult cushim_stream_get_device(struct cushim_stream *stream, CUdevice *out_device);

/**
 * Returns the id of the stream. An id is unique during the life of the process, while the driver reuses handles
 * immediately. Needs CUDA 12.0; CUDA_ERROR_NOT_SUPPORTED below that.
 */
CUSHIM_API CUresult cushim_stream_get_id(struct cushim_stream *stream, unsigned long long *out_id);

/**
 * Returns the driver's context of the stream. For an adopted or borrowed stream without a context, this needs CUDA 9.2;
 * CUDA_ERROR_NOT_SUPPORTED below that. Works during a capture, too.
 *
 * @param stream       The stream.
 * @param out_context  Receives the context. For a stream of a green context, it is the primary context of the device.
 *                     May be NULL if out_green is not.
 * @param out_green    Receives the green context, or NULL if the stream does not belong to one. May be NULL if
 *                     out_context is not.
 */
CUSHIM_API CUresult cushim_stream_get_driver_context(struct cushim_stream *stream, CUcontext *out_context,
                                                     CUgreenCtx *out_green);

/** Returns the context with which the stream was created or wrapped, or NULL. The stream keeps its reference. */
CUSHIM_API struct cushim_context *cushim_stream_context(const struct cushim_stream *stream);

/** Returns whether destroying the object destroys the driver's stream. */
CUSHIM_API bool cushim_stream_is_owned(const struct cushim_stream *stream);

/** @} */

/** @name Waiting */
/** @{ */

/**
 * Returns whether all work in the stream is done.
 *
 * @note The call invalidates a capture of this stream in every mode, a capture in CU_STREAM_CAPTURE_MODE_GLOBAL of any
 * thread, and a capture in CU_STREAM_CAPTURE_MODE_THREAD_LOCAL of the calling thread. It then returns
 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED. tests/conformance/CAPTURE.md in cushim's sources lists which calls invalidate
 * which captures.
 *
 * @param stream  The stream.
 * @retval CUDA_SUCCESS          All work is done.
 * @retval CUDA_ERROR_NOT_READY  Some work is not done.
 * @return Otherwise the error of the work.
 */
CUSHIM_API CUresult cushim_stream_query(struct cushim_stream *stream);

/**
 * Waits until all work in the stream is done. Invalidates captures as cushim_stream_query() does.
 *
 * @param stream  The stream.
 * @return CUDA_SUCCESS, or the error of the work.
 */
CUSHIM_API CUresult cushim_stream_synchronize(struct cushim_stream *stream);

/**
 * Makes all work that is enqueued into the stream from now on wait for the work that the event now represents. The
 * event can be of any context or device. An event that was never recorded causes no wait.
 *
 * An event that was recorded in a capture brings this stream into that capture. The stream must be joined before the
 * capture ends.
 *
 * @param stream  The stream.
 * @param event   The event.
 * @param flags   0, or CU_EVENT_WAIT_EXTERNAL in a capture (CUDA 11.1; CUDA_ERROR_NOT_SUPPORTED below that).
 * @retval CUDA_ERROR_STREAM_CAPTURE_MERGE      The stream is in another capture than the event.
 * @retval CUDA_ERROR_ILLEGAL_STATE             flags is CU_EVENT_WAIT_EXTERNAL, and the stream is not capturing.
 * @retval CUDA_ERROR_STREAM_CAPTURE_ISOLATION  The stream is capturing, and the event was recorded outside the capture.
 *                                              This invalidates the capture.
 */
CUSHIM_API CUresult cushim_stream_wait_event(struct cushim_stream *stream, struct cushim_event *event, unsigned flags);

/**
 * Makes all work that is enqueued into a stream from now on wait for the work that is in another stream now. The
 * streams can be of two contexts or devices. The call creates an event for this, and destroys it.
 *
 * If `from` is capturing, `to` comes into that capture, and must be joined before the capture ends:
 * cushim_stream_wait_for(from, to).
 *
 * @param to    The stream that waits.
 * @param from  The stream that it waits for. If it was borrowed without a context, on a driver before CUDA 9.2, its
 *              context must be current.
 * @retval CUDA_ERROR_STREAM_CAPTURE_MERGE      The streams are in different captures.
 * @retval CUDA_ERROR_STREAM_CAPTURE_ISOLATION  Only `to` is capturing. This invalidates the capture.
 */
CUSHIM_API CUresult cushim_stream_wait_for(struct cushim_stream *to, struct cushim_stream *from);

/**
 * Calls body(stream, user), then waits until all work is done, whatever the body returned. So the program may free
 * memory that the work uses after this call. The wait does not invalidate captures of other streams.
 *
 * The body must leave the current context as it found it, and may destroy the stream. If a longjmp or an exception
 * leaves the body, the call does not wait.
 *
 * @param stream  The stream.
 * @param body    The function that enqueues work.
 * @param user    Passed to the body.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  One of four cases. The stream was capturing: the body was not called,
 *                                                and the capture goes on. Or the body left a capture open: the capture
 *                                                was ended, and the work before it was waited for. Or the body brought
 *                                                the stream into a capture of another stream: that capture is
 *                                                invalidated, and nothing was waited for. Or, for the legacy stream, a
 *                                                blocking stream began to capture while the body ran: that capture
 *                                                goes on, and nothing was waited for.
 * @return If the wait failed, its error. Otherwise the result of the body.
 */
CUSHIM_API CUresult cushim_stream_run(struct cushim_stream *stream, cushim_stream_body body, void *user);

/** @} */

/**
 * @name Host functions
 *
 * Both functions call destroy_user(user) exactly once, whatever they return: after the function ran; instead of the
 * function if it will not run because the work before it failed; or, if the call is refused, before the call returns.
 * destroy_user may be NULL.
 *
 * The function and destroy_user can run on any thread, including a thread of the driver. They must make no CUDA call
 * and must not wait for work of the GPU.
 */
/** @{ */

/**
 * Calls fn(user) when all work that is in the stream now is done. Work that is enqueued later waits for the function.
 * The function is not called after an error of the context.
 *
 * In a capture the function becomes a node of the graph and is called at each launch. destroy_user then runs when the
 * graph and all its executables and copies have been destroyed. This needs CUDA 11.3: below that, destroy_user in a
 * capture causes CUDA_ERROR_NOT_SUPPORTED. The graph of a capture that fails is destroyed when the capture ends; after
 * a sticky error, in a stream that has joined the capture of another one, destroy_user runs when the driver destroys
 * the graph, which can be late, or never. No other thread may end the capture or destroy its graph during this call.
 *
 * @param stream        The stream.
 * @param fn            The function.
 * @param user          Passed to both functions.
 * @param destroy_user  Destroys user. May be NULL.
 * @retval CUDA_ERROR_INVALID_VALUE  fn is NULL.
 */
CUSHIM_API CUresult cushim_stream_launch_host(struct cushim_stream *stream, CUhostFn fn, void *user,
                                              void (*destroy_user)(void *user));

/**
 * Calls fn(handle, status, user) once when all work that is in the stream now is done (cuStreamAddCallback). The
 * function is also called after an error; status is then that error.
 *
 * @param stream        The stream.
 * @param fn            The function.
 * @param user          Passed to both functions.
 * @param destroy_user  Destroys user. May be NULL.
 * @retval CUDA_ERROR_INVALID_VALUE               fn is NULL.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  The stream is capturing. The capture is not invalidated.
 */
CUSHIM_API CUresult cushim_stream_add_callback(struct cushim_stream *stream, CUstreamCallback fn, void *user,
                                               void (*destroy_user)(void *user));

/** @} */

/** @name Attributes (CUDA 11.0; CUDA_ERROR_NOT_SUPPORTED below that) */
/** @{ */

/**
 * Reads an attribute of the stream. The value has the size that the newest CUDA version gives it, 64 bytes; older
 * drivers use the first 32 bytes.
 */
CUSHIM_API CUresult cushim_stream_get_attribute(struct cushim_stream *stream, CUstreamAttrID attribute,
                                                CUlaunchAttributeValue *out_value);

/** Sets an attribute of the stream. The value has the size that cushim_stream_get_attribute() describes. */
CUSHIM_API CUresult cushim_stream_set_attribute(struct cushim_stream *stream, CUstreamAttrID attribute,
                                                const CUlaunchAttributeValue *value);

/** Copies all attributes from one stream to another stream of the same context. */
CUSHIM_API CUresult cushim_stream_copy_attributes(struct cushim_stream *to, struct cushim_stream *from);

/** @} */

/** @name Memory */
/** @{ */

/**
 * Chooses which streams may use a block of managed memory (cuStreamAttachMemAsync). The change takes effect in the
 * order of the stream.
 *
 * @param stream   The stream.
 * @param address  The address of the allocation.
 * @param length   0, or the size of the whole allocation; the driver accepts no other length.
 * @param flags    CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST or CU_MEM_ATTACH_SINGLE.
 * @retval CUDA_ERROR_INVALID_VALUE  flags is not one of these (the driver would crash on 0), length is a part of an
 *                                   allocation, or flags is CU_MEM_ATTACH_SINGLE on a special stream.
 */
CUSHIM_API CUresult cushim_stream_attach_memory(struct cushim_stream *stream, CUdeviceptr address, size_t length,
                                                unsigned flags);

/**
 * Makes work that is enqueued later wait until the 4 bytes at an address compare with a value.
 *
 * Needs CUDA 11.7. Below that it needs CUDA 8.0 and a kernel module that allows it; CUDA_ERROR_NOT_SUPPORTED otherwise.
 *
 * @param stream   The stream.
 * @param address  An address in device memory or mapped host memory, aligned to 4 bytes.
 * @param value    The value to compare with.
 * @param flags    CU_STREAM_WAIT_VALUE_GEQ (0; the comparison is cyclic), CU_STREAM_WAIT_VALUE_EQ,
 *                 CU_STREAM_WAIT_VALUE_AND or CU_STREAM_WAIT_VALUE_NOR, and CU_STREAM_WAIT_VALUE_FLUSH.
 */
CUSHIM_API CUresult cushim_stream_wait_value32(struct cushim_stream *stream, CUdeviceptr address, cuuint32_t value,
                                               unsigned flags);

/**
 * Like cushim_stream_wait_value32() for 8 bytes, aligned to 8 bytes. Needs CUDA 11.7, or CUDA 9.0 and a kernel module
 * that allows it.
 */
CUSHIM_API CUresult cushim_stream_wait_value64(struct cushim_stream *stream, CUdeviceptr address, cuuint64_t value,
                                               unsigned flags);

/**
 * Writes a value to the 4 bytes at an address when the work before it is done. Needs the CUDA version that
 * cushim_stream_wait_value32() needs.
 *
 * @param stream   The stream.
 * @param address  An address in device memory or mapped host memory, aligned to 4 bytes.
 * @param value    The value to write.
 * @param flags    0, or CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER.
 */
CUSHIM_API CUresult cushim_stream_write_value32(struct cushim_stream *stream, CUdeviceptr address, cuuint32_t value,
                                                unsigned flags);

/**
 * Like cushim_stream_write_value32() for 8 bytes, aligned to 8 bytes. Needs the CUDA version that
 * cushim_stream_wait_value64() needs.
 */
CUSHIM_API CUresult cushim_stream_write_value64(struct cushim_stream *stream, CUdeviceptr address, cuuint64_t value,
                                                unsigned flags);

/**
 * Enqueues several waits and writes in their order (cuStreamBatchMemOp). Needs the CUDA version that
 * cushim_stream_wait_value32() needs.
 *
 * @param stream  The stream.
 * @param count   The number of operations: 1 to 255 (observed with driver 580).
 * @param ops     The operations. The array is read during the call.
 * @param flags   Flags of cuStreamBatchMemOp.
 */
CUSHIM_API CUresult cushim_stream_batch_memory_ops(struct cushim_stream *stream, unsigned count,
                                                   const CUstreamBatchMemOpParams *ops, unsigned flags);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
