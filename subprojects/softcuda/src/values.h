/* SPDX-License-Identifier: MIT */
/* Waiting for and writing values in memory, in a stream. */
#ifndef SOFT_VALUES_H
#define SOFT_VALUES_H

#include "soft.h"

/* Executes them in order, without the lock; gives up when the stream's context is lost. */
void values_run(const CUstreamBatchMemOpParams *items, unsigned count, const struct stream *stream);

#endif
