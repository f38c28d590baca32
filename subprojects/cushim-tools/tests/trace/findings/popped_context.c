/* SPDX-License-Identifier: MIT */
/*
 * cuCtxSetCurrent(NULL) pops: the context below becomes current. Streams of the one that was popped cannot be used with
 * events of that.
 *
 * title: Why calls failed
 * finds: cuEventRecord returned CUDA_ERROR_INVALID_HANDLE: event \d+ was created in context 1, and stream \d+ in
 *     context 2: create both while the same context is current; which one is current at this call does not matter
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUcontext second, third;
    CUstream of_second;
    cuCtxCreate_v2(&second, 0, device);
    cuStreamCreate(&of_second, 1);
    cuCtxCreate_v2(&third, 0, device);
    cuCtxSetCurrent(NULL);
    cuEventRecord(event, is_wrong ? of_second : stream);
    cuStreamDestroy_v2(of_second);
    cuCtxDestroy_v2(third);
    cuCtxDestroy_v2(second);
    cuCtxSetCurrent(context);
}
