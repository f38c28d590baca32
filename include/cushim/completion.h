/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Completions: a program learns that the GPU is done by polling, by waiting, through a descriptor in an event loop, or
 * through a callback.
 *
 * A completion represents all work that is in a stream when the completion is created. It fires when that work is done
 * and then has the status of the work. It fires on every driver, also if a kernel faults before or after the work, and
 * if the stream or its context is destroyed. Only a captured completion may never fire, see
 * cushim_stream_capturable_completion(). No code of the program runs on a thread of the driver unless the program calls
 * a function whose comment states this.
 *
 * The general rules stand in context.h. In addition:
 *
 * **Events and callbacks.** A completion records an event. It fires in the first call that finds the event done: a
 * poll, a wait, or any other function that the program calls with the completion. In the following cases cushim adds a
 * callback of the driver, which fires the completion from then on:
 * - The program asks for a descriptor, sets a callback, or adds the completion to a set.
 * - A wait takes longer than the spin budget.
 * - A completion of cushim_stream_enqueue() with a `release` function is detached or destroyed before its work is done.
 * - Its context ends through cushim, or the driver returns an error for its event.
 *
 * No event is recorded in the following cases, and a callback on the stream itself fires the completion: on drivers
 * before CUDA 12.0, or if a function that events need is hidden; for the special streams (0, legacy and per-thread) and
 * streams of green contexts; for cushim_stream_enqueue() without an out_completion; in the child of a fork() if the
 * parent had created completions; and if the driver or the host refuses the event.
 *
 * **Helper streams.** The callback for an event is added to a helper stream: a stream of cushim that waits for the
 * event. So cuStreamSynchronize() on the program's stream can return before the callback runs. The first completion in
 * a context creates four helper streams there, and can therefore wait like cushim_stream_create();
 * cushim_stream_enqueue() creates them before it calls the body. Later completions create only helper streams that are
 * missing. Each copy of cushim has at most 32 of them. The driver frees them with their contexts. A helper stream
 * serves one stream at a time. If all are busy:
 * - A wait queries the event every 0.5 ms.
 * - Other functions add the callback to the stream of the work, where it also waits for newer work. No other thread may
 *   begin a capture of that stream during the call.
 * - If that stream was destroyed or is in a capture, they add the callback to a busy helper stream, where it also waits
 *   for work of other streams.
 * - If the context has no helper stream, or the driver refuses the callback, they wait for the work.
 *
 * The callbacks for one cushim_stream are called in the order of its work if the program asks for them in that order,
 * has not found the completions fired before, and does not capture or destroy the stream in between.
 *
 * **CUDA calls.** Functions that take a completion can make CUDA calls until it has fired. These calls do not
 * invalidate any capture. The functions must not be called where CUDA calls are forbidden, for example in a host
 * function, unless the completion has fired.
 *
 * **The end of a context.** When a context ends through cushim, its completions fire with the status of their work
 * before the call returns. A primary context that others retain lives on, and then a callback fires each of them. If
 * the context is destroyed or reset with functions of the driver (cuCtxDestroy, cuDevicePrimaryCtxReset), a completion
 * that has not fired has the status CUDA_ERROR_CONTEXT_IS_DESTROYED, unless a callback fires it: the driver waits for
 * the work and for its callbacks before the context ends (observed with driver 580). During such a call of the driver
 * no other thread may be in a call with a completion of that context.
 *
 * **Faults.** If a kernel faults after the work of a completion and before a call or a callback has fired it, its
 * status is the error of the fault: the driver returns that error for every event.
 *
 * **Cost.** Firing allocates no memory, and takes no lock of cushim on 64-bit Linux (a short one on other systems).
 * Creating a completion allocates no memory while a dropped completion of the same context can be reused. A completion
 * keeps its event until its context ends. Up to 1,048,576 completions can exist at a time, with at most 128 bytes each;
 * the memory is reused, and not returned to the system. CUDA_ERROR_OUT_OF_MEMORY also means that too many completions
 * exist.
 *
 * **fork().** CUDA does not work in the child of a fork(). There, CUDA_ERROR_NOT_INITIALIZED is returned by functions
 * that poll, wait for, or return the descriptor of a completion that was created before the fork() and has not fired,
 * and by cushim_dispatcher_run() of a dispatcher from before the fork(). Such a completion can be destroyed.
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
struct cushim_completion_set;
struct cushim_dispatcher;

/** A descriptor for an event loop: a file descriptor for poll() and similar functions; on Windows, an event HANDLE. */
#if defined(_WIN32)
typedef void *cushim_descriptor;
#else
typedef int cushim_descriptor;
#endif

/** @name Creating */
/** @{ */

