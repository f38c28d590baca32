/* SPDX-License-Identifier: MIT */
/*
 * A call in a thread in which no context is current.
 *
 * title: Why calls failed
 * finds: cuStreamCreate returned CUDA_ERROR_INVALID_CONTEXT: no context is current on this thread; each thread has
 *     its own, and context 1 is current on thread \d+: call cuCtxSetCurrent in this thread before
 * driver: NULL is not a valid context
 */
#include "driver.h"

static bool is_right;

static void *work(void *unused)
{
    CUstream own = NULL;
    if (is_right)
        cuCtxSetCurrent(context);
    cuStreamCreate(&own, 1);
    if (own != NULL)
        cuStreamDestroy_v2(own);
    return unused;
}

static void run(bool is_wrong)
{
    is_right = !is_wrong;
    on_thread(work, NULL);
}
