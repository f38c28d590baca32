/* SPDX-License-Identifier: MIT */
/* block.h - memory: which addresses belong to which allocation, and the pools that count it. */
#ifndef SOFT_BLOCK_H
#define SOFT_BLOCK_H

#include "soft.h"

#include "control.h"

struct context;

enum block_kind { BLOCK_DEVICE, BLOCK_MANAGED, BLOCK_PINNED, BLOCK_REGISTERED };

struct block {
    unsigned references;
    enum block_kind kind;
    char *base;
    size_t size;
    struct context *context; /* a reference */
    struct pool *pool;       /* the pool that counts it, or NULL */
    struct op *freed_by;     /* the newest cuMemFreeAsync, while that is pending; not for memory of a graph */
    uint64_t generation;
    uint64_t id;
    unsigned flags;
    bool of_graph;                   /* it belongs to the nodes of a graph, which allocate it at a launch */
    bool is_allocated;               /* of a graph: launched and not freed, for which there is one more reference */
    uint64_t allocated_in, freed_in; /* of a graph: the ids of the graphs with a node that allocates or frees it */
    bool is_listed;
    int sync_memops;
};

/* Whether it is host memory: allocated here, or registered. */
bool block_is_host(const struct block *block);

void block_ref(struct block *block);

/* Accepts NULL. Dropping the last reference frees the memory, unless the caller owns it and only registered it. Memory
 * of a graph leaves the list then. */
void block_unref(struct block *block);

/* The listed block that holds this address, or NULL: also for memory of a graph while no launch has allocated it. */
struct block *block_find(uint64_t address);

/* The same for a node of a graph, which may use that memory, too. */
struct block *block_find_for_graph(uint64_t address);

/* Whether one listed block contains all these bytes, for a node of a graph. */
bool block_has(uint64_t address, size_t size);

/* The first listed block that shares bytes with these, or NULL. */
struct block *block_find_overlap(uint64_t address, size_t size);

/* The memory that is allocated on the device, in bytes. */
size_t memory_used(int device);

/* Creates a listed block of the context with one reference, that of the list. NULL if out of memory or over the
 * limit. */
struct block *block_new(struct context *context, enum block_kind kind, size_t size, unsigned flags);

/* The same for memory of a graph: the list has no reference, so the only one belongs to the caller. */
struct block *block_new_of_graph(struct context *context, size_t size);

/* A launch allocates or frees memory of a graph. */
void block_launch(struct block *block, bool is_allocated);

/* The same for memory of the caller. */
struct block *block_register(struct context *context, void *base, size_t size, unsigned flags);

/* Makes the address invalid for later calls. The reference of the list, or of an allocation by a launch, then belongs
 * to the caller. */
void block_take(struct block *block);

/* Frees the memory of a context that is destroyed. */
void memory_forget_context(struct context *context);

/* A memory pool counts the memory that is allocated from it, and stays alive as long as that memory. */
struct pool {
    struct object object;
    int device;
    bool is_default;
    unsigned char access[MAX_DEVICES]; /* CUmemAccess_flags of the other devices */
    int reuse[3];                      /* the last one permits an allocation to wait for a free in another stream */
    size_t limit;                      /* in bytes, or 0 */
    cuuint64_t threshold;
    cuuint64_t used, used_high;
};

/* Counts memory that is allocated from the pool; block_unref() counts it as freed. */
void pool_take(struct pool *pool, size_t size);

/* Lists a block of a pool again whose free is pending, with at most its size. False if out of memory. */
bool block_reuse(struct block *block, size_t size);

#endif
