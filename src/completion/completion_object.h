/* SPDX-License-Identifier: MIT */
/*
 * Completions inside. Nothing here takes a lock, so that the driver's thread never waits for the program's, and a
 * fork() in any moment leaves nothing locked. Whoever must do a thing exactly once takes it with one atomic exchange.
 */
#ifndef CUSHIM_COMPLETION_OBJECT_H
#define CUSHIM_COMPLETION_OBJECT_H

#include "../stream/objects.h"
#include "os_wait.h"

/* WAITED: somebody sleeps, and wants to be woken. */
enum completion_state { COMPLETION_PENDING, COMPLETION_WAITED, COMPLETION_FIRED };

/*
 * The function of cushim_completion_set_callback(): SETTING while it is written, RUNNING while a thread calls it,
 * CANCELLED if that is for the last time, ENDED once it was called and released. Whoever takes it out of SET or RUNNING
 * ends it; while it runs, that is the thread that runs it.
 */
enum callback_state {
    CALLBACK_NONE,
    CALLBACK_SETTING,
    CALLBACK_SET,
    CALLBACK_RUNNING,
    CALLBACK_CANCELLED,
    CALLBACK_ENDED
};

struct cushim_completion {
    /* What firing reads and writes. */
    atomic_uint references; /* the program's, the driver's or graph's, the dispatcher's while it is due */
    atomic_uint state;
    atomic_int status;
    atomic_uint callback_state;
    _Atomic(os_signal) signal;
    atomic_bool detached;      /* nobody will ask any more */
    atomic_bool queued;        /* in its dispatcher's list */
    bool captured;             /* it fires at each launch of a graph, and counts: */
    atomic_uint pending_calls; /* firings that the function was not yet called for */
    atomic_ullong count;
    unsigned generation; /* of the process: a child after fork() has another */
    unsigned index;      /* in the pool */
    atomic_uint next;    /* index + 1 of the next in the list of the pool, of a dispatcher, or of deferred ones */
    /* Of a completion that could not be started yet: completion_start.c. */
    struct {
        struct cushim_stream *stream; /* in use */
        CUcontext context;            /* that was current, and the thread */
        unsigned long long thread;
    } deferred;
    /* What the work uses, released when the GPU is done: cushim_stream_enqueue(). */
    _Atomic(void (*)(void *)) release;
    void *user;
    struct {
        void (*fn)(CUresult status, void *user);
        void *user;
        void (*release)(void *user);
        struct cushim_dispatcher *dispatcher; /* NULL: at once. Held to the completion's end: a firing may be about to
                                               * push while the function is cancelled and the dispatcher destroyed */
    } callback;
};

_Static_assert(sizeof(struct cushim_completion) <= 128, "at most 128 bytes each: completion.h promises it");

struct cushim_dispatcher {
    atomic_uint references; /* the caller's, and that of each completion with a function */
    atomic_uint head;       /* index + 1 of what became due last; 0: none */
    atomic_bool closed;
    unsigned generation; /* of the process: a child after fork() has another, but the same descriptor */
    os_signal signal;
};

/* ---- completion_pool.c ---- */

/* A completion with all zero but its index; NULL where there is no memory, or too many are outstanding. */
struct cushim_completion *cush_completion_pool_get(void);
void cush_completion_pool_put(struct cushim_completion *completion);
struct cushim_completion *cush_completion_pool_at(unsigned index);

/* ---- completion.c ---- */

/* A pending completion with two holds: the caller's and the driver's. Fails with a report. */
CUresult cush_completion_new(const char *function, struct cushim_completion **out_completion);

/* What the driver's thread calls when the GPU is done. Keeps the driver's hold. */
void cush_completion_fire(struct cushim_completion *completion, CUresult status);

/* ---- completion_object.c ---- */

void cush_completion_ref(struct cushim_completion *completion);
void cush_completion_unref(struct cushim_completion *completion);

/* ---- completion_then.c ---- */

/* Sees to it that the function is called for the firings that are due. */
void cush_completion_dispatch(struct cushim_completion *completion);

/* ---- completion_call.c ---- */

/* Takes the function from one state to another; false if it was not in the first. */
bool cush_completion_change_then(struct cushim_completion *completion, unsigned from, unsigned to);

/* Whether there are firings that the function was not called for. */
bool cush_completion_is_due(struct cushim_completion *completion);

/* For whoever learns that it fired: releases what the work uses. With a function to come, that goes first. */
void cush_completion_release_resources(struct cushim_completion *completion);

/* Calls the function as often as it is due, and ends it after the only time. */
void cush_completion_run_callback(struct cushim_completion *completion, size_t *count);

/* Ends the function without calling it again. */
void cush_completion_cancel_callback(struct cushim_completion *completion);

/* ---- completion_start.c ---- */

/* Has the driver fire the completion, which keeps one hold of it. On failure the hold is still there. */
CUresult cush_completion_start(struct cushim_stream *stream, struct cushim_completion *completion);

/*
 * The same behind a body. On failure the work was waited for and the completion has fired, or the completion will be
 * started when the stream has left the capture that it is in.
 */
CUresult cush_completion_start_surely(const char *function, struct cushim_stream *stream,
                                      struct cushim_completion *completion);

/* Starts the deferred completions whose streams have left their captures. */
void cush_completion_start_deferred(void);

/* ---- dispatcher_object.c ---- */

void cush_dispatcher_ref(struct cushim_dispatcher *dispatcher);
void cush_dispatcher_unref(struct cushim_dispatcher *dispatcher);

/* Whether it was destroyed, and is only held. */
bool cush_dispatcher_is_closed(struct cushim_dispatcher *dispatcher);

/* ---- dispatcher.c ---- */

/* Puts a completion whose function is due into its dispatcher's list. */
void cush_dispatcher_push(struct cushim_dispatcher *dispatcher, struct cushim_completion *completion);

/* A refusal that takes over `user` all the same, to be released. Returns `result`. */
static inline CUresult fail_and_release(CUresult result, void *user, void (*release)(void *user))
{
    if (release != NULL)
        release(user);
    return result;
}

static inline CUresult fail_no_completion(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function, "The completion is NULL, or was given up.");
}

#endif
