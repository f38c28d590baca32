/* SPDX-License-Identifier: MIT */
/* Setting memory to a value. */
#ifndef SOFT_MEMSET_H
#define SOFT_MEMSET_H

#include "soft.h"

#include "work.h"

/* Creates work from a caller's description. Fails with 1, 801, or 2. */
CUresult work_from_set(const CUDA_MEMSET_NODE_PARAMS *params, struct work **out_work);

#endif
