/* SPDX-License-Identifier: MIT */
/* Objects: counted references, and the table of live handles. Ids, and arrays that grow. */
#ifndef SOFT_OBJECT_H
#define SOFT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
void object_ref(void *object);
/* Accepts NULL. */
void object_unref(void *object);

/* Makes the address a valid handle; false if out of memory. The table holds no reference. */
bool handle_publish(void *object);
void handle_withdraw(void *object);
/* The object, if `handle` is the handle of a live object of this kind; else NULL. Never reads the memory at
 * `handle`. */
void *handle_find(enum object_kind kind, const void *handle);

/* A number that differs for most addresses. */
size_t handle_hash(const void *handle);

/* Unique numbers: each is returned only once in a process. */
uint64_t soft_next_id(void);

/* Grows *items to hold at least `count`; false if out of memory, and then nothing has changed. */
bool soft_reserve(void **items, size_t *capacity, size_t count, size_t item_size);

#endif
