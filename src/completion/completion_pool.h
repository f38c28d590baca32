/* SPDX-License-Identifier: MIT */
/* The memory of completions: completion_pool.c. */
#ifndef CUSHIM_COMPLETION_POOL_H
#define CUSHIM_COMPLETION_POOL_H

#include "completion_object.h"

/* Returns a completion whose index is set, or NULL if the host is out of memory or too many completions exist. */
struct cushim_completion *cush_completion_pool_get(void);

/* Takes a completion back for reuse. */
void cush_completion_pool_put(struct cushim_completion *completion);

/* Returns the completion with an index. */
struct cushim_completion *cush_completion_pool_at(unsigned index);

#endif
