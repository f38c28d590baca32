/* SPDX-License-Identifier: MIT */
/* What softcuda keeps for each thread that calls it. */
#ifndef SOFT_THREAD_H
#define SOFT_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cushim/abi/cuda_abi.h"

struct context;
struct stream;
struct op;

struct thread {
    uint64_t id;
    bool per_thread; /* the meaning of stream 0 in the current call */
    struct context **stack;
    size_t depth, capacity;
    CUstreamCaptureMode capture_mode;
    struct stream *streams; /* this thread's default streams, one for each context */
    struct op *running;     /* the operation that this thread executes, if it is a worker */
    struct thread *next, **link;
};

/* The calling thread's data; NULL if out of memory. */
struct thread *thread_self(void);

/* Unique numbers: each is returned only once in a process. */
uint64_t soft_next_id(void);

/* Grows *items to hold at least `count`; false if out of memory, and then nothing has changed. */
bool soft_reserve(void **items, size_t *capacity, size_t count, size_t item_size);

#endif
