/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Completions: a program learns that the GPU is done by polling, by waiting, through a descriptor in an event loop, or
 * through a callback.
 *
 * @code
 * // Calls step() every 5 ms until the work that is in the stream is done; returns the status of the work.
 * CUresult step_until_done(struct cushim_stream *stream, void (*step)(void *user), void *user)
 * {
 *     struct cushim_completion *completion = NULL;
 *     CUresult status = CUDA_SUCCESS;
 *     CUresult result = cushim_completion_create(stream, 0, &completion);
 *     while (result == CUDA_SUCCESS) {
 *         result = cushim_completion_wait(completion, cushim_clock_ns() + 5000000, &status);
 *         if (result != CUDA_ERROR_TIMEOUT)
 *             break;
 *         step(user);
 *         result = CUDA_SUCCESS;
 *     }
 *     cushim_completion_destroy(&completion); // in any state; the GPU work continues
 *     return result != CUDA_SUCCESS ? result : status;
 * }
 * @endcode
 *
 * A completion represents all work that is in a stream when the completion is created. It fires when that work is done,
 * and then has the status of the work. The general rules stand in context.h. In addition:
 *
 * **Two kinds.** Without flags, a completion is *polled*. It costs little and affects nothing else, but fires only in a
 * call that polls it or waits for it (**Only callbacks** below has the exceptions). A *notifying* completion
 * (::CUSHIM_COMPLETION_NOTIFYING) is fired by a callback of the driver. Only a notifying completion can have a
 * descriptor or a callback.
 *
 * **When it fires.** A completion fires on every driver, also if a kernel faults before or after the work, and if the
 * stream or its context is destroyed. A polled completion does so in a call that polls it or waits for it. A captured
 * completion does not fire in a launch in which work before it fails.
 *
 * **Status.** If a kernel faults after the work and before the completion fires, the status is the error of the fault:
 * the driver returns it for everything in the context. If the context ends before a polled completion fires (it is
 * destroyed, reset, or released for the last time, also through cushim), its status is CUDA_ERROR_CONTEXT_IS_DESTROYED.
 * While a context ends, no other thread may be in a call with a polled completion of that context. The driver calls
 * the callbacks of notifying completions before a context ends, with the status of their work (observed with driver
 * 580).
 *
 * **Notification streams.** The callbacks of a stream's notifying completions run on a second stream of the driver, as
 * src/README.md describes with its costs and limits. So cuStreamSynchronize() of the program's stream can return before
 * the callback runs. The callbacks of one cushim_stream come in the order of its work, if the completions were created
 * one after another. Creating a notifying completion can wait for work: of other streams if more than 16 busy streams
 * of the context have such completions, and of this stream if 56 of its completions have not fired (observed with
 * driver 580 on an H200). So the work of a stream must not wait for a thread that creates more of them for this stream.
 *
 * **Only callbacks.** In special streams (0, legacy and per-thread), in streams of green contexts, on drivers before
 * CUDA 12.0, and if a needed function is hidden, polled completions are driven by a callback on the stream itself, too,
 * but offer no descriptor and take no callback.
 *
 * **Threads.** Any thread may use a completion, but not while another thread detaches or destroys it. No other thread
 * may begin a capture of the stream while a completion is created. A function runs code of the program on a thread of
 * the driver only if its comment states this. On such a thread, the program must make no CUDA call, must not
 * take a lock that any thread holds during a CUDA call, and must not wait for work of the GPU: the driver would block.
 *
 * **CUDA calls.** Functions that create completions, and all functions of a polled completion, make CUDA calls. These
 * invalidate no capture. Other functions make none, and can also be called on a thread of the driver.
 *
 * **fork().** In the child, completions from before the fork() do not fire. CUDA_ERROR_NOT_INITIALIZED is returned by
 * functions that poll, wait for, or return the descriptor of a completion from before the fork() that has not fired,
 * and by cushim_dispatcher_run() of a dispatcher from before the fork(). Both can be destroyed.
 *
 * **Cancellation.** Polling, waiting and running a dispatcher are not cancellation points: a thread that is cancelled
 * there (pthread_cancel()) goes on until the call returns. A wait that must end sooner needs a deadline. A callback
 * that a dispatcher runs must return: if the thread ends in it, for example because it is cancelled, the other
 * callbacks that were due are lost. Asynchronous cancellation (PTHREAD_CANCEL_ASYNCHRONOUS) is not supported.
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

/** A descriptor for an event loop: a file descriptor for poll() and similar functions; on Windows, an event HANDLE. */
#if defined(_WIN32)
typedef void *cushim_descriptor;
#else
typedef int cushim_descriptor;
#endif

/** @name Creating */
/** @{ */

/** A flag of cushim_completion_create(): the completion can have a descriptor and a callback. */
#define CUSHIM_COMPLETION_NOTIFYING 1u

