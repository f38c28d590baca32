/* SPDX-License-Identifier: MIT */
/* Streams: what a handle means, and what a stream knows about itself. What it does stands in queue.h. */
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
    uint64_t life;           /* the context's, when the stream was made */
    uint64_t id;
    unsigned flags;
    int priority;
    struct stream *next, **link; /* in the context */
    struct stream *next_of_thread;

    /* The queue, which owns the operations in it; `last` is the newest one, kept when it is done. */
    struct op *head, *tail, *last;
    size_t work_count; /* operations in the queue that need a worker */
    bool scheduled;    /* a worker has it, or will */
    struct stream *next_ready, *next_on_agenda;
    bool on_agenda;

    /* Capture: the one that it is in, and what the next node will depend on. */
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
 * Which stream a handle means: 0 and the special ones need a current context (201), others must be live (400) or of a
 * context that is (709). The context's sticky error comes back too, together with the stream.
 */
CUresult stream_find(CUstream handle, struct stream **out_stream);

/* Likewise, without regard to the sticky error. */
CUresult stream_find_any(CUstream handle, struct stream **out_stream);

/* The stream that 0 means in this call, of the current context. */
CUresult stream_default(struct stream **out_stream);

/* Whether it joins the legacy stream. */
bool stream_is_blocking(const struct stream *stream);

/* A stream of the context with one reference, the caller's; not published. NULL without memory. */
struct stream *stream_new(struct context *context, enum stream_role role, unsigned flags, int priority);

/* A stream for the caller, published; 2 without memory. */
CUresult stream_create(struct context *context, unsigned flags, int priority, CUstream *out_stream);

/* Gives up the default streams of a thread that ends. */
void stream_end_thread(struct thread *thread);

/* Whether all that was submitted is done; a worker sees the stream of its own callback as idle. */
bool stream_is_idle(const struct stream *stream);

/* Waits for all that was submitted. Lets go of the lock meanwhile; a worker does not wait for its own callback. */
void stream_wait(struct stream *stream);

#endif
