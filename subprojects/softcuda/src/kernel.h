/* SPDX-License-Identifier: MIT */
/* Kernels: C functions that stand for kernels of their names. */
#ifndef SOFT_KERNEL_H
#define SOFT_KERNEL_H

#include "soft.h"

#include "softcuda.h"
#include "work.h"

/* Runs one launch, without the lock. What it returns, if not success, poisons the context. */
CUresult kernel_run(const struct kernel *kernel);

/* Makes `name` stand for a function (see softcuda.h); replaces an earlier one. Takes the lock itself. */
int kernel_register(const char *name, softcuda_kernel function, const size_t *sizes, size_t count);

#endif