/**
 * Creates a completion for all work that is in the stream. The first call in a context can wait for all work of the
 * context, see "Helper streams" above. If the context already has a sticky error, the completion has fired when the
 * call returns, with that error.
 *
 * @param stream          The stream.
 * @param out_completion  Receives the completion, which the caller owns.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  The stream is capturing. The capture goes on. During the call no other
 *                                                thread may begin a capture of the stream: that capture would end.
 */
CUSHIM_API CUresult cushim_stream_completion(struct cushim_stream *stream, struct cushim_completion **out_completion);

/**
 * Creates a completion, also in a capture. Outside a capture, the function does what cushim_stream_completion() does.
 *
 * A completion that is created in a capture (a captured completion) becomes a part of the graph. It fires at each
 * launch of the graph, when the launch reaches this point, and counts its firings. Its status is always CUDA_SUCCESS,
 * and it does not fire in a launch in which work before it fails. It may be destroyed before the graph. It needs CUDA
 * 11.3; CUDA_ERROR_NOT_SUPPORTED below that.
 *
 * @param stream          The stream.
 * @param out_completion  Receives the completion, which the caller owns.
 */
CUSHIM_API CUresult cushim_stream_capturable_completion(struct cushim_stream *stream,
                                                        struct cushim_completion **out_completion);

/**
 * Calls body(stream, user) to enqueue work, and creates a completion for that work.
 *
 * The call takes ownership of `user`: release(user) is called exactly once, whatever the call returns, and never before
 * the GPU is done with all that the body enqueued, also if the body fails after it enqueued something.
 *
 * While the caller owns the completion, `release` is not called on a thread of the driver. It runs on the thread that
 * first observes that the completion has fired: in cushim_completion_poll(), cushim_completion_status(), a wait,
 * cushim_completion_detach() or cushim_completion_destroy(), or in cushim_dispatcher_run() after the function of
 * cushim_completion_set_callback(). In the child of a fork() it is never called. If the caller does not own the
 * completion any more when it fires (it was detached or destroyed, out_completion is NULL, or the call returned an
 * error), `release` runs on a thread of the driver. There it must make no CUDA call and must not wait for anything.
 *
 * The body must leave the current context as it found it, and may destroy the stream. If a longjmp or an exception
 * leaves the body, `release` is never called. If the call returns an error, the driver's stream of a borrowed stream
 * must exist until `release` was called.
 *
 * @param stream          The stream.
 * @param body            The function that enqueues work.
 * @param user            Passed to both functions.
 * @param release         Releases user. May be NULL.
 * @param out_completion  Receives the completion, which the caller owns. May be NULL.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  One of three cases. The stream is capturing: the body was not called,
 *                                                and the capture goes on. Or the body left a capture open, which was
 *                                                ended. Or the body brought the stream into a capture of another
 *                                                stream: that capture is invalidated, and `release` is called after it
 *                                                has ended, by the first later call of this function or of
 *                                                cushim_stream_completion() (for a special stream: a call on this
 *                                                thread with this context current, so not if the thread has ended), or
 *                                                afterwards on a thread of the driver.
 * @retval CUDA_ERROR_OUT_OF_MEMORY               The body was not called, or the driver refused the callback as below.
 * @return The error of the body. Another error means that the driver refused the callback with which a completion
 *         fires: the work was waited for, and then `release` was called. If the driver refused to wait, too, `release`
 *         is called later, as in the third case.
 */
CUSHIM_API CUresult cushim_stream_enqueue(struct cushim_stream *stream, cushim_stream_body body, void *user,
                                          void (*release)(void *user), struct cushim_completion **out_completion);

/** @} */

/** @name Polling and waiting */
/** @{ */

/**
 * Returns whether a completion has fired.
 *
 * @param completion  The completion.
 * @retval CUDA_ERROR_NOT_READY  It has not fired.
 * @return Otherwise the status of the work, at every call.
 */
CUSHIM_API CUresult cushim_completion_poll(struct cushim_completion *completion);

/**
 * Returns whether a completion has fired, and the status of the work separately.
 *
 * @param completion  The completion.
 * @param out_status  Receives the status of the work.
 * @retval CUDA_SUCCESS          It has fired, and *out_status is written.
 * @retval CUDA_ERROR_NOT_READY  It has not fired.
 */
CUSHIM_API CUresult cushim_completion_status(struct cushim_completion *completion, CUresult *out_status);

/** Returns the time in nanoseconds of a monotonic clock, for deadlines. */
CUSHIM_API uint64_t cushim_time_ns(void);

