/* SPDX-License-Identifier: MIT */
/*
 * stream.h - queues of work on a device.
 *
 * The general rules and the common codes stand in context.h. No call here changes the current context, and the calls of
 * a stream that was made need none (observed with driver 580; for the special streams see cushim_stream_borrow). Any
 * thread may use a stream, several at once too; only destroying, closing or releasing it must be the last thing done
 * with it, and nobody may use it while another thread ends its capture. A stream that was destroyed is NULL where it
 * was destroyed; other copies of the pointer are the caller's duty.
 */
#ifndef CUSHIM_STREAM_H
#define CUSHIM_STREAM_H

#include "cushim/context.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cushim_stream;
struct cushim_event;

/*
 * A function of the program's that enqueues work into a stream: for cushim_stream_run(), cushim_stream_enqueue() and
 * the scoped captures. It returns CUDA_SUCCESS or the error that it met.
 */
typedef CUresult (*cushim_stream_body)(struct cushim_stream *stream, void *user);

/* ---- Making, taking over, giving away, ending ---- */

/*
 * Makes a stream. `flags`: CU_STREAM_DEFAULT (0), or CU_STREAM_NON_BLOCKING, which does not wait for the legacy stream.
 * `priority`: 0 is the lowest, smaller numbers are higher; out of cushim_context_priority_range() it is clamped
 * silently. The context is made current for the call. The caller owns *out_stream, which holds the context.
 *   CUDA_ERROR_INVALID_CONTEXT  context is NULL
 *   CUDA_ERROR_OUT_OF_MEMORY    of the host, or the driver's
 */
CUSHIM_API CUresult cushim_stream_create(struct cushim_context *context, unsigned flags, int priority,
                                         struct cushim_stream **out_stream);

/*
 * Takes over a stream of the driver's: from now on it is *out_stream's to destroy. `context` is where it was made, and
 * is held; NULL if that is somebody else's care. On failure the stream stays the caller's. That the handle is a
 * stream's cannot be checked: the driver crashes on what is none.
 *   CUDA_ERROR_INVALID_HANDLE  handle is 0, CU_STREAM_LEGACY or CU_STREAM_PER_THREAD, which nobody can own
 */
CUSHIM_API CUresult cushim_stream_adopt(CUstream handle, struct cushim_context *context,
                                        struct cushim_stream **out_stream);

/*
 * A stream that is somebody else's, who keeps it alive; never destroyed by this. `context` as above. Also for the
 * special streams 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD (CUDA 7.0), with a NULL context: each call then means
 * the special stream of the calling thread's current context; CUDA_ERROR_INVALID_CONTEXT if there is none.
 *   CUDA_ERROR_INVALID_CONTEXT  a special stream with a context
 *   CUDA_ERROR_NOT_SUPPORTED    CU_STREAM_LEGACY or CU_STREAM_PER_THREAD on a driver that takes them for an address
 */
CUSHIM_API CUresult cushim_stream_borrow(CUstream handle, struct cushim_context *context,
                                         struct cushim_stream **out_stream);

/*
 * Gives the driver's handle to the caller, who owns it if the stream did, and ends the object: *stream becomes NULL.
 *   CUDA_ERROR_ILLEGAL_STATE  a capture that was begun with cushim_capture_begin() is open, or a body of
 *                             cushim_stream_run() or cushim_stream_enqueue() runs with the stream; nothing changed
 */
CUSHIM_API CUresult cushim_stream_release(struct cushim_stream **stream, CUstream *out_handle);

/*
 * Ends the object and sets *stream to NULL; NULL, or a pointer to NULL, is nothing to do. A stream that it owns is
 * destroyed: the call does not wait, work and callbacks that are pending are still done. A capture that is open on it
 * ends, and its graph is lost (the driver's rule; cushim_capture_end() then says so, but must not be called by another
 * thread in the same moment); one that the driver's functions began on a stream that it does not own goes on. The code
 * is the driver's; the object is gone whatever it says. A body of cushim_stream_run() or cushim_stream_enqueue() may
 * destroy its stream: the driver's stream is then destroyed after the body.
 */
CUSHIM_API CUresult cushim_stream_destroy(struct cushim_stream **stream);

/*
 * Waits for all work, then destroys as above, also if waiting failed. Returns the first error. A capture that
 * cushim_capture_begin() began is ended before, and CUDA_ERROR_STREAM_CAPTURE_INVALIDATED returned; one that the
 * driver's functions began is invalidated by the wait. Captures of other streams are not invalidated.
 */
