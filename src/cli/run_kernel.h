/* SPDX-License-Identifier: MIT */
/* The kernel of "cushim run", which replaces each number n by 2 n + 1, and the memset that replaces the kernel. */
#ifndef CUSHIM_CLI_RUN_KERNEL_H
#define CUSHIM_CLI_RUN_KERNEL_H

#include "cushim/cushim.h"

struct run_kernel {
    CUmodule module;
    CUfunction function; /* NULL: a memset is used instead */
    CUresult result;     /* of loading the kernel */
};

/* Whether softcuda is loaded. If so, *out_driver is the driver that it stands for, such as "550". */
bool run_kernel_on_softcuda(const char **out_driver);

/* Loads the kernel in the current context. Never fails, because a memset can replace it. */
struct run_kernel run_kernel_load(void);
CUresult run_kernel_unload(struct run_kernel *kernel);

CUresult run_kernel_launch(const struct run_kernel *kernel, CUdeviceptr numbers, unsigned count, CUstream stream);

/* The expected result for one number. */
unsigned run_kernel_result(const struct run_kernel *kernel, unsigned number);

#endif
