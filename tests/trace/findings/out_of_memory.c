/* SPDX-License-Identifier: MIT */
/*
 * An allocation that is too large, while others are alive.
 *
 * title: Why calls failed
 * finds: cuMemAlloc_v2 returned CUDA_ERROR_OUT_OF_MEMORY: it asked for 1125899906842624 bytes; 2 device allocations
 *     with 5120 bytes were not freed, most of them from cuMemAlloc_v2
 */
#include "driver.h"

int main(int argc, char **argv)
{
    CUdeviceptr second, third = 0;
    start();
    cuMemAlloc_v2(&second, 4096);
    cuMemAlloc_v2(&third, is_wrong(argc, argv) ? (size_t)1 << 50 : 4096);
    if (third != 0)
        cuMemFree_v2(third);
    cuMemFree_v2(second);
    end();
    return 0;
}
