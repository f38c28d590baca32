/* SPDX-License-Identifier: MIT */
/*
 * The completion object: completion_object.c.
 *
 * No function of completions takes a lock, so that a thread of the driver never waits for a thread of the program, and
 * a fork() at any moment leaves no lock locked. A thread that must do something exactly once claims it with one atomic
 * exchange. (The portable form of os_wait.h takes a short lock.)
 */
#ifndef CUSHIM_COMPLETION_OBJECT_H
#define CUSHIM_COMPLETION_OBJECT_H

#include <stdatomic.h>

#include "cushim/completion.h"
#include "os_wait.h"

/* The bits of the state. */
enum completion_state {
    COMPLETION_PENDING = 0,
    COMPLETION_WAITED = 1,  /* a thread sleeps on the state */
    COMPLETION_WATCHED = 2, /* a thread sleeps until one of several completions fires */
    COMPLETION_FIRED = 4,
    COMPLETION_ENGAGING = 8,    /* a thread tries to make the driver call back for the event */
    COMPLETION_ENGAGED = 16,    /* the driver will call back for the event, and nothing else may fire the completion */
    COMPLETION_STATUS_SHIFT = 5 /* the bits above are the status of the work, once it has fired */
};

/*
 * The state of a callback. The thread that moves it out of SET or RUNNING must end the callback; in RUNNING, only the
 * thread that calls the function may do so.
 */
enum callback_state {
    CALLBACK_NONE,
    CALLBACK_SETTING, /* its members are being written */
    CALLBACK_SET,
    CALLBACK_RUNNING,   /* a thread calls the function */
    CALLBACK_CANCELLED, /* a thread calls the function for the last time, or ends the callback */
    CALLBACK_ENDED      /* released */
};

struct cushim_completion {
    /* Firing reads and writes these members. */
    atomic_uint references; /* the program, the driver or graph, and the dispatcher while the callback is queued */
    atomic_uint state;
    unsigned generation; /* of the process: the child of a fork() has another one */
    atomic_uchar callback_state;
    atomic_bool detached; /* by the program */
    atomic_bool queued;   /* in the list of its dispatcher */
    atomic_bool by_event; /* its event fires it; otherwise a callback on the stream does */
    _Atomic(os_signal) signal;
    bool captured;           /* it fires at each launch of a graph, and counts the firings */
    unsigned char helper;    /* of an engaged completion: completion_helper.c */
    atomic_uint event_calls; /* threads that are about to call, or in, a driver function on the event */
    unsigned index;          /* in the pool */
    atomic_uint next; /* index + 1 of the next in a list: of the pool, of a dispatcher, or of deferred completions */
    /* Of a completion with an event: how many its stream had recorded, once it was recorded itself, and before. */
    unsigned number;
    union {
        atomic_uint pending_calls; /* of a captured completion: firings for which the function was not called yet */
        unsigned number_before;
    };
    /* The event stays when the completion is reused. No call on it is made before its context was compared. */
    struct {
        CUevent handle; /* or NULL */
        CUcontext context;
        unsigned long long id; /* of the context */
    } event;
    union {
        atomic_ullong count;          /* of a captured completion: firings */
        struct cushim_stream *stream; /* of a completion with an event: the object, which may have been destroyed */
    } of;
    /* Releases what the work uses when the GPU is done: cushim_stream_enqueue(). */
    _Atomic(void (*)(void *)) release;
    void *user;
    union {
        struct {
            void (*fn)(CUresult status, void *user); /* NULL: the completion is in a set, whose dispatcher it has */
            void *user;
            void (*release)(void *user);
            /* NULL for an inline callback. The reference lasts as long as the completion: a firing can be about to push
             * the completion while another thread cancels the callback and destroys the dispatcher. */
            struct cushim_dispatcher *dispatcher;
        } callback;
        /* Of a deferred completion, which no program has: completion_start.c. */
        struct {
            struct cushim_stream *stream; /* in use */
            CUcontext context;            /* the current context when it was deferred */
            unsigned long long thread;    /* the thread that deferred it */
        } deferred;
    };
};

_Static_assert(sizeof(struct cushim_completion) <= 128, "completion.h promises at most 128 bytes");

static inline bool cush_completion_has_fired(const struct cushim_completion *completion)
{
    return (atomic_load(&completion->state) & COMPLETION_FIRED) != 0;
}

/* Returns whether the completion has an event that this process may use. */
static inline bool cush_completion_has_event(const struct cushim_completion *completion)
{
    return atomic_load_explicit(&completion->by_event, memory_order_acquire)
           && completion->generation == cush_os_process_generation();
}

/* Returns the status of a completion that has fired. */
static inline CUresult cush_completion_result(const struct cushim_completion *completion)
{
    return (CUresult)(atomic_load(&completion->state) >> COMPLETION_STATUS_SHIFT);
}

/*
 * Creates a pending completion with one reference, from those whose event belongs to the context with this id (0:
 * without an event). On failure records the error.
 */
CUresult cush_completion_new(const char *function, unsigned long long id, struct cushim_completion **out_completion);

void cush_completion_ref(struct cushim_completion *completion);
/* Takes a reference unless the completion is free. */
bool cush_completion_try_ref(struct cushim_completion *completion);
void cush_completion_unref(struct cushim_completion *completion);

/* Releases `user` of a call that is refused, because every call takes it over. Returns `result`. */
static inline CUresult fail_and_release(CUresult result, void *user, void (*release)(void *user))
{
    if (release != NULL)
        release(user);
    return result;
}

static inline CUresult fail_null_completion(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function,
                            "The completion is NULL, was detached or was destroyed.");
}

#endif
