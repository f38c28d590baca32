/* SPDX-License-Identifier: MIT */
/* Launches of kernels. Registered C functions replace kernels of the same names: see function.h. */
#ifndef SOFT_KERNEL_H
#define SOFT_KERNEL_H

#include "soft.h"

#include "work.h"

/* Executes one launch, without the lock. A result other than success is the sticky error of the context. */
CUresult kernel_run(const struct kernel *kernel);

/* Creates work from a caller's description. Fails with 1, 801, or 2. */
CUresult work_from_kernel(const CUDA_KERNEL_NODE_PARAMS_v2 *params, struct work **out_work);

#endif
