/* SPDX-License-Identifier: MIT */
/*
 * completion.h - know when the GPU is done: by asking, waiting, a descriptor in an event loop, or a function.
 *
 * A completion stands for all work that was in a stream when it was made, and has that work's status. It fires on every
 * driver, whatever happens to the work (but for a notification that was captured: see there): also when a kernel faults
 * before or after, when the stream is destroyed, or the context (the driver then waits for the work, and the completion
 * has fired when it returns; observed with driver 580). No code of the program's runs on the driver's threads, unless a
 * function here says so and was called.
 *
 * The general rules stand in context.h. Every function may be called from any thread; only giving a completion up
 * (detach, destroy) must be the last thing done with it, or with a dispatcher. Firing allocates nothing, and takes no
 * lock on 64-bit Linux; elsewhere a short one of its own. Up to 1,048,576
 * completions may be outstanding, of at most 128 bytes each; their memory is used again, and not given back.
 *
 * CUDA does not survive a fork(): in the child, a completion from before that has not fired is
 * CUDA_ERROR_NOT_INITIALIZED to ask or to wait for, and can be destroyed; so is a dispatcher from before, to run.
 *
 * Waiting, asking, and running a dispatcher are not cancellation points: a thread that is cancelled there
 * (pthread_cancel) goes on until the call returns. Give a wait a deadline if it must end sooner. Functions that a
 * dispatcher calls must return: a thread that ends in one, also by cancellation, loses the others that were due.
 * Asynchronous cancellation (PTHREAD_CANCEL_ASYNCHRONOUS) is not supported.
 *
 * The common codes stand in context.h; CUDA_ERROR_OUT_OF_MEMORY also says that too many are outstanding.
 */
#ifndef CUSHIM_COMPLETION_H
#define CUSHIM_COMPLETION_H

#include <stdint.h>

#include "cushim/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cushim_completion;
struct cushim_dispatcher;

/* What an event loop can wait for: a file descriptor for poll() and its kin, or on Windows the HANDLE of an event. */
#if defined(_WIN32)
typedef void *cushim_descriptor;
#else
typedef int cushim_descriptor;
#endif

/* ---- Making ---- */

/*
 * Fires when all work that is in the stream is done, with its status. Of a context that already has a sticky error it
 * has fired at once, with the context's error. The caller owns *out_completion.
 *   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  the stream is capturing; the capture goes on. (One that another thread
 *                                          begins on this stream during the call is the caller's care, and ends.)
 */
CUSHIM_API CUresult cushim_stream_completion(struct cushim_stream *stream, struct cushim_completion **out_completion);

/*
 * The same, but it may also be made in a capture: then it fires at each launch of the graph, when the launch comes to
 * this point, and counts. In a capture it needs CUDA 11.3, it tells no status but success, and it does not fire in a
 * launch where work before it fails. It may be given up before the graph is.
 */
CUSHIM_API CUresult cushim_stream_capturable_completion(struct cushim_stream *stream,
                                                        struct cushim_completion **out_completion);

/*
 * Calls body(stream, user) to enqueue work, and gives a completion for it. release(user) (NULL for none) is called
 * once, whatever happens and whatever is returned, and never before the GPU is done with all that the body enqueued,
 * also if the body fails half-way. Nothing is called from the driver's thread while the caller has the completion:
 * `release` runs in the thread that first learns that it fired, in cushim_completion_poll(), _status(), _wait(),
 * _detach() or _destroy(), or in cushim_dispatcher_run() behind the function of cushim_completion_set_callback(). With
 * nobody left to learn it (given up before it fired, out_completion NULL, or an error returned) it runs on the driver's
 * thread, and there must make no CUDA call and wait for nothing.
 *
 * The body must return: after a longjmp or an exception out of it, nothing is released. It must leave the current
 * context as it found it. It may destroy the stream.
 *   the body's own error
 *   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  the stream is capturing: the body was not called, the capture goes on. Or
 *                                          the body left a capture open, which was ended. Or the body brought the
 *                                          stream into a capture of another stream: that capture is invalidated, and
 *                                          `release` is called after it has ended, by the first later call of this
 *                                          function or of cushim_stream_completion() (for a special stream: on this
 *                                          thread, with this context current), or on the driver's thread after that
 *   CUDA_ERROR_OUT_OF_MEMORY               the body was not called; or as the next
 *   others                                 the driver takes no callback: the work was waited for, and released
 */
CUSHIM_API CUresult cushim_stream_enqueue(struct cushim_stream *stream, cushim_stream_body body, void *user,
                                          void (*release)(void *user), struct cushim_completion **out_completion);

/* ---- Asking and waiting ---- */

/* CUDA_ERROR_NOT_READY until it has fired; then the status of the work, as often as it is asked. */
CUSHIM_API CUresult cushim_completion_poll(struct cushim_completion *completion);

/* The same with the answer apart: CUDA_SUCCESS and the status of the work in *out_status, or CUDA_ERROR_NOT_READY. */
CUSHIM_API CUresult cushim_completion_status(struct cushim_completion *completion, CUresult *out_status);