/**
 * Sets for how long cushim_completion_wait(), _wait_any() and _wait_all() query the driver before they sleep, and
 * returns the previous value. At first it is 50,000 ns. The wait keeps a processor busy during this time; with 0, it
 * queries once. Work that is done within that time wakes the waiter sooner than a callback would. A set does not use
 * the budget, nor does a completion that a callback fires. There is one budget for each copy of cushim. Any thread may
 * call this.
 *
 * @param nanoseconds  The budget.
 */
CUSHIM_API uint64_t cushim_set_spin_budget_ns(uint64_t nanoseconds);

/** A deadline that never passes. */
#define CUSHIM_FOREVER UINT64_MAX

/**
 * Waits until a completion has fired or the deadline has passed. The call polls for the spin budget
 * (cushim_set_spin_budget_ns()), and then sleeps until a callback wakes it.
 *
 * @param completion  The completion.
 * @param deadline    A time of cushim_time_ns(), or CUSHIM_FOREVER. With a time in the past the call does not wait.
 * @retval CUDA_ERROR_TIMEOUT  The deadline has passed, and the completion has not fired.
 * @return Otherwise the status of the work.
 */
CUSHIM_API CUresult cushim_completion_wait(struct cushim_completion *completion, uint64_t deadline);

/**
 * Waits until one of several completions has fired. NULL in the array is ignored, so that a program can destroy the
 * completions in its array one after the other and wait for the rest. For more than a few completions, use a set.
 *
 * @param completions  The array.
 * @param count        Its length.
 * @param deadline     A time of cushim_time_ns(), or CUSHIM_FOREVER.
 * @param out_index    Receives the index of a completion that has fired. If several had fired before the call, it is
 *                     the first of them in the array. cushim_completion_poll() returns its status.
 * @retval CUDA_ERROR_TIMEOUT        The deadline has passed, and none has fired.
 * @retval CUDA_ERROR_INVALID_VALUE  The array contains no completion.
 */
CUSHIM_API CUresult cushim_completion_wait_any(struct cushim_completion *const *completions, size_t count,
                                               uint64_t deadline, size_t *out_index);

/**
 * Waits until all of several completions have fired. NULL in the array is ignored.
 *
 * @param completions  The array. May be NULL if count is 0.
 * @param count        Its length.
 * @param deadline     A time of cushim_time_ns(), or CUSHIM_FOREVER.
 * @retval CUDA_ERROR_TIMEOUT  The deadline has passed, and not all have fired.
 * @return Otherwise CUDA_SUCCESS, or the status of the first completion in the array whose work failed.
 */
CUSHIM_API CUresult cushim_completion_wait_all(struct cushim_completion *const *completions, size_t count,
                                               uint64_t deadline);

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
CUSHIM_API CUresult cushim_completion_descriptor(struct cushim_completion *completion,
                                                 cushim_descriptor *out_descriptor);

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

/** @name Callbacks */
/** @{ */

/**
 * Sets the callback of a completion: cushim_dispatcher_run() calls fn(status, user) after the completion has fired, or
 * after each firing of a captured completion. The completion may already have fired. A completion can have one
 * callback.
 *
 * The call takes ownership of `user`: release(user) is called exactly once, also if the call fails. It is called after
 * `fn`, or when `fn` will not be called any more, on the thread that runs the dispatcher or that detaches or destroys
 * the completion. In two cases it can run on a thread of the driver, and there it must make no CUDA call:
 * - If the dispatcher is destroyed before the completion fires, `release` runs on a thread of the driver.
 * - If a captured completion has been detached, `release` runs on the thread that destroys the graph, which can be a
 *   thread of the driver.
 *
 * @param completion  The completion.
 * @param dispatcher  The dispatcher that calls the function.
 * @param fn          The function.
 * @param user        Passed to both functions.
 * @param release     Releases user. May be NULL.
 * @retval CUDA_ERROR_ILLEGAL_STATE  The completion already has a callback.
 * @retval CUDA_ERROR_INVALID_VALUE  fn is NULL.
 */
CUSHIM_API CUresult cushim_completion_set_callback(struct cushim_completion *completion,
                                                   struct cushim_dispatcher *dispatcher,
                                                   void (*fn)(CUresult status, void *user), void *user,
                                                   void (*release)(void *user));

/**
 * Sets the callback of a completion so that `fn` and `release` run immediately when the completion fires, on a thread
 * of the driver; or during this call, if the completion fires before or in it. `release` of cushim_stream_enqueue()
 * then runs there, too.
 *
 * On a thread of the driver these functions must make no CUDA call, must not take a lock that any thread holds during a
 * CUDA call, and must not wait for work of the GPU: the driver would block. In other respects the call does what
 * cushim_completion_set_callback() does.
 *
 * @param completion  The completion.
 * @param fn          The function.
 * @param user        Passed to both functions.
 * @param release     Releases user. May be NULL.
 * @retval CUDA_ERROR_ILLEGAL_STATE  The completion already has a callback.
 * @retval CUDA_ERROR_INVALID_VALUE  fn is NULL.
 */
