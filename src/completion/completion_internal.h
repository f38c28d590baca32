/* SPDX-License-Identifier: MIT */
/*
 * Completions, from the bottom up: event.c and queue.c do not know completions. completion.c is the object: firing,
 * callbacks, destroy_user. wait.c, dispatcher.c and notify.c use it, and create.c uses all of them.
 *
 * Nothing here takes a lock, so that a thread of the driver never waits for a thread of the program, and a fork()
 * leaves no lock locked. A thread that must do something exactly once claims it with one atomic exchange. (The portable
 * form of os_wait.h takes a short lock.)
 */
#ifndef CUSHIM_COMPLETION_INTERNAL_H
#define CUSHIM_COMPLETION_INTERNAL_H

#include <stdint.h>

#include "../../loader/common/atomic.h"

#include "../stream/stream_internal.h"
#include "cushim/completion.h"
#include "os_wait.h"

/*
 * Writes a word before this thread reads another one that a firing writes. An exchange, not atomic_store(): QEMU 7.2,
 * which runs programs for arm64 on x86-64, can let the read overtake a plain store.
 */
#define STORE_BEFORE_LOAD(at, value) ((void)atomic_exchange(at, value))

/* destroy_user of cushim_stream_enqueue(). Atomic as a number: a pointer to a function is not one to an object. */
typedef void (*destroy_fn)(void *user);

/* The event of a completion, and the context to which it belongs: event.c. */
struct completion_event {
    CUevent handle; /* NULL: a callback fires the completion */
    CUcontext context;
    unsigned long long id; /* of the context, or 0 */
};

/* The bits of the state of a completion. */
enum {
    STATE_WAITED = 1, /* a thread sleeps on the state */
    STATE_FIRED = 2,
    STATE_STATUS_SHIFT = 2 /* the bits above are the status of the work, once the completion has fired */
};

/*
 * The state of a callback. The thread that moves it out of SET or RUNNING must end the callback; in RUNNING, only the
 * thread that calls the function may do so.
 */
enum {
    CALLBACK_NONE,
    CALLBACK_SETTING, /* its members are being written */
    CALLBACK_SET,
    CALLBACK_RUNNING,   /* a thread calls the function */
    CALLBACK_CANCELLED, /* a thread calls the function for the last time, or ends the callback */
    CALLBACK_ENDED      /* destroy_user was called */
};

struct cushim_completion {
    atomic_uint references; /* the program, the driver or the graph, and the dispatcher while the callback is queued */
    atomic_uint state;
    unsigned generation; /* of the process: the child of a fork() has another one */
    bool notifying;      /* it can have a descriptor and a callback */
    bool captured;       /* it fires at each launch of a graph, and counts the firings */
    struct completion_event event;
    _Atomic(os_signal) signal;
    atomic_ullong count;             /* of a captured completion: firings */
    atomic_uint pending_calls;       /* of a captured completion: firings for which the callback was not called */
    _Atomic(uintptr_t) destroy_user; /* a destroy_fn, or 0 */
    void *user;                      /* of destroy_user */
    atomic_uint callback_state;
    atomic_bool queued;             /* in the queue of its dispatcher */
    struct cushim_completion *next; /* in that queue */
    struct {
        void (*fn)(CUresult status, void *user);
        void *user;
        void (*destroy_user)(void *user);
        /* NULL for an inline callback. The reference lasts as long as the completion: a firing can be about to push
         * the completion while another thread cancels the callback and destroys the dispatcher. */
        struct cushim_dispatcher *dispatcher;
    } callback;
};

/* completion.c */

/* Creates a pending completion with one reference. On failure records the error. */
CUresult cush_completion_new(const char *function, unsigned flags, struct cushim_completion **out_completion);
void cush_completion_ref(struct cushim_completion *completion);
void cush_completion_unref(struct cushim_completion *completion);

/* Sets the status, wakes the threads that wait, and calls or queues the callback. Only the first firing counts, unless
 * the completion is captured. */
