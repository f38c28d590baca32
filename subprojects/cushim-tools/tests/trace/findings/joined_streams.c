/* SPDX-License-Identifier: MIT */
/*
 * A kernel uses an invalid address, and a later call returns the error. The work of the other stream is complete: a
 * wait has succeeded for the stream that waits for its event.
 *
 * title: Errors that every later call returns
 * finds: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS.* No wait for this work has succeeded, so the fault is
 *     in it: store in stream 1 \(2 times\)\. The last wait that succeeded was cuStreamSynchronize at .*
 */
#include "driver.h"

static int faults;
static pthread_mutex_t submitting = PTHREAD_MUTEX_INITIALIZER;

static void store(struct softcuda_launch *launch)
{
    pthread_mutex_lock(&submitting);
    if (faults)
        launch->result = CUDA_ERROR_ILLEGAL_ADDRESS;
    pthread_mutex_unlock(&submitting);
}

static void run(bool is_wrong)
{
    CUmodule module, other;
    CUfunction filling = kernel(&module, "fill", fill), storing = kernel(&other, "_Z5storePf", store);
    cuLaunchKernel(filling, 1, 1, 1, 32, 1, 1, 0, side, NULL, NULL);
    cuEventRecord(event, side);
    cuStreamWaitEvent(stream, event, 0);
    cuStreamSynchronize(stream);
    pthread_mutex_lock(&submitting); /* the fault comes behind the launches, as it usually does */
    faults = is_wrong;
    if (faults && softcuda() == NULL)
        cuModuleGetFunction(&storing, other, "fault");
    cuLaunchKernel(storing, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    cuLaunchKernel(storing, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    pthread_mutex_unlock(&submitting);
    cuStreamSynchronize(stream);
    cuModuleUnload(other);
    cuModuleUnload(module);
}