CUSHIM_API CUresult cushim_stream_close(struct cushim_stream **stream);

/* The driver's handle, for slots of the table; 0 for NULL. It stays the stream's. */
CUSHIM_API CUstream cushim_stream_handle(const struct cushim_stream *stream);

/* ---- Questions that never invalidate a capture ---- */

/*
 * The driver invalidates a capture when it is asked for flags, id or device of the capturing stream (observed with
 * driver 580). A stream that was made here remembers them, and answers without a driver call. A borrowed or adopted one
 * asks the driver once, at the first question, but never while the stream is capturing:
 *   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  not yet known, and the stream is capturing: ask before or after
 * (A capture that another thread begins in the same moment is the caller's care.) A special stream asks each time.
 */
CUSHIM_API CUresult cushim_stream_flags(struct cushim_stream *stream, unsigned *out_flags);
/* After clamping. The driver is asked each time, because an attribute can change it; that invalidates no capture. */
CUSHIM_API CUresult cushim_stream_priority(struct cushim_stream *stream, int *out_priority);
/* Of a borrowed or adopted stream without a context: needs CUDA 9.2. */
CUSHIM_API CUresult cushim_stream_device(struct cushim_stream *stream, CUdevice *out_device);
/* Unique in the life of the process, unlike handles, which the driver uses again at once. Needs CUDA 12.0. */
CUSHIM_API CUresult cushim_stream_id(struct cushim_stream *stream, unsigned long long *out_id);
/*
 * The driver's context, and the green context or NULL; one of the places may be NULL. Of a green context's stream,
 * *out_context is the device's primary context. Of a borrowed or adopted stream without a context: needs CUDA 9.2.
 */
CUSHIM_API CUresult cushim_stream_driver_context(struct cushim_stream *stream, CUcontext *out_context,
                                                 CUgreenCtx *out_green);
/* The context that it was made or wrapped with; NULL for none. It stays the stream's. */
CUSHIM_API struct cushim_context *cushim_stream_context(const struct cushim_stream *stream);
/* Whether destroying the object destroys the driver's stream. */
CUSHIM_API bool cushim_stream_is_owned(const struct cushim_stream *stream);

/* ---- Waiting ---- */

/*
 * CUDA_SUCCESS if all work is done, CUDA_ERROR_NOT_READY if not; else the error of the work. It invalidates a capture
 * of this stream, captures by CU_STREAM_CAPTURE_MODE_GLOBAL of other threads, and by GLOBAL or THREAD_LOCAL of this one
 * (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; the whole table: tests/conformance/CAPTURE.md in cushim's sources).
 */
CUSHIM_API CUresult cushim_stream_query(struct cushim_stream *stream);

/* Waits until all work is done; the error of the work. With captures as cushim_stream_query(). */
CUSHIM_API CUresult cushim_stream_synchronize(struct cushim_stream *stream);

/*
 * What is enqueued from now on waits for what the event stands for now; of any context or device. `flags`: 0, or
 * CU_EVENT_WAIT_EXTERNAL in a capture (CUDA 11.1; CUDA_ERROR_NOT_SUPPORTED below that). An event that was never
 * recorded is no wait. One that was recorded in a capture brings this stream into that capture, which must be joined
 * before its end.
 *   CUDA_ERROR_STREAM_CAPTURE_MERGE       the stream is in another capture than the event
 *   CUDA_ERROR_ILLEGAL_STATE              CU_EVENT_WAIT_EXTERNAL without a capture
 *   CUDA_ERROR_STREAM_CAPTURE_ISOLATION   in a capture, an event that was recorded outside it: invalidates the capture
 */
CUSHIM_API CUresult cushim_stream_wait_event(struct cushim_stream *stream, struct cushim_event *event, unsigned flags);

/*
 * Calls body(stream, user), then waits until all work is done, whatever the body returned: so memory that the work
 * borrows may be freed after it. Returns the error of the wait; if the wait succeeded, the error of the body. So an
 * error that the body did not return means that the wait failed. The wait invalidates no capture of another stream.
 *
 * The body must return: after a longjmp or an exception out of it, nothing is waited for. It must leave the current
 * context as it found it. It may destroy the stream.
 *   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  the stream was capturing: the body was not called, the capture goes on. Or
 *                                          the body left a capture open, which was ended; the work before it was
 *                                          waited for. Or the body brought the stream into a capture of another
 *                                          stream: that capture is invalidated, and nothing was waited for
 */