/* Now, in nanoseconds of a clock that only goes forward: what deadlines are made of. */
CUSHIM_API uint64_t cushim_time_ns(void);

#define CUSHIM_FOREVER UINT64_MAX

/*
 * Waits until it has fired, and returns the status of the work. It returns by its deadline (a time of cushim_time_ns(),
 * or CUSHIM_FOREVER), whatever becomes of the work. Makes no CUDA call, so it invalidates no capture.
 *   CUDA_ERROR_TIMEOUT  the deadline has passed. One in the past only looks
 */
CUSHIM_API CUresult cushim_completion_wait(struct cushim_completion *completion, uint64_t deadline);

/*
 * A descriptor that becomes readable (on Windows: an event that is set) when it has fired, and stays so; made when
 * first asked for. It stays the completion's: do not read from or close it, and take it out of the loop before the
 * completion is given up.
 *   CUDA_ERROR_OPERATING_SYSTEM  the system gives no more descriptors
 */
CUSHIM_API CUresult cushim_completion_descriptor(struct cushim_completion *completion,
                                                 cushim_descriptor *out_descriptor);

/* How often it has fired: 0 or 1, or as often as launched if it was captured. 0 for NULL. */
CUSHIM_API uint64_t cushim_completion_count(const struct cushim_completion *completion);

/* Sets a notification that has fired back, so that the next launch can be waited for. Does nothing to one that has not.
 * The count stays, and a function is called for each firing all the same. Somebody who waits meanwhile may miss the
 * firing that is set back. CUDA_ERROR_NOT_SUPPORTED: it was not captured, and fires once only. */
CUSHIM_API CUresult cushim_completion_reset(struct cushim_completion *completion);

/* ---- Functions ---- */

/*
 * Lets cushim_dispatcher_run() call fn(status, user) when it has fired (at each firing of a captured notification),
 * also if it has fired already. `release` (NULL for none) is called with `user` exactly once, whatever happens: after
 * the function, or when the function will not be called any more; in the thread that runs the dispatcher, or gives the
 * completion up. If the dispatcher is destroyed before it fires, that is the driver's thread; of a captured
 * notification that was given up, whichever ends the graph, perhaps the driver's, too: there it must make no CUDA call.
 * One function for each completion.
 *   CUDA_ERROR_ILLEGAL_STATE  it has a function already
 */
CUSHIM_API CUresult cushim_completion_set_callback(struct cushim_completion *completion,
                                                   struct cushim_dispatcher *dispatcher,
                                                   void (*fn)(CUresult status, void *user), void *user,
                                                   void (*release)(void *user));

/*
 * The same, but the function and `release` are called by the driver's thread at the very moment (by this call, if it
 * has fired already). There they must make no CUDA call, take no lock that is held around a CUDA call anywhere, and
 * wait for nothing that the GPU does: the driver would stand still. So is the release function of
 * cushim_stream_enqueue() then.
 */
CUSHIM_API CUresult cushim_completion_set_inline_callback(struct cushim_completion *completion,
                                                          void (*fn)(CUresult status, void *user), void *user,
                                                          void (*release)(void *user));

/* ---- Giving up ---- */

/* Forgets it: GPU work goes on, and a function is still called. *completion becomes NULL; NULL, or a pointer to NULL,
 * is nothing to do. */
CUSHIM_API void cushim_completion_detach(struct cushim_completion **completion);

/* The same, but a function that was not yet called is not called any more (only released). Does not
 * wait: one that another thread is calling at this moment goes on, and is released by that thread. */
CUSHIM_API void cushim_completion_destroy(struct cushim_completion **completion);

/* ---- Dispatchers ---- */

/*
 * What a loop runs: it collects the functions that are due, and has one descriptor for all. The caller owns
 * *out_dispatcher.
 *   CUDA_ERROR_OPERATING_SYSTEM  the system gives no more descriptors
 */
CUSHIM_API CUresult cushim_dispatcher_create(struct cushim_dispatcher **out_dispatcher);

/* Readable (set) while something is due. It stays the dispatcher's. */
CUSHIM_API CUresult cushim_dispatcher_descriptor(struct cushim_dispatcher *dispatcher,
                                                 cushim_descriptor *out_descriptor);

/* Calls the functions that are due, on this thread, in the order in which they became so. They may do anything, destroy
 * the dispatcher too. *out_count (NULL for none) is how many it called. Several threads may run one dispatcher. */
CUSHIM_API CUresult cushim_dispatcher_run(struct cushim_dispatcher *dispatcher, size_t *out_count);

/*
 * Ends it and sets *dispatcher to NULL; NULL, or a pointer to NULL, is nothing to do. Functions that are due are not
 * called any more, but released; those of completions that have not fired are released when the completion is given up,
 * or, on the driver's thread, when it fires.
 * The descriptor is closed once the last completion with a function for it has fired.
 */
CUSHIM_API void cushim_dispatcher_destroy(struct cushim_dispatcher **dispatcher);

#ifdef __cplusplus
}
#endif

#endif
