/* SPDX-License-Identifier: MIT */
/*
 * Another thread has destroyed the context that is current.
 *
 * title: Why calls failed
 * finds: cuStreamCreate returned CUDA_ERROR_CONTEXT_IS_DESTROYED: context 2, which is current on this thread, was
 *     destroyed .* before, by thread \d+, in cuCtxDestroy_v2: make another context current
 */
#include "driver.h"

static void *destroy(void *second)
{
    cuCtxDestroy_v2(second);
    return NULL;
}

static void run(bool is_wrong)
{
    CUcontext second;
    CUstream last = NULL;
    cuCtxCreate_v2(&second, 0, device);
    if (!is_wrong) {
        cuStreamCreate(&last, 1);
        cuStreamDestroy_v2(last);
    }
    on_thread(destroy, second);
    if (is_wrong)
        cuStreamCreate(&last, 1);
    cuCtxSetCurrent(context);
}