CUSHIM_API CUresult cushim_stream_run(struct cushim_stream *stream, cushim_stream_body body, void *user);

/* ---- Functions of the host ---- */

/*
 * In both functions below `release` (NULL for none) is called with `user` exactly once, whatever happens and whatever
 * they return: after the function ran; where it will not run, because the work before it failed; where it was refused,
 * before the call returns. It runs on whichever thread comes to it, and like the function it must make no CUDA call and
 * wait for nothing that the GPU does.
 */

/*
 * Calls fn(user) when all work that is in the stream is done; work behind it waits. Not called after an error of the
 * context. In a capture it becomes a node, called at each launch; `release` then runs when the graph and all its
 * executables and copies are gone (CUDA 11.3; below that, a release function in a capture is CUDA_ERROR_NOT_SUPPORTED).
 * The graph of a capture that fails is gone when the capture ends. No other thread may end the capture, or destroy its
 * graph, during this call.
 *   CUDA_ERROR_INVALID_VALUE  fn is NULL
 */
CUSHIM_API CUresult cushim_stream_launch_host(struct cushim_stream *stream, CUhostFn fn, void *user,
                                              void (*release)(void *user));

/*
 * Calls fn(handle, status, user) once when all work that is in the stream is done, also after an error, which is the
 * status. Not for captures: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and the capture is not invalidated.
 * (cuStreamAddCallback)
 *   CUDA_ERROR_INVALID_VALUE  fn is NULL
 */
CUSHIM_API CUresult cushim_stream_add_callback(struct cushim_stream *stream, CUstreamCallback fn, void *user,
                                               void (*release)(void *user));

/* ---- Attributes and memory ---- */

/* CUDA 11.0. The value's size is that of the newest CUDA (64 bytes); older drivers use its first 32. */
CUSHIM_API CUresult cushim_stream_get_attribute(struct cushim_stream *stream, CUstreamAttrID attribute,
                                                CUlaunchAttributeValue *out_value);
CUSHIM_API CUresult cushim_stream_set_attribute(struct cushim_stream *stream, CUstreamAttrID attribute,
                                                const CUlaunchAttributeValue *value);
/* All attributes; both streams of one context. CUDA 11.0. */
CUSHIM_API CUresult cushim_stream_copy_attributes(struct cushim_stream *to, struct cushim_stream *from);

/*
 * Managed memory: which streams may use `length` bytes at `address` (0: all of that allocation; the driver takes
 * nothing else but its whole size). `flags`: CU_MEM_ATTACH_GLOBAL, _HOST or _SINGLE. In the order of the stream.
 *   CUDA_ERROR_INVALID_VALUE  flags are none of these (the driver would crash on 0), a part of an allocation, or
 *                             _SINGLE on a special stream
 */
CUSHIM_API CUresult cushim_stream_attach_memory(struct cushim_stream *stream, CUdeviceptr address, size_t length,
                                                unsigned flags);

/*
 * Work behind it waits until the 4 or 8 bytes at `address` (of the device's memory or mapped host memory, aligned to
 * their size) compare with `value` as `flags` say: CU_STREAM_WAIT_VALUE_GEQ (0; cyclic), _EQ, _AND, _NOR, and
 * CU_STREAM_WAIT_VALUE_FLUSH. Needs CUDA 11.7; below that CUDA 8.0 (9.0 for 64 bits) and a kernel module that allows
 * it.
 */
CUSHIM_API CUresult cushim_stream_wait_value32(struct cushim_stream *stream, CUdeviceptr address, cuuint32_t value,
                                               unsigned flags);
CUSHIM_API CUresult cushim_stream_wait_value64(struct cushim_stream *stream, CUdeviceptr address, cuuint64_t value,
                                               unsigned flags);
/* Writes when the work before is done. `flags`: 0, or CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER. Needs as above. */
CUSHIM_API CUresult cushim_stream_write_value32(struct cushim_stream *stream, CUdeviceptr address, cuuint32_t value,
                                                unsigned flags);
CUSHIM_API CUresult cushim_stream_write_value64(struct cushim_stream *stream, CUdeviceptr address, cuuint64_t value,
                                                unsigned flags);
/* Several waits and writes at once, in their order; 1 to 255 of them (observed with driver 580). The array is read
 * during the call. */
CUSHIM_API CUresult cushim_stream_batch_memory_ops(struct cushim_stream *stream, unsigned count,
                                                   const CUstreamBatchMemOpParams *ops, unsigned flags);

#ifdef __cplusplus
}
#endif

#endif
