/* SPDX-License-Identifier: MIT */
/*
 * The program of loader/amalgamation/REPLACE.md. It calls the driver by its own names, and compiles with either
 * driver.h: that of a loader with dlsym(), and that of cushim.
 */
#include <stdio.h>
#include <string.h>

#include "driver.h"

static int failed(const char *step, CUresult result)
{
    const char *name = "an unknown code", *text = "";
    if (result == 0)
        return 0;
    (void)cuGetErrorName(result, &name);
    (void)cuGetErrorString(result, &text);
    printf("%s: %s (%s)\n", step, name, text);
    return 1;
}

static void count_call(void *user)
{
    ++*(int *)user;
}

/* Copies a text to the GPU and back, and then has a function called. */
static int use_stream(CUstream stream, CUdeviceptr memory)
{
    static const char text[] = "text";
    char copy[sizeof text] = "";
    int calls = 0;
    if (failed("copy to the GPU", cuMemcpyHtoDAsync(memory, text, sizeof text, stream))
        || failed("copy from the GPU", cuMemcpyDtoHAsync(copy, memory, sizeof text, stream))
        || failed("host function", cuLaunchHostFunc(stream, count_call, &calls))
        || failed("wait", cuStreamSynchronize(stream)))
        return 1;
    printf("copied %d bytes, %d call\n", strcmp(copy, text) == 0 ? (int)sizeof text : 0, calls);
    return 0;
}

static int use_context(void)
{
    CUstream stream;
    CUdeviceptr memory;
    if (failed("stream", cuStreamCreate(&stream, 0)))
        return 1;
    int result = failed("memory", cuMemAlloc(&memory, 4096));
    if (result == 0) {
        result = use_stream(stream, memory);
        (void)cuMemFree(memory);
    }
    (void)cuStreamDestroy(stream);
    return result;
}

int main(void)
{
    CUcontext context, popped;
    CUdevice device;
    int version = 0;
    const char *why = driver_load();
    if (why != NULL) {
        printf("no GPU: %s\n", why);
        return 0;
    }
    if (failed("cuInit", cuInit(0)) || failed("version", cuDriverGetVersion(&version))
        || failed("device", cuDeviceGet(&device, 0)) || failed("context", cuDevicePrimaryCtxRetain(&context, device)))
        return 0;
    printf("CUDA %d.%d: ", version / 1000, version % 1000 / 10);
    if (!failed("push", cuCtxPushCurrent(context))) {
        (void)use_context();
        (void)cuCtxPopCurrent(&popped);
    }
    (void)cuDevicePrimaryCtxRelease(device);
    return 0;
}
