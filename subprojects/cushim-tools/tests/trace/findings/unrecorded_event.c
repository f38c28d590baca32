/* SPDX-License-Identifier: MIT */
/*
 * The time between two events, of which the first one was not recorded. A wait for such an event succeeds.
 *
 * title: Times that events do not have
 * finds: cuEventElapsedTime returned CUDA_ERROR_INVALID_HANDLE: event 2 was never recorded: record both events
 *     \(cuEventRecord\) and wait for the second one \(cuEventSynchronize\) before
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUevent from, to;
    float milliseconds;
    cuEventCreate(&from, 0);
    cuEventCreate(&to, 0);
    if (!is_wrong)
        cuEventRecord(from, stream);
    cuStreamWaitEvent(side, from, 0);
    cuEventRecord(to, stream);
    cuEventSynchronize(from);
    cuEventSynchronize(to);
    cuEventElapsedTime(&milliseconds, from, to);
    cuEventDestroy_v2(to);
    cuEventDestroy_v2(from);
}