void cush_completion_fire(struct cushim_completion *completion, CUresult status);

/* Returns CUDA_ERROR_NOT_READY until the completion has fired. Then writes the status unless `out_status` is NULL,
 * calls destroy_user of cushim_stream_enqueue(), and returns CUDA_SUCCESS. Returns another error, which it records, on
 * misuse. */
CUresult cush_completion_check(const char *function, struct cushim_completion *completion, CUresult *out_status);

/* Runs the callbacks that are due in a dispatcher, and returns their number. Once the program has destroyed the
 * dispatcher, even in between, it ends them instead. */
size_t cush_completion_run_due(struct cushim_dispatcher *dispatcher);

/* event.c */

/* Finds the context in which the completions of a stream record events. Returns false if they use only callbacks. */
bool cush_completion_event_find(struct cushim_stream *stream, struct completion_event *out_event);

/* Returns whether the context of a stream that has had completions is gone. The driver may crash when it is called with
 * such a stream. */
bool cush_completion_context_is_gone(struct cushim_stream *stream);

/* Returns CUDA_SUCCESS if the event is done, CUDA_ERROR_NOT_READY, CUDA_ERROR_CONTEXT_IS_DESTROYED if its context is
 * gone, or an error that the driver repeats. Records no error, and invalidates no capture. */
CUresult cush_completion_event_query(const struct completion_event *event);

/* Destroys the event, or forgets it if its context is gone. */
void cush_completion_event_end(struct completion_event *event);

/* queue.c */

/* A dispatcher is a queue of completions whose callbacks are due. */
struct cushim_dispatcher {
    atomic_uint references; /* the program, and each completion with a callback for this dispatcher */
    _Atomic(struct cushim_completion *) newest;
    atomic_uint changes; /* of the queue: a word to wait for */
    atomic_uint waiters; /* threads that wait for changes */
    atomic_bool closed;  /* the program has destroyed the dispatcher */
    unsigned generation; /* of the process: the child of a fork() has another one, but the same descriptor */
    os_signal signal;
};

CUresult cush_queue_new(const char *function, struct cushim_dispatcher **out_dispatcher);
void cush_queue_ref(struct cushim_dispatcher *dispatcher);
void cush_queue_unref(struct cushim_dispatcher *dispatcher);
void cush_queue_push(struct cushim_dispatcher *dispatcher, struct cushim_completion *completion);
/* Empties the queue. Returns the oldest completion, from which `next` leads to newer ones, or NULL. */
struct cushim_completion *cush_queue_take(struct cushim_dispatcher *dispatcher);
/* Waits until something is in the queue, the dispatcher is closed, or the deadline has passed. Returns whether
 * something is in the queue. */
bool cush_queue_wait(struct cushim_dispatcher *dispatcher, uint64_t deadline);
void cush_queue_close(struct cushim_dispatcher *dispatcher);

/* notify.c */

/* Makes the driver call back and fire the completion when the work of the stream is done. */
CUresult cush_completion_notify(const char *function, struct cushim_completion *completion,
                                struct cushim_stream *stream);

/* Errors */

static inline CUresult fail_null_completion(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_HANDLE, function,
                            "The completion is NULL, was detached or was destroyed.");
}

static inline CUresult fail_null_dispatcher(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_HANDLE, function, "The dispatcher is NULL or was destroyed.");
}

static inline CUresult fail_timeout(const char *function)
{
    return cushim_error_set(CUDA_ERROR_TIMEOUT, function, "The deadline has passed.");
}

static inline CUresult fail_forked(const char *function)
{
    return cushim_error_set(CUDA_ERROR_NOT_INITIALIZED, function, "The object was created before a fork().");
}

static inline CUresult fail_no_descriptor(const char *function)
{
    return cushim_error_set(CUDA_ERROR_OPERATING_SYSTEM, function,
                            "The operating system provides no more descriptors.");
}

#endif
