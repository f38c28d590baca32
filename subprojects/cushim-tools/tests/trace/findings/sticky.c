/* SPDX-License-Identifier: MIT */
/* A kernel uses an invalid address, and a later call returns the error: not the launch, and not the next ones. */
#include "driver.h"

static int faults;
static pthread_mutex_t submitting = PTHREAD_MUTEX_INITIALIZER;
static CUmodule of_fill, of_store;
static CUfunction filling, storing;

static void launch(CUfunction function, CUstream in)
{
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, in, NULL, NULL);
}

static void store(struct softcuda_launch *one)
{
    pthread_mutex_lock(&submitting);
    if (faults)
        one->result = CUDA_ERROR_ILLEGAL_ADDRESS;
    pthread_mutex_unlock(&submitting);
}

static void load(void)
{
    filling = kernel(&of_fill, "fill", fill);
    storing = kernel(&of_store, "_Z5storePf", store);
}

/* Launches that the caller waits for, of which the first one has the fault. */
static void launch_with_fault(bool is_wrong, bool is_side_used)
{
    pthread_mutex_lock(&submitting); /* the fault comes behind the launches, as it usually does */
    faults = is_wrong;
    if (faults && softcuda() == NULL)
        cuModuleGetFunction(&storing, of_store, "fault");
    launch(storing, stream);
    launch(storing, stream);
    if (is_side_used)
        launch(filling, side);
    pthread_mutex_unlock(&submitting);
    cuStreamSynchronize(stream);
    cuModuleUnload(of_store);
    cuModuleUnload(of_fill);
}

/*
 * Two of the launches before it are complete.
 *
 * title: Errors that every later call returns
 * finds: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS, and so did \d+ later calls: work on the GPU failed
 *     before, and only a new process can go on\. No wait for this work has succeeded, so the fault is in it: fill in
 *     stream 2, store in stream 1 \(2 times\)\. The last wait that succeeded was cuStreamSynchronize at \d\.\d{6} s\.
 *     With CUDA_LAUNCH_BLOCKING=1, the launch itself fails; compute-sanitizer shows the line of the kernel
 */
SCENARIO(sticky_error)
{
    load();
    launch(filling, side);
    launch(storing, stream);
    cuStreamSynchronize(side);
    cuStreamSynchronize(stream);
    launch_with_fault(is_wrong, true);
}

/*
 * The work of the other stream is complete: a wait has succeeded for the stream that waits for its event.
 *
 * title: Errors that every later call returns
 * finds: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS.* No wait for this work has succeeded, so the fault is
 *     in it: store in stream 1 \(2 times\)\. The last wait that succeeded was cuStreamSynchronize at .*
 */
SCENARIO(joined_streams)
{
    load();
    launch(filling, side);
    cuEventRecord(event, side);
    cuStreamWaitEvent(stream, event, 0);
    cuStreamSynchronize(stream);
    launch_with_fault(is_wrong, false);
}
