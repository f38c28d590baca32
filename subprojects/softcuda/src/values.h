/* SPDX-License-Identifier: MIT */
/* Waiting for values in memory, and writing them, in a stream. */
#ifndef SOFT_VALUES_H
#define SOFT_VALUES_H

#include "soft.h"

#include "work.h"

/* Executes them in order, without the lock; stops when the stream's context is destroyed. */
void values_run(const CUstreamBatchMemOpParams *items, unsigned count, const struct stream *stream);

/* Creates work from a caller's description. Fails with 1, 801, or 2. */
CUresult work_from_values(unsigned count, const CUstreamBatchMemOpParams *items, struct work **out_work);

#endif
