/* SPDX-License-Identifier: MIT */
/*
 * call_time.c - times cuStreamIsCapturing on a GPU, through the table and linked, in alternating batches. Each line is
 * one pair of batches, in nanoseconds for a call: "table direct". call_time.py runs it and judges the result.
 *
 * It is linked to libcuda.so.1 like any CUDA program, so its direct call goes through the procedure linkage table. Exit
 * status 77: the machine has no GPU. 127, from the dynamic loader: it has no libcuda.so.1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cushim/cushim.h"

enum { WARM_UP = 20, PAIRS = 500, BATCH = 20000 };

CUresult CUDAAPI cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double time_direct(CUstream stream)
{
    CUstreamCaptureStatus status;
    double start = now();
    for (int i = 0; i < BATCH; i++)
        (void)cuStreamIsCapturing(stream, &status);
    return (now() - start) / BATCH;
}

static double time_table(CUstream stream)
{
    CUstreamCaptureStatus status;
    double start = now();
    for (int i = 0; i < BATCH; i++)
        (void)cushim_table()->StreamIsCapturing_v1(stream, &status);
    return (now() - start) / BATCH;
}

static CUstream create_stream(void)
{
    const struct cushim_dispatch_table *cu = cushim_table();
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUresult result = cu->DeviceGet_v1(&device, 0);
    if (result == CUDA_SUCCESS)
        result = cu->DevicePrimaryCtxRetain_v1(&context, device);
    if (result == CUDA_SUCCESS)
        result = cu->CtxSetCurrent_v1(context);
    if (result == CUDA_SUCCESS)
        result = cu->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "call_time: a stream cannot be made: code %d\n", (int)result);
        exit(1);
    }
    return stream;
}

int main(void)
{
    if (cushim_init() != CUDA_SUCCESS) {
        fprintf(stderr, "no usable GPU: %s\n", cushim_error_last()->message);
        return 77;
    }
    CUstream stream = create_stream();
    for (int i = -WARM_UP; i < PAIRS; i++) {
        double table = i % 2 == 0 ? time_table(stream) : 0;
        double direct = time_direct(stream);
        if (i % 2 != 0)
            table = time_table(stream);
        if (i >= 0)
            printf("%.4f %.4f\n", table, direct);
    }
    return cushim_table()->StreamDestroy_v2(stream) == CUDA_SUCCESS ? 0 : 1;
}
