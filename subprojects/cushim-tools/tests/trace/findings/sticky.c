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

/* The fault of a launch comes behind the calls before fault_end(), as it usually does, which waits for its stream. */
static void fault_begin(bool is_wrong)
{
    pthread_mutex_lock(&submitting);
    faults = is_wrong;
    if (faults && softcuda() == NULL)
        cuModuleGetFunction(&storing, of_store, "fault");
}

static void fault_end(CUstream in)
{
    pthread_mutex_unlock(&submitting);
    cuStreamSynchronize(in);
    cuModuleUnload(of_store);
    cuModuleUnload(of_fill);
}

/* Launches that the caller waits for, of which the first one has the fault. */
static void launch_with_fault(bool is_wrong, bool is_side_used)
{
    fault_begin(is_wrong);
    launch(storing, stream);
    launch(storing, stream);
    if (is_side_used)
        launch(filling, side);
    fault_end(stream);
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
 * The launch at fault is older than much other work, for which a wait has succeeded.
 *
 * title: Errors that every later call returns
 * finds: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS.* No wait for this work has succeeded, so the fault is
 *     in it: store in stream 2\..*
 */
SCENARIO(old_fault)
{
    load();
    fault_begin(is_wrong);
    launch(storing, side);
    for (int i = 0; i < 2000; i++)
        cuMemsetD8Async(memory, 0, 16, stream);
    cuStreamSynchronize(stream);
    fault_end(side);
}

/*
 * The same, and there is so much work of different kinds that the launch is forgotten.
 *
 * title: Errors that every later call returns
 * finds: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS.* The file has no wait that succeeded for earlier work
 *     that is not named\. The last wait that succeeded was .*
 */
SCENARIO(forgotten_fault)
{
    load();
    fault_begin(is_wrong);
    launch(storing, side);
    for (int i = 0; i < 1000; i++) {
        cuMemsetD8Async(memory, 0, 16, stream);
        launch(filling, stream);
    }
    cuStreamSynchronize(stream);
    fault_end(side);
}

/*
 * A wait for a blocking stream without work is none for the legacy stream.
 *
 * title: Errors that every later call returns
 * finds: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS.* No wait for this work has succeeded, so the fault is
 *     in it: store in the legacy stream\..*
 */
SCENARIO(idle_blocking_stream)
{
    CUstream blocking;
    load();
    cuStreamCreate(&blocking, 0);
    fault_begin(is_wrong);
    launch(storing, NULL);
    cuStreamSynchronize(blocking);
    cuStreamSynchronize(blocking);
    fault_end(NULL);
    cuStreamDestroy_v2(blocking);
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
