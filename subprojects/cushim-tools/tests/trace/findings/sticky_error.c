/* SPDX-License-Identifier: MIT */
/*
 * A kernel uses an invalid address, and a later call returns the error: not the launch, and not the next ones. Two of
 * the launches before it are complete.
 *
 * title: Errors that every later call returns
 * finds: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS, and so did \d+ later calls: work on the GPU failed
 *     before, and only a new process can go on\. No wait for this work has succeeded, so the fault is in it: fill in
 *     stream 2, store in stream 1 \(2 times\)\. The last wait that succeeded was cuStreamSynchronize at \d\.\d{6} s\.
 *     With CUDA_LAUNCH_BLOCKING=1, the launch itself fails; compute-sanitizer shows the line of the kernel
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
    cuLaunchKernel(storing, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    cuStreamSynchronize(side);
    cuStreamSynchronize(stream);
    pthread_mutex_lock(&submitting); /* the fault comes behind the launches, as it usually does */
    faults = is_wrong;
    if (faults && softcuda() == NULL)
        cuModuleGetFunction(&storing, other, "fault");
    cuLaunchKernel(storing, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    cuLaunchKernel(storing, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    cuLaunchKernel(filling, 1, 1, 1, 32, 1, 1, 0, side, NULL, NULL);
    pthread_mutex_unlock(&submitting);
    cuStreamSynchronize(stream);
    cuModuleUnload(other);
    cuModuleUnload(module);
}
