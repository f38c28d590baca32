/* SPDX-License-Identifier: MIT */
/*
 * The driver functions of the programs in this directory. Each program takes one argument: with "wrong" it has the
 * error that its first comment describes, and with "right" it is a correct program that looks like it.
 */
#ifndef FINDINGS_DRIVER_H
#define FINDINGS_DRIVER_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda.h"

typedef int CUresult, CUdevice;
typedef void *CUcontext, *CUstream, *CUevent, *CUgraph, *CUgraphExec, *CUmodule, *CUlibrary, *CUfunction;
typedef unsigned long long CUdeviceptr;
enum { GLOBAL, THREAD_LOCAL, RELAXED };

CUresult cuInit(unsigned flags);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *context);
CUresult cuCtxSynchronize(void);
CUresult cuStreamCreate(CUstream *stream, unsigned flags);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuEventCreate(CUevent *event, unsigned flags);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags);
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream);
CUresult cuGraphExecDestroy(CUgraphExec executable);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t size);
CUresult cuMemAllocManaged(CUdeviceptr *memory, size_t size, unsigned flags);
CUresult cuMemFree_v2(CUdeviceptr memory);
CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *memory, unsigned flags);
CUresult cuMemFreeHost(void *memory);
CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer);
CUresult cuMemsetD8_v2(CUdeviceptr memory, unsigned char value, size_t count);
CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t count, CUstream stream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t count);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t count, CUstream stream);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuLibraryLoadData(CUlibrary *library, const void *image, void *options, void **values, unsigned count,
                           void *library_options, void **library_values, unsigned library_count);
CUresult cuLibraryGetKernel(CUfunction *kernel, CUlibrary library, const char *name);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **parameters,
                        void **extra);

static CUdevice device;
static CUcontext context;
static CUstream stream, side;
static CUevent event;
static CUdeviceptr memory;

/* Two non-blocking streams, an event and 1024 bytes in the primary context, which is current. */
static inline void start(void)
{
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    cuStreamCreate(&stream, 1);
    cuStreamCreate(&side, 1);
    cuEventCreate(&event, 2);
    cuMemAlloc_v2(&memory, 1024);
}

static inline void end(void)
{
    cuMemFree_v2(memory);
    cuEventDestroy_v2(event);
    cuStreamDestroy_v2(side);
    cuStreamDestroy_v2(stream);
    cuDevicePrimaryCtxRelease_v2(device);
}

/* softcuda, or NULL if it is another driver. */
static inline const struct softcuda_control *softcuda(void)
{
    softcuda_control_fn get = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW),
         *found = library != NULL ? dlsym(library, SOFTCUDA_CONTROL_SYMBOL) : NULL;
    memcpy(&get, &found, sizeof get);
    return get != NULL ? get(SOFTCUDA_CONTROL_VERSION) : NULL;
}

/* The kernels of the programs for a GPU: two that do nothing, and one with an illegal address. softcuda does not read
 * them, and calls the functions that the programs register. */
static const char image[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                            ".visible .entry fill() { ret; }\n"
                            ".visible .entry _Z5storePf() { ret; }\n"
                            ".visible .entry fault()\n"
                            "{\n"
                            "    .reg .b64 %address;\n"
                            "    mov.u64 %address, 0;\n"
                            "    st.global.u64 [%address], %address;\n"
                            "    ret;\n"
                            "}\n";

static inline void kernel_register(const char *name, softcuda_kernel run)
{
    if (softcuda() != NULL)
        softcuda()->register_kernel(name, run, NULL, 0);
}

/* A kernel of a module that is loaded. */
static inline CUfunction kernel(CUmodule *out_module, const char *name, softcuda_kernel run)
{
    CUfunction function;
    kernel_register(name, run);
    cuModuleLoadData(out_module, image);
    cuModuleGetFunction(&function, *out_module, name);
    return function;
}

/* Lets the next call of a function fail in softcuda, which does not check it as a GPU does. */
static inline void call_fail(const char *function, int result)
{
    if (softcuda() != NULL)
        softcuda()->fail_call(function, 1, result);
}

static inline bool is_wrong(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "wrong") == 0;
}

#endif
