/* SPDX-License-Identifier: MIT */
/*
 * The programs in this directory: `PROGRAM SCENARIO wrong|right`. With "wrong" a scenario has the error that the
 * comment before it describes, and with "right" it is a correct program that looks like it.
 */
#ifndef FINDINGS_DRIVER_H
#define FINDINGS_DRIVER_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../functions.h"
#include "../scenario.h"
#include "softcuda.h"

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

/* Ends the capture of `stream`, and destroys its graph, if the driver has returned one. */
static inline void end_capture(void)
{
    CUgraph graph = NULL;
    cuStreamEndCapture(stream, &graph);
    if (graph != NULL)
        cuGraphDestroy(graph);
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

/* A kernel that does nothing. */
static inline void fill(struct softcuda_launch *launch)
{
    (void)launch;
}

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

/* Runs a function in another thread, and waits for its end. */
static inline void on_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, argument);
    pthread_join(thread, NULL);
}

/* A scenario uses the streams, the event and the memory of start(). */
struct scenario *scenarios;

int main(int argc, char **argv)
{
    const struct scenario *one = scenarios;
    while (one != NULL && (argc != 3 || strcmp(argv[1], one->name) != 0))
        one = one->next;
    if (one == NULL)
        return 2;
    start();
    one->run(strcmp(argv[2], "wrong") == 0);
    end();
    return 0;
}

#endif
