/* SPDX-License-Identifier: MIT */
/*
 * An allocation that is too large, while others are alive.
 *
 * title: Why calls failed
 * finds: cuMemAlloc_v2 returned CUDA_ERROR_OUT_OF_MEMORY: it asked for 1125899906842624 bytes; 3 device allocations
 *     with 13312 bytes were alive: 12288 bytes from cuMemAllocManaged \(2\), 1024 bytes from cuMemAlloc_v2 \(1\)
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUdeviceptr second, third = 0, managed;
    cuMemAllocManaged(&second, 4096, 1);
    cuMemAllocManaged(&managed, 8192, 1);
    cuMemAlloc_v2(&third, is_wrong ? (size_t)1 << 50 : 4096);
    if (third != 0)
        cuMemFree_v2(third);
    cuMemFree_v2(managed);
    cuMemFree_v2(second);
}