/**
 * Creates a completion for all work that is in the stream. If the context has a sticky error, the completion has fired
 * when the call returns, with that error.
 *
 * @param stream          The stream.
 * @param flags           0 for a polled completion, or ::CUSHIM_COMPLETION_NOTIFYING.
 * @param out_completion  Receives the completion, which the caller owns.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  The stream is capturing. The capture goes on.
 * @retval CUDA_ERROR_INVALID_VALUE               The flags are unknown.
 * @retval CUDA_ERROR_CONTEXT_IS_DESTROYED        The context of the stream was destroyed. cushim detects this only if
 *                                                the stream has had completions; otherwise the driver may crash.
 */
CUSHIM_API CUresult cushim_completion_create(struct cushim_stream *stream, unsigned flags,
                                             struct cushim_completion **out_completion);

/**
 * Creates a captured completion: a part of the graph that the stream is capturing. It fires at each launch of the
 * graph, when the launch reaches this point, and counts its firings. It is notifying. Its status is always
 * CUDA_SUCCESS. It may be destroyed before the graph. It needs CUDA 11.3; CUDA_ERROR_NOT_SUPPORTED below that.
 *
 * @param stream          The stream.
 * @param out_completion  Receives the completion, which the caller owns.
 * @retval CUDA_ERROR_ILLEGAL_STATE  The stream is not capturing.
 */
CUSHIM_API CUresult cushim_completion_create_captured(struct cushim_stream *stream,
                                                      struct cushim_completion **out_completion);

/**
 * Calls body(stream, user) to enqueue work, and creates a notifying completion for that work.
 *
 * The call takes ownership of `user`: destroy_user(user) is called exactly once, whatever the call returns, and never
 * before the GPU is done with everything that the body enqueued. This also holds if the body enqueues work and then
 * fails. destroy_user is not called with CUDA_ERROR_STREAM_CAPTURE_UNJOINED, in the child of a fork(), or if a longjmp
 * or an exception leaves the body.
 *
 * While the caller owns the completion, `destroy_user` runs on a thread of the program that observes that the
 * completion has fired: in cushim_completion_poll(), a wait, cushim_completion_detach() or cushim_completion_destroy(),
 * or in cushim_dispatcher_run() after the callback. If the caller does not own the completion when it fires (it was
 * detached or destroyed, out_completion is NULL, or the call returned an error), `destroy_user` runs on a thread of the
 * driver.
 *
 * The body must leave the current context as it found it, and may destroy the stream.
 *
 * @param stream          The stream.
 * @param body            The function that enqueues work.
 * @param user            Passed to both functions.
 * @param destroy_user    Destroys user. May be NULL.
 * @param out_completion  Receives the completion, which the caller owns. May be NULL.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  The stream is capturing: the body was not called, and the capture goes
 *                                                on. Or the body left a capture open, which was ended.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNJOINED     The body left the stream in a capture of another stream, which is
 *                                                invalidated; or, for the legacy stream, a blocking stream began to
 *                                                capture, perhaps in another thread. The work can neither be recorded
 *                                                nor waited for, and `destroy_user` is not called.
 * @retval CUDA_ERROR_OUT_OF_MEMORY               The body was not called, or the driver refused the completion.
 * @return The error of the body. Another error means that the driver refused the completion: the work was waited for,
 *         and then `destroy_user` was called.
 */
CUSHIM_API CUresult cushim_stream_enqueue(struct cushim_stream *stream, cushim_stream_body body, void *user,
                                          void (*destroy_user)(void *user), struct cushim_completion **out_completion);

/** @} */

/**
 * @name Polling and waiting
 * The functions return CUDA_SUCCESS if the completion has fired, and write the status of its work to *out_status, at
 * every call. out_status may be NULL.
 */
/** @{ */

/**
 * Returns whether a completion has fired.
 *
 * @param completion  The completion.
 * @param out_status  Receives the status of the work. May be NULL.
 * @retval CUDA_SUCCESS                It has fired, whether its work succeeded or failed.
 * @retval CUDA_ERROR_NOT_READY        It has not fired.
 * @retval CUDA_ERROR_INVALID_HANDLE   The completion is NULL.
 * @retval CUDA_ERROR_NOT_INITIALIZED  It is from before a fork() and has not fired.
 */
CUSHIM_API CUresult cushim_completion_poll(struct cushim_completion *completion, CUresult *out_status);

/** Returns the time in nanoseconds of a monotonic clock, for deadlines. */
CUSHIM_API uint64_t cushim_clock_ns(void);

/** A deadline that never passes. */
#define CUSHIM_FOREVER UINT64_MAX

