/* SPDX-License-Identifier: MIT */
/* Queues: the operations in streams, their order, and the threads that execute them. */
#ifndef SOFT_QUEUE_H
#define SOFT_QUEUE_H

#include "soft.h"

#include "stream.h"
#include "work.h"

/* One edge of the order: `op` waits for the operation whose list contains the link. */
struct link {
    struct op *op;
    struct link *next;
};

struct op {
    unsigned references;
    bool done;
    bool started;
    unsigned waits;        /* the number of operations it still waits for, without those before it in its queue */
    unsigned waiters;      /* the number of waiting threads */
    uint64_t time;         /* of its completion */
    struct op *next;       /* in the queue */
    struct stream *stream; /* a reference, until it is complete */
    struct work *work;     /* a reference, until it is complete */
    struct link *dependents;
    size_t link_count;
    struct link links[]; /* its own links, in the lists of others */
};

void op_ref(struct op *op);

void op_unref(struct op *op);

/* Waits for one operation. Releases the lock meanwhile. */
void op_wait(struct op *op);

/*
 * Adds work to the end of a stream's queue, after the operations that it must wait for: the legacy stream and the
 * streams that synchronise with it, the event of a WAIT, and `after` (which may be NULL). A RECORD makes the event
 * represent the new operation. Takes its own reference to the work. Does not check captures. Returns the operation,
 * valid as long as the caller holds the lock; NULL if there is no memory, or no thread to execute it.
 */
struct op *queue_push(struct stream *stream, struct work *work, struct op *after);

/*
 * Ensures that no push to the stream fails for lack of a thread while the caller holds the lock; false if the system
 * has no more threads.
 */
bool queue_reserve(const struct stream *stream);

/*
 * Submits the work of an asynchronous function of the driver: captures it if the stream is capturing, else pushes it.
 * Takes over the caller's reference, also on failure. `work` NULL means that the caller is out of memory.
 */
CUresult queue_submit(struct stream *stream, struct work *work);

/* Runs a host function soon, on a worker, without a context. */
void queue_defer(CUhostFn function, void *data);

/* A forked child has no workers. */
void queue_forget_workers(void);

#endif
