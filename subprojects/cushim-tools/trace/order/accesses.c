/* SPDX-License-Identifier: MIT */
#include "accesses.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ACCESSES = 96 };

/* ---- memory ---- */

/* Ranges that have an address in common are equal. */
static int compare_ranges(const void *a, const void *b)
{
    const struct trace_block *one = a, *other = b;
    return one->high <= other->low ? -1 : one->low >= other->high ? 1 : 0;
}

static struct trace_block *memory_any(const struct trace_blocks *memories, uint64_t low, uint64_t high)
{
    const struct trace_block range = {.low = low, .high = high};
    struct trace_block *const *found = low < high ? tfind(&range, &memories->root, compare_ranges) : NULL;
    return found != NULL ? *found : NULL;
}

struct trace_block *trace_block_find(const struct trace_blocks *memories, uint64_t low, uint64_t high)
{
    struct trace_block *found = memory_any(memories, low, high), *before = found;
    while (before != NULL && before->low > low && (before = memory_any(memories, low, found->low)) != NULL)
        found = before;
    return found;
}

struct trace_block *trace_block_at(const struct trace_blocks *memories, uint64_t address)
{
    return memory_any(memories, address, address + 1);
}

static void memory_free(void *memory)
{
    struct trace_block *one = memory;
    trace_clock_clear(&one->freed);
    free(one->accesses.all);
    free(one);
}

void trace_block_remove(struct trace_blocks *memories, struct trace_block *memory)
{
    tdelete(memory, &memories->root, compare_ranges);
    memory_free(memory);
}

struct trace_block *trace_block_add(struct trace_blocks *memories, uint64_t low, uint64_t size)
{
    struct trace_block *memory = calloc(1, sizeof *memory), *old;
    uint64_t high = low + (size > 0 ? size : 1);
    if (memory == NULL)
        return NULL;
    memory->low = low;
    memory->high = high > low ? high : UINT64_MAX;
    while ((old = memory_any(memories, memory->low, memory->high)) != NULL)
        trace_block_remove(memories, old);
    if (tsearch(memory, &memories->root, compare_ranges) == NULL) {
        free(memory);
        return NULL;
    }
    return memory;
}

void trace_blocks_free(struct trace_blocks *memories)
{
    tdestroy(memories->root, memory_free);
    memories->root = NULL;
}

/* ---- accesses ---- */

static bool is_complete(const struct trace_comparison *comparison, const struct trace_access *access)
{
    return comparison->host != NULL && trace_horizon_has(comparison->host, access->stream, access->index);
}

static bool is_changing(enum trace_access_kind kind)
{
    return kind != TRACE_READS && kind != TRACE_HOLDS;
}

/* What a kernel does to memory to which it has a pointer is not known: certain is only that the memory must exist. */
static bool can_conflict(enum trace_access_kind one, enum trace_access_kind other)
{
    if (one == TRACE_HOLDS || other == TRACE_HOLDS)
        return one > TRACE_HOLDS || other > TRACE_HOLDS;
    return is_changing(one) || is_changing(other);
}

/* Whether later accesses that conflict with an ordered one also conflict with a newer one. */
static bool is_covered(const struct trace_access *old, const struct trace_access *access)
{
    bool is_inside =
        access->span.pitch == 0 && access->span.low <= old->span.low && old->span.high <= access->span.high;
    bool is_same_read = old->kind == access->kind && old->stream == access->stream;
    return is_inside && old->kind != TRACE_FREES && (is_changing(access->kind) || is_same_read);
}

/* Compares an access with an earlier one, whose span it may overlap. */
static bool access_compare(struct trace_access *old, const struct trace_access *access,
                           const struct trace_comparison *comparison)
{
    bool is_ordered = trace_clock_find(comparison->clock, trace_tick_key(old->stream, false)) >= old->index;
    bool frees = old->kind == TRACE_FREES && access->kind != TRACE_FREES;
    bool is_conflict =
        is_ordered ? frees : can_conflict(old->kind, access->kind) && trace_spans_overlap(&old->span, &access->span);
    old->is_done = is_complete(comparison, old) || (is_ordered && is_covered(old, access));
    return !is_conflict || is_complete(comparison, old)
           || comparison->conflict(comparison->user, old, access, is_ordered);
}

/* Makes room for one more: forgets those that are complete and, if none is, the older half. */
static bool list_reserve(struct trace_access_list *list, const struct trace_comparison *comparison)
{
    size_t kept = 0, capacity = list->capacity > 0 ? 2 * list->capacity : 2;
    if (list->count >= MAX_ACCESSES) {
        for (size_t i = 0; i < list->count; i++) {
            if (!is_complete(comparison, &list->all[i]))
                list->all[kept++] = list->all[i];
        }
        list->count = kept;
    }
    if (list->count >= MAX_ACCESSES) {
        memmove(list->all, list->all + MAX_ACCESSES / 2, (list->count - MAX_ACCESSES / 2) * sizeof *list->all);
        list->count -= MAX_ACCESSES / 2;
    }
    if (list->count < list->capacity)
        return true;
    struct trace_access *grown = realloc(list->all, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    list->all = grown;
    list->capacity = capacity;
    return true;
}

bool trace_access_add(struct trace_access_list *list, const struct trace_access *access,
                      const struct trace_comparison *comparison)
{
    size_t kept = 0;
    bool is_done = false;
    for (size_t i = list->count; i-- > 0;) {
        struct trace_access *old = &list->all[i];
        if (old->span.low >= access->span.high || access->span.low >= old->span.high)
            continue;
        if (!access_compare(old, access, comparison))
            return false;
        is_done |= old->is_done;
    }
    for (size_t i = 0; is_done && i < list->count; i++) {
        if (!list->all[i].is_done)
            list->all[kept++] = list->all[i];
    }
    list->count = is_done ? kept : list->count;
    if (!list_reserve(list, comparison))
        return false;
    list->all[list->count++] = *access;
    return true;
}