/**
 * Sets for how long a wait for a polled completion queries the driver without a pause, and returns the previous value.
 * At first it is 50,000 ns. The wait keeps a processor busy during this time. There is one value for each copy of
 * cushim. Any thread may call this.
 *
 * @param nanoseconds  The time.
 */
CUSHIM_API uint64_t cushim_completion_set_spin_ns(uint64_t nanoseconds);

/**
 * Waits until a completion has fired or the deadline has passed. A wait for a polled completion queries the driver,
 * first without a pause (cushim_completion_set_spin_ns()), then with sleeps in between. A sleep is a sixteenth of the
 * time waited so far, but at most 100 us; in a long wait it is a 64th, but at most 2 ms. On an H200 this notices the
 * end of the work as early as a callback does. A wait for a notifying completion sleeps until the callback. A signal
 * does not end a wait.
 *
 * @param completion  The completion.
 * @param deadline    A time of cushim_clock_ns(), or CUSHIM_FOREVER. With a time in the past the call does not wait.
 * @param out_status  Receives the status of the work. May be NULL.
 * @retval CUDA_SUCCESS        It has fired.
 * @retval CUDA_ERROR_TIMEOUT  The deadline has passed, and it has not fired.
 */
CUSHIM_API CUresult cushim_completion_wait(struct cushim_completion *completion, uint64_t deadline,
                                           CUresult *out_status);

/**
 * Waits until one of several completions has fired. NULL in the array is ignored, so that a program can destroy the
 * completions in its array one after the other and wait for the rest.
 *
 * The call checks all completions in turn, and pauses in between like a wait for a polled completion, whatever their
 * kind. One pass over 10,000 polled completions takes about 3 ms. For many completions, use notifying ones and a
 * dispatcher, whose cost does not depend on how many have not fired.
 *
 * @param completions  The array.
 * @param count        Its length.
 * @param deadline     A time of cushim_clock_ns(), or CUSHIM_FOREVER.
 * @param out_index    Receives the index of a completion that has fired. If several had fired before the call, it is
 *                     the first of them in the array. cushim_completion_poll() returns its status.
 * @retval CUDA_SUCCESS              One has fired.
 * @retval CUDA_ERROR_TIMEOUT        The deadline has passed, and none has fired.
 * @retval CUDA_ERROR_INVALID_VALUE  The array is NULL or contains no completion.
 */
CUSHIM_API CUresult cushim_completion_wait_any(struct cushim_completion *const *completions, size_t count,
                                               uint64_t deadline, size_t *out_index);

/**
 * Waits until all of several completions have fired. NULL in the array is ignored.
 *
 * @param completions  The array. May be NULL if count is 0.
 * @param count        Its length.
 * @param deadline     A time of cushim_clock_ns(), or CUSHIM_FOREVER.
 * @param out_status   Receives CUDA_SUCCESS, or the status of the first completion in the array whose work failed. May
 *                     be NULL.
 * @retval CUDA_SUCCESS        All have fired.
 * @retval CUDA_ERROR_TIMEOUT  The deadline has passed, and not all have fired.
 */
CUSHIM_API CUresult cushim_completion_wait_all(struct cushim_completion *const *completions, size_t count,
                                               uint64_t deadline, CUresult *out_status);

/**
 * Returns how often a completion has fired: 0 or 1, or the number of firings of a captured completion. Returns 0 for
 * NULL.
 */
CUSHIM_API uint64_t cushim_completion_count(struct cushim_completion *completion);

/**
 * Resets a captured completion that has fired, so that the program can wait for the next launch. The call does nothing
 * if the completion has not fired. The count remains, and a callback is still called for each firing. A thread that
 * waits during the call can miss the firing that is reset.
 *
 * @param completion  The completion.
 * @retval CUDA_ERROR_NOT_SUPPORTED    The completion was not captured: it fires only once.
 * @retval CUDA_ERROR_NOT_INITIALIZED  The completion was created before a fork().
 */
CUSHIM_API CUresult cushim_completion_reset(struct cushim_completion *completion);

/** @} */

/**
 * @name Descriptors and callbacks
 * These functions return CUDA_ERROR_NOT_SUPPORTED if the completion is not notifying.
 */
/** @{ */

/**
 * Returns a descriptor that becomes readable (on Windows: an event that is set) when the completion has fired, and
 * remains so. The first call creates it.
 *
 * The completion keeps the ownership: the program must neither read from the descriptor nor close it, and must remove
 * it from its event loop before it detaches or destroys the completion.
 *
 * @param completion      The completion.
 * @param out_descriptor  Receives the descriptor.
 * @retval CUDA_ERROR_OPERATING_SYSTEM  The operating system provides no more descriptors.
 */
CUSHIM_API CUresult cushim_completion_get_descriptor(struct cushim_completion *completion,
                                                     cushim_descriptor *out_descriptor);

