/* SPDX-License-Identifier: MIT */
/* Memory: which addresses belong to which allocation. All of it is host memory. */
#ifndef SOFT_MEMORY_H
#define SOFT_MEMORY_H

#include "soft.h"

enum block_kind { BLOCK_DEVICE, BLOCK_MANAGED, BLOCK_PINNED, BLOCK_REGISTERED };

struct block {
    unsigned references;
    enum block_kind kind;
    char *base;
    size_t size;
    struct context *context; /* a reference */
    struct pool *pool;       /* the pool that counts it, or NULL */
    uint64_t life;
    uint64_t id;
    unsigned flags;
    bool listed;   /* can be found by its address */
    bool of_graph; /* allocated in a capture */
    int sync_memops;
};

void block_ref(struct block *block);

/* Accepts NULL. Dropping the last reference frees the memory, unless the caller owns it and only registered it. */
void block_unref(struct block *block);

/* The listed block that holds this address, or NULL. */
struct block *block_find(uint64_t address);

/* Whether one listed block contains all these bytes. */
bool block_has(uint64_t address, size_t size);

/* Creates a listed block of the context with one reference, that of the list. NULL if out of memory or over the
 * limit. */
struct block *block_new(struct context *context, enum block_kind kind, size_t size, unsigned flags);

/* Removes it from the list, whose reference then belongs to the caller. */
void block_unlist(struct block *block);

/* Frees the memory of a context that is destroyed. */
void memory_forget_context(struct context *context);

#endif
