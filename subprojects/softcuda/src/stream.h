/* SPDX-License-Identifier: MIT */
/* Streams: the meaning of a handle, and the properties of a stream. queue.h has its operations. */
#ifndef SOFT_STREAM_H
#define SOFT_STREAM_H

#include "soft.h"

#include "graph.h"

struct capture;

enum stream_role { STREAM_CREATED, STREAM_LEGACY, STREAM_PER_THREAD };

struct stream {
    struct object object;
    enum stream_role role;
    struct context *context; /* a reference */
    uint64_t life;           /* the life of the context when the stream was created */
    uint64_t id;
    unsigned flags;
    int priority;
    struct stream *next, **link; /* in the context */
    struct stream *next_of_thread;

    /* The queue, which owns its operations. `last` is the newest one, kept after its completion. */
    struct op *head, *tail, *last;
    size_t work_count; /* operations in the queue that need a worker */
    bool scheduled;    /* a worker has it, or will have it */
    struct stream *next_ready, *next_on_agenda;
    bool on_agenda;

    /* Capture: the capture of the stream, and the dependencies of its next node. */
    struct capture *capture; /* a reference */
    struct frontier frontier;
    struct stream *next_captured;

    CUlaunchAttributeValue window, domain_map;
    CUsynchronizationPolicy policy;
    CUlaunchMemSyncDomain domain;
};

enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 };

int stream_clamp_priority(int priority);

/*
 * The stream of a handle: 0 and the special handles need a current context (201); others must be valid (400) and their
 * context must exist (709). With the context's sticky error, also returns the stream.
 */
CUresult stream_find(CUstream handle, struct stream **out_stream);

/* The same without regard to the sticky error. */
CUresult stream_find_any(CUstream handle, struct stream **out_stream);

/* The stream that 0 means in this call, in the current context. */
CUresult stream_default(struct stream **out_stream);

/* Whether it synchronises with the legacy stream. */
bool stream_is_blocking(const struct stream *stream);

/* Creates a stream of the context with one reference, the caller's; not published. NULL if out of memory. */
struct stream *stream_new(struct context *context, enum stream_role role, unsigned flags, int priority);

/* Creates a published stream for the caller; fails with 2 if out of memory. */
CUresult stream_create(struct context *context, unsigned flags, int priority, CUstream *out_stream);

/* Drops the default streams of a thread that ends. */
void stream_end_thread(struct thread *thread);

/* Whether all submitted work is complete; for a worker, the stream of its own callback is idle. */
bool stream_is_idle(const struct stream *stream);

/* Waits for all submitted work. Releases the lock meanwhile; a worker does not wait for its own callback. */
void stream_wait(struct stream *stream);

#endif
