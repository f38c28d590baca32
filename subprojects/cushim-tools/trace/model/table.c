/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t key_hash(struct trace_key key)
{
    uint64_t hash = (key.id ^ (uint64_t)key.process << 40 ^ (uint64_t)key.kind << 56) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 20);
}

static bool key_is(struct trace_key one, struct trace_key other)
{
    return one.id == other.id && one.process == other.process && one.kind == other.kind;
}

/* Returns the entry with the key, or the free one where it belongs. */
static struct trace_key *table_bucket(const struct trace_table *table, struct trace_key key)
{
    for (size_t i = key_hash(key);; i++) {
        struct trace_key *entry = (void *)(table->entries + (i & (table->capacity - 1)) * table->size);
        if (entry->kind == 0 || key_is(*entry, key))
            return entry;
    }
}

void *trace_table_find(const struct trace_table *table, struct trace_key key)
{
    struct trace_key *entry = table->capacity > 0 ? table_bucket(table, key) : NULL;
    return entry != NULL && entry->kind != 0 ? entry : NULL;
}

void *trace_table_next(const struct trace_table *table, const void *entry)
{
    size_t i = entry == NULL ? 0 : (size_t)((const char *)entry - table->entries) / table->size + 1;
    for (; i < table->capacity; i++) {
        struct trace_key *next = (void *)(table->entries + i * table->size);
        if (next->kind != 0)
            return next;
    }
    return NULL;
}

static bool table_grow(struct trace_table *table)
{
    struct trace_table grown = {.size = table->size, .capacity = table->capacity > 0 ? 2 * table->capacity : 64};
    grown.entries = calloc(grown.capacity, grown.size);
    if (grown.entries == NULL)
        return false;
    for (struct trace_key *entry = NULL; (entry = trace_table_next(table, entry)) != NULL; grown.count++)
        memcpy(table_bucket(&grown, *entry), entry, grown.size);
    free(table->entries);
    *table = grown;
    return true;
}

void *trace_table_add(struct trace_table *table, struct trace_key key)
{
    struct trace_key *entry = trace_table_find(table, key);
    if (entry != NULL)
        return entry;
    if (3 * (table->count + 1) > 2 * table->capacity && !table_grow(table))
        return NULL;
    entry = table_bucket(table, key);
    *entry = key;
    table->count++;
    return entry;
}
