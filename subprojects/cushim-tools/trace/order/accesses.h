/* SPDX-License-Identifier: MIT */
/* The memory of a process, and the accesses to it that can still conflict with later ones. */
#ifndef CUSHIM_TRACE_ACCESSES_H
#define CUSHIM_TRACE_ACCESSES_H

#include "clocks.h"
#include "../model/copies.h"
#include "../model/moments.h"

/* What work does to memory. */
struct trace_access {
    struct trace_span span;
    uint32_t stream, index; /* its work, as in a clock */
    enum trace_access_kind {
        TRACE_READS,
        TRACE_WRITES,
        TRACE_HOLDS, /* a kernel has a pointer into the memory */
        TRACE_ALLOCATES,
        TRACE_FREES
    } kind;
    bool is_done; /* no later access needs it */
    struct trace_moment moment;
};

/* Begin with a zeroed struct. */
struct trace_access_list {
    struct trace_access *all;
    size_t count, capacity;
};

struct trace_block {
    uint64_t low, high;
    uint64_t allocated; /* when the call that allocated it returned */
    enum trace_memory_kind { TRACE_DEVICE_MEMORY, TRACE_MANAGED_MEMORY, TRACE_HOST_MEMORY } kind;
    uint32_t context;
    bool is_shared;  /* what is not recorded can use it: its accesses are not compared */
    uint64_t handle; /* of its allocation, if it is mapped; or 0 */
    bool is_of_pool; /* it is allocated in the order of a stream */
    bool is_freed;   /* in the order of a stream, behind the work of this clock */
    struct trace_clock freed;
    struct trace_access_list accesses;
};

/* The memories of a process, by address. Begin with a zeroed struct. */
struct trace_blocks {
    void *root;
};

/* Adds memory in place of what was there. Returns NULL if there is not enough memory. */
struct trace_block *trace_block_add(struct trace_blocks *memories, uint64_t low, uint64_t size);
void trace_block_remove(struct trace_blocks *memories, struct trace_block *memory);

/* Returns the first memory that has bytes between two addresses, or NULL. */
struct trace_block *trace_block_find(const struct trace_blocks *memories, uint64_t low, uint64_t high);

/* Returns the memory that has an address, or NULL. */
struct trace_block *trace_block_at(const struct trace_blocks *memories, uint64_t address);
void trace_blocks_free(struct trace_blocks *memories);

/* A comparison of an access with the earlier ones to the same memory. */
struct trace_comparison {
    struct trace_clock *clock;        /* that of the access: what precedes it */
    const struct trace_horizon *host; /* what is complete; or NULL, within a graph */
    /* Called with an earlier access that conflicts. `is_freed`: it is ordered, and has freed the memory. */
    bool (*conflict)(void *user, const struct trace_access *old, const struct trace_access *access, bool is_freed);
    void *user;
};

/* Compares an access with those of a list, the newest first, and adds it. conflict() sees to it that what conflicts
 * counts as ordered from then on, so that one missing wait is found once. Of many accesses, the oldest are forgotten.
 * Returns false if there is not enough memory, or conflict() returned false. */
bool trace_access_add(struct trace_access_list *list, const struct trace_access *access,
                      const struct trace_comparison *comparison);

#endif
