/* SPDX-License-Identifier: MIT */
/*
 * soft.h - shared by all files of softcuda.
 *
 * A function of the driver is soft_<slot>, such as soft_StreamQuery_v1. Its prototype is made here from cushim's typed
 * list, so a wrong type does not compile; exports/exports.c makes its exported names. Every soft_ function, and every
 * function that takes or returns one of our structs, runs under the one lock (os_lock), which the exported wrapper
 * takes. A function that waits or runs a function of the user releases the lock meanwhile.
 */
#ifndef SOFT_SOFT_H
#define SOFT_SOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cushim/abi/cuda_abi.h"
#include "cushim/abi/egl.h"

/* The driver that this library represents: defined for each variant, in variant.c. */
extern const int soft_version;   /* 12040 */
extern const char soft_driver[]; /* "550" */

#define CUSHIM_ENTRY(driver_function, abi, since, params, args) CUresult soft_##driver_function##_##abi params;
#include "cushim/entry_points.h"

/* Objects: counted references, and the table of live handles. */

enum object_kind {
    OBJECT_CONTEXT,
    OBJECT_GREEN,
    OBJECT_RESOURCES,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_GRAPH,
    OBJECT_NODE,
    OBJECT_EXEC,
    OBJECT_USER_OBJECT,
    OBJECT_MODULE,
    OBJECT_FUNCTION,
    OBJECT_POOL
};

/* The head of every object with a handle. The handle is its address. */
struct object {
    enum object_kind kind;
    unsigned references;
    struct object *next; /* in the table of handles */
    void (*free)(void *object);
};

/* Allocates a zeroed object of `size` bytes with one reference, or NULL. `free` is called when the last reference is
 * dropped. */
void *object_new(enum object_kind kind, size_t size, void (*free)(void *object));
void object_retain(void *object);
/* Accepts NULL. */
void object_release(void *object);

/* Makes the address a valid handle; false if out of memory. The table holds no reference. */
bool handle_publish(void *object);
void handle_withdraw(void *object);
/* The object, if `handle` is the handle of a live object of this kind; else NULL. Never reads the memory at
 * `handle`. */
void *handle_find(enum object_kind kind, const void *handle);

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

/* Whether cuInit has succeeded, and whether this is a forked child of that process. */
bool soft_initialised(void);
bool soft_forked(void);

/* Unique numbers: each is returned only once in a process. */
uint64_t soft_next_id(void);

/* Grows *items to hold at least `count`; false if out of memory, and then nothing has changed. */
bool soft_reserve(void **items, size_t *capacity, size_t count, size_t item_size);

#endif
