/* SPDX-License-Identifier: MIT */
/* Memory: which addresses belong to which allocation, and how much each pool has given out. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "os_thread.h"

enum { ALIGNMENT = 512 };

static struct block **blocks; /* sorted by address */
static size_t block_count, block_capacity;
static size_t used[MAX_DEVICES];

static bool block_counts(const struct block *block)
{
    return block->kind == BLOCK_DEVICE || block->kind == BLOCK_MANAGED;
}

bool block_is_host(const struct block *block)
{
    return block->kind == BLOCK_PINNED || block->kind == BLOCK_REGISTERED;
}

void block_ref(struct block *block)
{
    block->references++;
}

void pool_take(struct pool *pool, size_t size)
{
    object_ref(pool);
    pool->used += size;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
}

static void pool_give_back(struct pool *pool, size_t size)
{
    pool->used -= size;
    object_unref(pool);
}

/* The index of the first block that ends behind the address. */
static size_t block_position(uint64_t address)
{
    size_t low = 0, high = block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)blocks[middle]->base + blocks[middle]->size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct block *block_find_for_graph(uint64_t address)
{
    size_t at = block_position(address);
    return at < block_count && (uintptr_t)blocks[at]->base <= address ? blocks[at] : NULL;
}

struct block *block_find(uint64_t address)
{
    struct block *block = block_find_for_graph(address);
    return block != NULL && block->of_graph && !block->is_allocated ? NULL : block;
}

struct block *block_find_overlap(uint64_t address, size_t size)
{
    size_t at = block_position(address);
    return at < block_count && (uintptr_t)blocks[at]->base < address + size ? blocks[at] : NULL;
}

bool block_has(uint64_t address, size_t size)
{
    const struct block *block = block_find_for_graph(address);
    return block != NULL && size <= block->size - (size_t)(address - (uintptr_t)block->base);
}

static bool block_list_insert(struct block *block)
{
    if (!soft_reserve((void **)&blocks, &block_capacity, block_count + 1, sizeof(struct block *)))
        return false;
    size_t at = block_position((uintptr_t)block->base);
    memmove(&blocks[at + 1], &blocks[at], (block_count - at) * sizeof(struct block *));
    blocks[at] = block;
    block_count++;
    block->is_listed = true;
    return true;
}

static void block_unlist(struct block *block)
{
    size_t at = block_position((uintptr_t)block->base);
    memmove(&blocks[at], &blocks[at + 1], (--block_count - at) * sizeof(struct block *));
    block->is_listed = false;
}

void block_unref(struct block *block)
{
    if (block == NULL || --block->references > 0)
        return;
    if (block->is_listed)
        block_unlist(block);
    if (block_counts(block))
        used[block->context->device] -= block->size;
    if (block->pool != NULL)
        pool_give_back(block->pool, block->size);
    if (block->kind != BLOCK_REGISTERED)
        os_aligned_free(block->base);
    object_unref(block->context);
    free(block);
}

void block_take(struct block *block)
{
    if (block->of_graph)
        block->is_allocated = false;
    else
        block_unlist(block);
}

bool block_reuse(struct block *block, size_t size)
{
    if (!block_list_insert(block))
        return false;
    used[block->context->device] -= block->size - size;
    block->pool->used -= block->size - size;
    block->size = size;
    block->id = soft_next_id();
    block_ref(block);
    return true;
}

void block_launch(struct block *block, bool is_allocated)
{
    if (is_allocated == block->is_allocated || !block->is_listed)
        return;
    block->is_allocated = is_allocated;
    if (is_allocated)
        block_ref(block);
    else
        block_unref(block);
}

/* Creates a block for existing memory; NULL if out of memory, and then the caller still owns that memory. */
static struct block *block_wrap(struct context *context, enum block_kind kind, void *base, size_t size, unsigned flags)
{
    context = context_primary(context);
    struct block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return NULL;
    block->references = 1;
    block->kind = kind;
    block->base = base;
    block->size = size;
    block->flags = flags;
    block->id = soft_next_id();
    block->context = context;
    block->generation = context->generation;
    if (!block_list_insert(block)) {
        free(block);
        return NULL;
    }
    object_ref(context);
    if (block_counts(block))
        used[context->device] += size;
    return block;
}

struct block *block_new(struct context *context, enum block_kind kind, size_t size, unsigned flags)
{
    bool counted = kind == BLOCK_DEVICE || kind == BLOCK_MANAGED;
    if (counted && size > device_memory() - used[context->device])
        return NULL;
    void *base = os_aligned_alloc(ALIGNMENT, size);
    struct block *block = base == NULL ? NULL : block_wrap(context, kind, base, size, flags);
    if (block == NULL)
        os_aligned_free(base);
    return block;
}

struct block *block_new_of_graph(struct context *context, size_t size)
{
    struct block *block = block_new(context, BLOCK_DEVICE, size, 0);
    if (block != NULL)
        block->of_graph = true;
    return block;
}

struct block *block_register(struct context *context, void *base, size_t size, unsigned flags)
{
    return block_wrap(context, BLOCK_REGISTERED, base, size, flags);
}

size_t memory_used(int device)
{
    return used[device];
}

void memory_forget_context(struct context *context)
{
    for (size_t i = block_count; i-- > 0;) {
        struct block *block = blocks[i];
        if (block->context != context)
            continue;
        bool is_owner = !block->of_graph || block->is_allocated;
        block->is_allocated = false;
        block_unlist(block);
        if (is_owner)
            block_unref(block);
    }
}
