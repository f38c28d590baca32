/* SPDX-License-Identifier: MIT */
/*
 * Memory that is not freed before its context is destroyed.
 *
 * title: What was left at the end
 * finds: 2 of 3 device allocations \(12288 bytes\) were not freed before the context ended, the first one created by
 *     cuMemAlloc_v2
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUcontext own;
    CUdeviceptr first, second;
    cuCtxCreate_v2(&own, 0, device);
    cuMemAlloc_v2(&first, 4096);
    cuMemAlloc_v2(&second, 8192);
    if (!is_wrong) {
        cuMemFree_v2(second);
        cuMemFree_v2(first);
    }
    cuCtxDestroy_v2(own);
    cuCtxSetCurrent(context);
}
