/* SPDX-License-Identifier: MIT */
/*
 * A wait for an event that was destroyed.
 *
 * title: Why calls failed
 * finds: cuStreamWaitEvent returned CUDA_ERROR_INVALID_HANDLE: event 2 was destroyed [\d.]+ \w+ before, by thread \d+,
 *     in cuEventDestroy_v2: destroy it after its last use
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUevent ready;
    cuEventCreate(&ready, 2);
    cuEventRecord(ready, stream);
    if (is_wrong)
        cuEventDestroy_v2(ready);
    cuStreamWaitEvent(side, ready, 0);
    if (!is_wrong)
        cuEventDestroy_v2(ready);
}
