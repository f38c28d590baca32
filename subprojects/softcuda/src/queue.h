/* SPDX-License-Identifier: MIT */
/* Queues: operations in streams, their order, and the threads that execute them. */
#ifndef SOFT_QUEUE_H
#define SOFT_QUEUE_H

#include "soft.h"

#include "stream.h"
#include "work.h"

/* One edge of the order: `op` waits for the operation in whose list the link stands. */
struct link {
    struct op *op;
    struct link *next;
};

struct op {
    unsigned references;
    bool done;
    bool started;
    unsigned waits;        /* how many operations it still waits for, those before it in its queue aside */
    unsigned waiters;      /* threads */
    uint64_t time;         /* when it was done */
    struct op *next;       /* in the queue */
    struct stream *stream; /* a reference, until done */
    struct work *work;     /* a reference, until done */
    struct link *dependents;
    size_t link_count;
    struct link links[]; /* those of this one's own, in the lists of others */
};

void op_release(struct op *op);

/* Waits for one operation. Lets go of the lock meanwhile. */
void op_wait(struct op *op);

/*
 * Puts work at the end of a stream's queue, behind what it must wait for: the legacy stream and those that join it, the
 * event of a WAIT, and `after` (which may be NULL). A RECORD makes the new operation its event's. Takes a reference to
 * the work of its own. Does not look at captures. Returns the operation, valid as long as the caller holds the lock;
 * NULL without memory, or without a thread to execute it.
 */
struct op *queue_push(struct stream *stream, struct work *work, struct op *after);

/*
 * Sees to it that no push to the stream fails for want of a thread while the caller holds the lock; false when the
 * system has no more threads.
 */
bool queue_reserve(const struct stream *stream);

/*
 * What every asynchronous function of the driver does with its work: captures it where the stream is in capture, and
 * pushes it otherwise. Takes over the caller's reference, in failure too; `work` NULL is a lack of memory.
 */
CUresult queue_submit(struct stream *stream, struct work *work);

/* Runs a host function soon, on a thread of ours, in no context. */
void queue_defer(CUhostFn function, void *data);

/* In a forked child there are no workers. */
void queue_forget_workers(void);

#endif
