/* SPDX-License-Identifier: MIT */
/* Kernels: registered C functions that replace kernels of the same names. */
#ifndef SOFT_KERNEL_H
#define SOFT_KERNEL_H

#include "soft.h"

#include "softcuda.h"
#include "work.h"

/* Executes one launch, without the lock. A result other than success is the sticky error of the context. */
CUresult kernel_run(const struct kernel *kernel);

/* Registers a function under `name` (see softcuda.h), in place of an earlier one. Takes the lock itself. */
int kernel_register(const char *name, softcuda_kernel function, const size_t *sizes, size_t count);

#endif
