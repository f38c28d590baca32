/* SPDX-License-Identifier: MIT */
/*
 * The time between two events, of which the second one was created without timing.
 *
 * title: Times that events do not have
 * finds: cuEventElapsedTime returned CUDA_ERROR_INVALID_HANDLE: event 3 does not record its time, because
 *     cuEventCreate created it with CU_EVENT_DISABLE_TIMING at \d\.\d{6} s: create it without this flag
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUevent from, to;
    float milliseconds;
    cuEventCreate(&from, 0);
    cuEventCreate(&to, is_wrong ? 2 : 0);
    cuEventRecord(from, stream);
    cuEventRecord(to, stream);
    cuEventSynchronize(to);
    cuEventElapsedTime(&milliseconds, from, to);
    cuEventDestroy_v2(to);
    cuEventDestroy_v2(from);
}
