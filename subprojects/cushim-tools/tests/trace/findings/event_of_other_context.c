/* SPDX-License-Identifier: MIT */
/*
 * An event and a stream of two contexts. Which context is current does not matter: in the wrong program, it is that of
 * the event, and in the right one, it is neither the stream's nor the event's.
 *
 * title: Why calls failed
 * finds: cuEventRecord returned CUDA_ERROR_INVALID_HANDLE: event \d+ was created in context 1, and stream \d+ in
 *     context 2: create both while the same context is current; which one is current at this call does not matter
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUcontext second;
    CUstream of_second;
    CUevent of_both;
    cuCtxCreate_v2(&second, 0, device);
    cuStreamCreate(&of_second, 1);
    cuEventCreate(&of_both, 2);
    cuCtxSetCurrent(context);
    cuEventRecord(is_wrong ? event : of_both, of_second);
    cuEventDestroy_v2(of_both);
    cuStreamDestroy_v2(of_second);
    cuCtxDestroy_v2(second);
    cuCtxSetCurrent(context);
}
