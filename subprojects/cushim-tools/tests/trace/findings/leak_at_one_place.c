/* SPDX-License-Identifier: MIT */
/*
 * One place does not free its memory, and others do: half of the allocations are freed.
 *
 * title: What grows
 * finds: cuMemAlloc_v2 creates device allocations again and again: 40 of 40 were not destroyed
 */
#include "driver.h"

static void run(bool is_wrong)
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
