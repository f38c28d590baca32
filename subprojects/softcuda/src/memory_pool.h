/* SPDX-License-Identifier: MIT */
/* Memory pools, as far as stream-ordered allocation needs them: they count the memory that is allocated from them. */
#ifndef SOFT_MEMORY_POOL_H
#define SOFT_MEMORY_POOL_H

#include "soft.h"

struct pool;

/* The current pool of the device's stream-ordered allocations; NULL if out of memory. */
struct pool *pool_current(int device);

/* Count memory that is allocated from a pool, which stays alive as long as that memory, and memory that is freed. */
void pool_take(struct pool *pool, size_t size);
void pool_give_back(struct pool *pool, size_t size);

#endif
