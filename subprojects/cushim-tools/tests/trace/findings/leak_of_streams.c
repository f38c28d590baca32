/* SPDX-License-Identifier: MIT */
/*
 * A stream for each piece of work, never destroyed. A pool of streams, created before the first is used, is right.
 *
 * title: What grows
 * finds: cuStreamCreate creates streams again and again: 40 of 40 were not destroyed
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUstream streams[40];
    for (int i = 0; i < 40; i++) {
        cuStreamCreate(&streams[i], 1);
        if (is_wrong)
            cuStreamSynchronize(streams[i]);
    }
    cuStreamSynchronize(streams[0]);
}
