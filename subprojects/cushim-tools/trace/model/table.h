/* SPDX-License-Identifier: MIT */
/* Hash tables. */
#ifndef CUSHIM_TRACE_TABLE_H
#define CUSHIM_TRACE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A table of entries of one size, found by a key, with which an entry begins. Begin with a zeroed struct that has the
 * size of an entry. */
struct trace_key {
    uint64_t id;
    uint32_t process;
    uint32_t kind; /* from 1; 0: a free entry */
};
struct trace_table {
    size_t size, count, capacity;
    char *entries;
};

/* Returns the entry, or NULL. */
void *trace_table_find(const struct trace_table *table, struct trace_key key);

/* Adds an absent entry; its other members are 0. The entries can move. NULL: there is not enough memory. */
void *trace_table_add(struct trace_table *table, struct trace_key key);

/* Goes through the entries: start with NULL. */
void *trace_table_next(const struct trace_table *table, const void *entry);

#endif