CUSHIM_API CUresult cushim_completion_set_inline_callback(struct cushim_completion *completion,
                                                          void (*fn)(CUresult status, void *user), void *user,
                                                          void (*release)(void *user));

/** @} */

/**
 * @name Sets
 * A set holds any number of completions, and each comes out of it when it has fired. The cost of a wait depends on how
 * many completions come out, not on how many are in the set.
 */
/** @{ */

/**
 * Creates an empty set.
 *
 * @param out_set  Receives the set, which the caller owns.
 * @retval CUDA_ERROR_OPERATING_SYSTEM  The operating system provides no more descriptors.
 */
CUSHIM_API CUresult cushim_completion_set_create(struct cushim_completion_set **out_set);

/**
 * Puts a completion into a set, instead of a callback: a completion can be in one set, or have one callback. It may
 * already have fired. The program keeps the ownership. A completion that is detached or destroyed leaves the set.
 *
 * @param set         The set.
 * @param completion  The completion.
 * @param user        Returned by cushim_completion_set_wait().
 * @retval CUDA_ERROR_ILLEGAL_STATE  The completion has, or had, a callback or a set.
 */
CUSHIM_API CUresult cushim_completion_set_add(struct cushim_completion_set *set, struct cushim_completion *completion,
                                              void *user);

/**
 * Waits until a completion in the set has fired, and takes it out of the set. Completions come out about in the order
 * in which they fired. A captured completion stays in the set and comes out again after its next firing; several
 * firings may make it come out only once. `release` of cushim_stream_enqueue() is called when the completion comes out;
 * it must not destroy the set. Several threads may wait for one set.
 *
 * @param set             The set.
 * @param deadline        A time of cushim_time_ns(), or CUSHIM_FOREVER. With a time in the past the call does not wait.
 * @param out_completion  Receives the completion; cushim_completion_poll() returns its status.
 * @param out_user        Receives the pointer that was given to cushim_completion_set_add(). May be NULL.
 * @retval CUDA_ERROR_TIMEOUT          The deadline has passed, and no completion in the set has fired.
 * @retval CUDA_ERROR_NOT_INITIALIZED  The set was created before a fork().
 */
CUSHIM_API CUresult cushim_completion_set_wait(struct cushim_completion_set *set, uint64_t deadline,
                                               struct cushim_completion **out_completion, void **out_user);

/**
 * Returns a descriptor that is readable (on Windows: an event that is set) while completions can come out. The set
 * keeps the ownership. When the descriptor is readable, the program must call cushim_completion_set_wait() with a time
 * in the past until it returns CUDA_ERROR_TIMEOUT, or wait for the descriptor again. A completion that left the set
 * after it fired can make the descriptor readable, although none comes out.
 */
CUSHIM_API CUresult cushim_completion_set_descriptor(struct cushim_completion_set *set,
                                                     cushim_descriptor *out_descriptor);

/**
 * Destroys the set and sets *set to NULL. The completions in it stay; they can get neither a callback nor another set.
 * The descriptor is closed when all of them have fired and have been detached or destroyed.
 */
CUSHIM_API void cushim_completion_set_destroy(struct cushim_completion_set **set);

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
 * called any more, only released. The call does not wait for a callback: if another thread is in the callback at this
 * moment, the callback continues, and that thread releases it.
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
CUSHIM_API CUresult cushim_dispatcher_descriptor(struct cushim_dispatcher *dispatcher,
                                                 cushim_descriptor *out_descriptor);

/**
 * Calls the callbacks that are due, on this thread, in the order in which they became due. A callback may do anything,
 * even destroy the dispatcher. Several threads may run one dispatcher.
 *
 * @param dispatcher  The dispatcher.
 * @param out_count   Receives the number of callbacks that were called. May be NULL.
 */
CUSHIM_API CUresult cushim_dispatcher_run(struct cushim_dispatcher *dispatcher, size_t *out_count);

/**
 * Destroys the dispatcher and sets *dispatcher to NULL. Callbacks that are due are not called any more, only released.
 * The callback of a completion that has not fired is released when the completion is destroyed, or on a thread of the
 * driver when it fires. The descriptor is closed when every completion with a callback for this dispatcher has fired
 * and has been detached or destroyed.
 */
CUSHIM_API void cushim_dispatcher_destroy(struct cushim_dispatcher **dispatcher);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
