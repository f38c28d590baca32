/* SPDX-License-Identifier: MIT */
/* Objects that are created and not destroyed. */
#include "driver.h"

/*
 * Memory that is not freed before its context is destroyed.
 *
 * title: What was left at the end
 * finds: 2 of 3 device allocations \(12288 bytes\) were not freed before the context ended, the first one created by
 *     cuMemAlloc_v2
 */
SCENARIO(leak_in_context)
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

/*
 * A stream for each piece of work, never destroyed. A pool of streams, created before the first is used, is right.
 *
 * title: What grows
 * finds: cuStreamCreate creates streams again and again: 40 of 40 were not destroyed
 */
SCENARIO(leak_of_streams)
{
    CUstream streams[40];
    for (int i = 0; i < 40; i++) {
        cuStreamCreate(&streams[i], 1);
        if (is_wrong)
            cuStreamSynchronize(streams[i]);
    }
    cuStreamSynchronize(streams[0]);
}

/*
 * One place does not free its memory, and others do: half of the allocations are freed.
 *
 * title: What grows
 * finds: cuMemAlloc_v2 creates device allocations again and again: 40 of 40 were not destroyed
 */
SCENARIO(leak_at_one_place)
{
    CUdeviceptr leaked, other;
    for (int i = 0; i < 40; i++) {
        cuMemAlloc_v2(&leaked, 256);
        cuMemAlloc_v2(&other, 256);
        cuMemFree_v2(other);
        if (!is_wrong)
            cuMemFree_v2(leaked);
    }
}
