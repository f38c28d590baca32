/* SPDX-License-Identifier: MIT */
/* The kernel of "cushim run": n becomes 2 n + 1, for each number; or what stands in where there is no such kernel. */
#ifndef CUSHIM_CLI_RUN_KERNEL_H
#define CUSHIM_CLI_RUN_KERNEL_H

#include "cushim/cushim.h"

struct run_kernel {
    CUmodule module;
    CUfunction function; /* NULL: a memset stands in */
    CUresult why_not;    /* then, why */
};

/* Whether softcuda is what is loaded: *out_driver is then the driver that it stands for, "550". */
bool run_kernel_on_softcuda(const char **out_driver);

/* Makes the kernel in the current context. Never fails: there is always something that stands in. */
struct run_kernel run_kernel_load(void);
CUresult run_kernel_unload(struct run_kernel *kernel);

CUresult run_kernel_launch(const struct run_kernel *kernel, CUdeviceptr numbers, unsigned count, CUstream stream);

/* What it makes of one number. */
unsigned run_kernel_result(const struct run_kernel *kernel, unsigned number);

#endif
