/* SPDX-License-Identifier: MIT */
/* Memory pools, as far as stream-ordered allocation meets them: what is allocated from one is counted there. */
#ifndef SOFT_MEMORY_POOL_H
#define SOFT_MEMORY_POOL_H

#include "soft.h"

struct pool;

/* The pool that the device's stream-ordered allocations are taken from now; NULL without memory. */
struct pool *pool_current(int device);

/* Counts memory that is taken from a pool, which lives as long as that, and memory that goes back. */
void pool_take(struct pool *pool, size_t size);
void pool_give_back(struct pool *pool, size_t size);

#endif
