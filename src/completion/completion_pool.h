/* SPDX-License-Identifier: MIT */
/* The memory of completions: completion_pool.c. */
#ifndef CUSHIM_COMPLETION_POOL_H
#define CUSHIM_COMPLETION_POOL_H

#include "completion_object.h"

/*
 * Returns a completion whose index is set, or NULL if the host is out of memory or too many completions exist. It is
 * one whose event belongs to the context with this id (0: without an event), if there is one; otherwise it has none. In
 * rare cases its event belongs to another context, which may be gone.
 */
struct cushim_completion *cush_completion_pool_get(unsigned long long id);

/* Takes a completion back for reuse. */
void cush_completion_pool_put(struct cushim_completion *completion);

/* Calls a function for every completion that has memory. Each can be free. */
void cush_completion_pool_each(void (*visit)(struct cushim_completion *completion, void *user), void *user);

/* Returns the completion with an index. */
struct cushim_completion *cush_completion_pool_at(unsigned index);

/* A list from which several threads may take single completions. A completion can be in one list at a time. */
struct completion_list {
    _Atomic(uint64_t) head; /* changes << INDEX_BITS | index + 1 of the first completion */
};

/* Puts a chain of completions, linked by `next`, in front of the list. */
void cush_completion_list_put(struct completion_list *list, struct cushim_completion *first,
                              struct cushim_completion *last);

/* Takes the first completion of the list. Returns NULL if the list is empty. */
struct cushim_completion *cush_completion_list_take(struct completion_list *list);

bool cush_completion_list_is_empty(const struct completion_list *list);

#endif
