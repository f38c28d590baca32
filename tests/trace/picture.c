/* SPDX-License-Identifier: MIT */
/* A program for the picture of the page: two steps in ranges, then a capture that another thread invalidates. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "functions.h"
#include "nvtx_stand_in.h"

enum { SIZE = 4096, PAUSE = 1000000, WORK = 3000000 };
static CUstream compute, copies;
static CUcontext context;
static CUevent copied;
static CUdeviceptr memory;
static CUfunction forward, backward;
static char data[SIZE];

static void wait_for(long nanoseconds)
{
    const struct timespec time = {0, nanoseconds};
    nanosleep(&time, NULL);
}

static void work(void *unused)
{
    (void)unused;
    wait_for(WORK);
}

static void launch(const char *range, CUfunction kernel, int launches)
{
    nvtxRangePushA(range);
    for (int i = 0; i < launches; i++) {
        cuLaunchKernel(kernel, 64, 1, 1, 128, 1, 1, 0, compute, NULL, NULL);
        wait_for(PAUSE);
    }
    nvtxRangePop();
}

static void step(const char *name)
{
    nvtxRangePushA(name);
    cuMemcpyHtoDAsync_v2(memory, data, SIZE, copies);
    cuEventRecord(copied, copies);
    cuStreamWaitEvent(compute, copied, 0);
    launch("forward", forward, 2);
    launch("backward", backward, 3);
    cuLaunchHostFunc(compute, work, NULL);
    cuStreamSynchronize(compute);
    nvtxRangePop();
}

static void *allocate(void *unused)
{
    CUdeviceptr more;
    cuCtxSetCurrent(context);
    nvtxRangePushA("load next batch");
    wait_for(PAUSE);
    cuMemAlloc_v2(&more, SIZE);
    wait_for(PAUSE);
    nvtxRangePop();
    return unused;
}

static void capture(void)
{
    pthread_t thread;
    CUgraph graph;
    nvtxRangePushA("capture");
    cuStreamBeginCapture_v2(compute, CU_STREAM_CAPTURE_MODE_GLOBAL);
    launch("forward", forward, 2);
    pthread_create(&thread, NULL, allocate, NULL);
    pthread_join(thread, NULL);
    launch("backward", backward, 1);
    cuStreamEndCapture(compute, &graph);
    nvtxRangePop();
}

int main(void)
{
    CUmodule module;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuStreamCreate(&compute, 1);
    cuStreamCreate(&copies, 1);
    cuEventCreate(&copied, 2);
    cuMemAlloc_v2(&memory, SIZE);
    cuModuleLoadData(&module, ".version 7.0\n.target sm_50\n.address_size 64\n");
    cuModuleGetFunction(&forward, module, "_Z7forwardPKfPf");
    cuModuleGetFunction(&backward, module, "_Z8backwardPKfPf");
    step("step 0");
    step("step 1");
    capture();
    return 0;
}
