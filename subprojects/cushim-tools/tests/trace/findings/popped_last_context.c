/* SPDX-License-Identifier: MIT */
/*
 * A call after the only context was popped.
 *
 * title: Why calls failed
 * finds: cuStreamCreate returned CUDA_ERROR_INVALID_CONTEXT: no context is current on this thread: context 1 was,
 *     until .* before, by thread \d+, in cuCtxPopCurrent_v2; call cuCtxSetCurrent before
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUcontext popped;
    CUstream last = NULL;
    cuCtxPopCurrent_v2(&popped);
    if (!is_wrong)
        cuCtxPushCurrent_v2(popped);
    cuStreamCreate(&last, 1);
    cuCtxSetCurrent(context);
    if (last != NULL)
        cuStreamDestroy_v2(last);
}
