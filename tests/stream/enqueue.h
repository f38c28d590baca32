/* SPDX-License-Identifier: MIT */
/* Work that the tests of cushim_stream_enqueue() share. */
#ifndef STREAM_ENQUEUE_H
#define STREAM_ENQUEUE_H

#include "completion.h"

struct work {
    atomic_int done;     /* set by a host function at the end of the work */
    atomic_int released; /* how often */
    atomic_int early;    /* released before the work was done */
    pthread_t thread;
    struct gate gate;
    bool gated;
    CUresult result; /* of the body */
};

/* A body and a destroy function of the struct work `user`. */
CUresult work_enqueue(struct cushim_stream *stream, void *user);
void work_release(void *user);

/* Waits until the driver's thread has released the work. */
void work_settle(struct work *work);

/* Checks how often the work was released, and that none of it was released before it was done. */
void expect_work(const char *key, struct work *work, int count);

#endif
