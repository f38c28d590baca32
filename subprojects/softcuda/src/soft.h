/* SPDX-License-Identifier: MIT */
/*
 * soft.h - what every file of softcuda shares.
 *
 * A function of the driver is soft_<slot>, soft_StreamQuery_v1. Its prototype is made here from cushim's typed list, so
 * a wrong type does not compile; its exported names are made in exports.c. Every soft_ function, and every function
 * that takes or returns one of our structs, runs under the one lock (os_lock), which the exported wrapper takes. Who
 * waits or runs a user's function lets go of it.
 */
#ifndef SOFT_SOFT_H
#define SOFT_SOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cushim/abi/cuda_abi.h"
#include "cushim/abi/egl.h"

/* Which driver this library stands for: made for each variant, in variant.c. */
extern const int soft_version;   /* 12040 */
extern const char soft_driver[]; /* "550" */

#define CUSHIM_ENTRY(driver_function, abi, since, params, args) CUresult soft_##driver_function##_##abi params;
#include "cushim/entry_points.h"

/* ---- Objects: counted references, and the table of live handles ---- */

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

/* The head of everything that has a handle: the handle is its address. */
struct object {
    enum object_kind kind;
    unsigned references;
    struct object *next; /* in the table of handles */
    void (*free)(void *object);
};

/* Zeroed memory for an object of `size` bytes with one reference, or NULL. `free` gets it when the last one is gone. */
void *object_new(enum object_kind kind, size_t size, void (*free)(void *object));
void object_retain(void *object);
/* Takes NULL too. */
void object_release(void *object);

/* Makes the address a valid handle; false without memory. The table holds no reference. */
bool handle_publish(void *object);
void handle_withdraw(void *object);
/* The object, if `handle` is one of a live object of this kind; else NULL. Never looks at what `handle` points to. */
void *handle_find(enum object_kind kind, const void *handle);

/* ---- Threads ---- */

struct context;
struct stream;
struct op;

struct thread {
    uint64_t id;
    bool per_thread; /* which default stream 0 means in the call under way */
    struct context **stack;
    size_t depth, capacity;
    CUstreamCaptureMode capture_mode;
    struct stream *streams; /* this thread's default streams, one a context */
    struct op *running;     /* the operation that this thread executes, if it is a worker */
    struct thread *next, **link;
};

/* The calling thread's own record; NULL without memory. */
struct thread *thread_self(void);

/* Whether cuInit has succeeded, and whether this is a child of the process in which it did. */
bool soft_initialised(void);
bool soft_forked(void);

/* A number from the environment, or `otherwise`. */
uint64_t soft_setting(const char *name, uint64_t otherwise);

/* Numbers that are never given out twice in a process. */
uint64_t soft_next_id(void);

/* Grows *items to hold at least `count`; false without memory, and then nothing changed. */
bool soft_reserve(void **items, size_t *capacity, size_t count, size_t item_size);

#endif
