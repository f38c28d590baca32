/* SPDX-License-Identifier: MIT */
/* Memory: which addresses are whose. All of it is the host's. */
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
    struct pool *pool;       /* that it counts in, or NULL */
    uint64_t life;
    uint64_t id;
    unsigned flags;
    bool listed;   /* can be found by address */
    bool of_graph; /* allocated in a capture */
    int sync_memops;
};

/* Takes NULL too. The last one frees the memory, unless it was the caller's and only registered. */
void block_release(struct block *block);

/* The listed block that holds this address, or NULL. */
struct block *block_find(uint64_t address);

/* Whether all these bytes are in one listed block. */
bool block_has(uint64_t address, size_t size);

/* A new block of the context, listed, with one reference that belongs to the list. NULL: no memory, or over the
 * limit. */
struct block *block_new(struct context *context, enum block_kind kind, size_t size, unsigned flags);

/* Takes it out of the list, whose reference is now the caller's. */
void block_unlist(struct block *block);

/* Frees what belongs to a context that ends. */
void memory_forget_context(struct context *context);

#endif