/**
 * Sets the callback of a completion: cushim_dispatcher_run() calls fn(status, user) after the completion has fired, or
 * after each firing of a captured completion. The completion may already have fired. A completion can have one
 * callback.
 *
 * The call takes ownership of `user`: destroy_user(user) is called exactly once, also if the call fails. It is called
 * after `fn`, or when `fn` will not be called any more, on the thread that runs the dispatcher or that detaches or
 * destroys the completion. In two cases it can run on a thread of the driver: if the dispatcher was destroyed before
 * the completion fires; and for a captured completion that was detached, when the graph is destroyed.
 *
 * @param completion    The completion.
 * @param dispatcher    The dispatcher that calls the function.
 * @param fn            The function.
 * @param user          Passed to both functions.
 * @param destroy_user  Destroys user. May be NULL.
 * @retval CUDA_ERROR_ILLEGAL_STATE  The completion already has a callback.
 * @retval CUDA_ERROR_INVALID_VALUE  fn is NULL.
 */
CUSHIM_API CUresult cushim_completion_set_callback(struct cushim_completion *completion,
                                                   struct cushim_dispatcher *dispatcher,
                                                   void (*fn)(CUresult status, void *user), void *user,
                                                   void (*destroy_user)(void *user));

/**
 * Sets the callback of a completion so that `fn` and `destroy_user` run immediately when the completion fires, on a
 * thread of the driver; or during this call, if the completion has fired before. `destroy_user` of
 * cushim_stream_enqueue() can then run there, too. In other respects the call does what
 * cushim_completion_set_callback() does.
 *
 * @param completion    The completion.
 * @param fn            The function.
 * @param user          Passed to both functions.
 * @param destroy_user  Destroys user. May be NULL.
 * @retval CUDA_ERROR_ILLEGAL_STATE  The completion already has a callback.
 * @retval CUDA_ERROR_INVALID_VALUE  fn is NULL.
 */
CUSHIM_API CUresult cushim_completion_set_inline_callback(struct cushim_completion *completion,
                                                          void (*fn)(CUresult status, void *user), void *user,
                                                          void (*destroy_user)(void *user));

/** @} */

/** @name Ending */
/** @{ */

/**
 * Drops the completion and sets *completion to NULL. The GPU work continues, and a callback that was set is still
 * called.
 */
CUSHIM_API void cushim_completion_detach(struct cushim_completion **completion);

/**
 * Drops the completion and sets *completion to NULL. The GPU work continues. A callback that was not yet called is not
 * called any more; its user data is destroyed. The call does not wait for a callback: if another thread is in the
 * callback at this moment, the callback continues, and that thread calls destroy_user.
 */
CUSHIM_API void cushim_completion_destroy(struct cushim_completion **completion);

/** @} */

/** @name Dispatchers */
/** @{ */

/**
 * Creates a dispatcher. It collects the callbacks that are due, has one descriptor for all of them, and runs them on a
 * thread of the program.
 *
 * @param out_dispatcher  Receives the dispatcher, which the caller owns.
 * @retval CUDA_ERROR_OPERATING_SYSTEM  The operating system provides no more descriptors.
 */
CUSHIM_API CUresult cushim_dispatcher_create(struct cushim_dispatcher **out_dispatcher);

/**
 * Returns a descriptor that is readable (on Windows: an event that is set) while a callback is due. The dispatcher
 * keeps the ownership.
 */
CUSHIM_API CUresult cushim_dispatcher_get_descriptor(struct cushim_dispatcher *dispatcher,
                                                     cushim_descriptor *out_descriptor);

/**
 * Waits until a callback is due or the deadline has passed, and calls the callbacks that are due, on this thread, in
 * the order in which they became due. A callback may do anything, even destroy the dispatcher. Several threads may run
 * one dispatcher.
 *
 * @param dispatcher  The dispatcher.
 * @param deadline    A time of cushim_clock_ns(), or CUSHIM_FOREVER. With a time in the past the call does not wait.
 * @param out_count   Receives the number of callbacks that were called: 0 if the deadline has passed. May be NULL.
 * @retval CUDA_ERROR_INVALID_HANDLE  The dispatcher is NULL, or a callback on another thread destroyed it.
 */
CUSHIM_API CUresult cushim_dispatcher_run(struct cushim_dispatcher *dispatcher, uint64_t deadline, size_t *out_count);

/**
 * Destroys the dispatcher and sets *dispatcher to NULL. Callbacks that are due are not called any more; their user data
 * is destroyed. The user data of the callback of a completion that has not fired is destroyed when the completion is
 * destroyed, or on a thread of the driver when it fires. The descriptor is closed when every completion with a callback
 * for this dispatcher has fired and has been detached or destroyed.
 */
CUSHIM_API void cushim_dispatcher_destroy(struct cushim_dispatcher **dispatcher);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
