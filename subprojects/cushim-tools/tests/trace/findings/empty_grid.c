/* SPDX-License-Identifier: MIT */
/*
 * The number of blocks is rounded down, and is 0 for few elements.
 *
 * title: Launches with impossible dimensions
 * finds: cuLaunchKernel of fill returned CUDA_ERROR_INVALID_VALUE: its grid is empty, 0x1x1: round up when you divide
 *     by the size of a block, and do not launch if there is no work
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUmodule module;
    unsigned count = 100, block = 128, blocks = is_wrong ? count / block : (count + block - 1) / block;
    cuLaunchKernel(kernel(&module, "fill", fill), blocks, 1, 1, block, 1, 1, 0, stream, NULL, NULL);
    cuStreamSynchronize(stream);
    cuModuleUnload(module);
}
