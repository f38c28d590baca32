/* SPDX-License-Identifier: MIT */
/*
 * Errors whose results say what is wrong, and the programs that follow the advice of the report:
 *
 *   codes NAME wrong|right
 *
 * NAME is one of the list below. The exit status is 0 if the driver has accepted all that "right" does.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functions.h"
#include "softcuda.h"

static bool is_wrong;
static int failures;
static CUdevice device;
static CUcontext context;
static CUevent event;
static CUmodule module;

static void check(CUresult result)
{
    failures += result != CUDA_SUCCESS;
}

static const struct softcuda_control *softcuda(void)
{
    softcuda_control_fn get = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *found = dlsym(library, SOFTCUDA_CONTROL_SYMBOL);
    memcpy(&get, &found, sizeof get);
    return get(SOFTCUDA_CONTROL_VERSION);
}

/* Lets the next call of a function fail in the wrong program. */
static void fail(const char *function, int result)
{
    if (is_wrong)
        softcuda()->fail_call(function, 1, result);
}

static void start(void)
{
    check(cuInit(0));
    check(cuDeviceGet(&device, 0));
    check(cuDevicePrimaryCtxRetain(&context, device));
    check(cuCtxSetCurrent(context));
}

static void kernel(struct softcuda_launch *launch)
{
    (void)launch;
}

static void uninitialized(void)
{
    int count;
    if (!is_wrong)
        check(cuInit(0));
    check(cuDeviceGetCount(&count));
}

/* softcuda works in a child, too. */
static void forked(void)
{
    int status = 0;
    if (is_wrong)
        start();
    pid_t child = fork();
    if (child == 0) {
        fail("cuDeviceGet", CUDA_ERROR_NOT_INITIALIZED);
        if (is_wrong)
            cuDeviceGet(&device, 0);
        else
            start();
        _exit(failures);
    }
    waitpid(child, &status, 0);
    failures += status != 0;
}

/* A driver refuses cuInit in this child. */
static void forked_late(void)
{
    start();
    pid_t child = fork();
    if (child == 0) {
        fail("cuInit", CUDA_ERROR_NOT_INITIALIZED);
        cuInit(0);
        fail("cuDeviceGet", CUDA_ERROR_NOT_INITIALIZED);
        cuDeviceGet(&device, 0);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* The parent calls cuInit between the fork and the calls of the child. */
static void forked_early(void)
{
    int status = 0, started[2];
    failures += pipe(started) != 0;
    pid_t child = fork();
    if (child == 0) {
        failures += read(started[0], &status, 1) != 1;
        if (is_wrong)
            cuDeviceGet(&device, 0);
        else
            start();
        _exit(failures);
    }
    start();
    failures += write(started[1], &status, 1) != 1;
    waitpid(child, &status, 0);
    failures += status != 0;
}

static void destroy_late(void)
{
    fail("cuEventDestroy_v2", CUDA_ERROR_DEINITIALIZED);
    cuEventDestroy_v2(event);
}

static void ending(void)
{
    start();
    check(cuEventCreate(&event, 0));
    if (is_wrong)
        atexit(destroy_late);
    else
        check(cuEventDestroy_v2(event));
}

static void initialize(void)
{
    check(cuInit(0));
}

static void other_device(void)
{
    int count = 0;
    check(cuInit(0));
    check(cuDeviceGetCount(&count));
    check(cuDeviceGet(&device, is_wrong ? count : count - 1));
}

static void load(void)
{
    start();
    check(cuModuleLoadData(&module, ".version 7.0\n.target sm_50\n.address_size 64\n"));
}

static void no_symbol(void)
{
    CUfunction function;
    softcuda()->register_kernel("_Z5storePf", kernel, NULL, 0);
    load();
    check(cuModuleGetFunction(&function, module, is_wrong ? "store" : "_Z5storePf"));
}

static void no_symbol_of_library(void)
{
    CUlibrary library;
    CUkernel found;
    softcuda()->register_kernel("_Z5storePf", kernel, NULL, 0);
    start();
    check(cuLibraryLoadData(&library, ".version 7.0\n", NULL, NULL, 0, NULL, NULL, 0));
    check(cuLibraryGetKernel(&found, library, is_wrong ? "store" : "_Z5storePf"));
    check(cuLibraryUnload(library));
}

static CUgraph graph_make(int nodes)
{
    CUgraph graph;
    CUgraphNode node;
    check(cuGraphCreate(&graph, 0));
    for (int i = 0; i < nodes; i++)
        check(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    return graph;
}

static void update(void)
{
    CUgraph one, two;
    CUgraphExec executable, other;
    CUgraphExecUpdateResultInfo info;
    start();
    one = graph_make(1);
    two = graph_make(2);
    check(cuGraphInstantiateWithFlags(&executable, one, 0));
    if (is_wrong)
        check(cuGraphExecUpdate_v2(executable, two, &info));
    else
        check(cuGraphInstantiateWithFlags(&other, two, 0));
    if (!is_wrong)
        check(cuGraphExecDestroy(other));
    check(cuGraphExecDestroy(executable));
    check(cuGraphDestroy(one));
    check(cuGraphDestroy(two));
}

/* Results that are answers. With "wrong", a library of CUDA asks for a kernel. */
static void answers(void)
{
    CUlibrary library;
    CUkernel found;
    unsigned type;
    void *function;
    CUdriverProcAddressQueryResult status;
    start();
    cuCtxSetCurrent(NULL);
    cuCtxGetDevice(&device);
    cuCtxSetCurrent(context);
    cuGetProcAddress_v2("cuFuture", &function, 12000, 0, &status);
    cuGetProcAddress("cuFuture", &function, 11040, 0);
    softcuda()->fail_call("cuGetProcAddress_v2", 1, CUDA_ERROR_INVALID_VALUE);
    cuGetProcAddress_v2("cuInit", &function, 99000, 0, &status);
    softcuda()->fail_call("cuPointerGetAttribute", 1, CUDA_ERROR_INVALID_VALUE);
    cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)&type);
    softcuda()->fail_call("cuPointerGetAttributes", 1, CUDA_ERROR_INVALID_VALUE);
    cuPointerGetAttributes(0, NULL, NULL, (CUdeviceptr)(uintptr_t)&type);
    cuLibraryLoadData(&library, ".version 7.0\n", NULL, NULL, 0, NULL, NULL, 0);
    fail("cuLibraryGetKernel", CUDA_ERROR_NO_BINARY_FOR_GPU);
    if (is_wrong)
        cuLibraryGetKernel(&found, library, "kernel");
    cuModuleLoadData(&module, ".version 7.0\n");
    softcuda()->fail_call("cuModuleUnload", 1, CUDA_ERROR_DEINITIALIZED);
    cuModuleUnload(module);
    softcuda()->fail_call("cuLibraryUnload", 1, CUDA_ERROR_DEINITIALIZED);
    cuLibraryUnload(library);
    softcuda()->fail_call("cuDevicePrimaryCtxRelease_v2", 1, CUDA_ERROR_DEINITIALIZED);
    cuDevicePrimaryCtxRelease_v2(device);
}

/* One mistake several times. */
static void repeated(void)
{
    static volatile int times = 5; /* one place, also if the compiler unrolls loops */
    CUdeviceptr memory;
    start();
    for (int i = 0; i < times; i++) {
        check(cuMemAlloc_v2(&memory, 16));
        check(cuMemFree_v2(memory));
        if (is_wrong)
            cuMemFree_v2(memory);
    }
}

/* Two streams that are not joined, which one call shows. */
static void unjoined(void)
{
    CUstream streams[3];
    CUgraph graph = NULL;
    CUdeviceptr memory;
    start();
    cuMemAlloc_v2(&memory, 16);
    cuEventCreate(&event, 2);
    for (int i = 0; i < 3; i++)
        cuStreamCreate(&streams[i], 1);
    cuStreamBeginCapture_v2(streams[0], CU_STREAM_CAPTURE_MODE_RELAXED);
    cuEventRecord(event, streams[0]);
    for (int i = 1; i < 3; i++) {
        cuStreamWaitEvent(streams[i], event, 0);
        cuMemsetD8Async(memory, 0, 16, streams[i]);
    }
    cuStreamEndCapture(streams[0], &graph);
}

/* A kernel with the name of the environment. */
static void name(void)
{
    CUfunction function;
    softcuda()->register_kernel(getenv("KERNEL_NAME"), kernel, NULL, 0);
    load();
    check(cuModuleGetFunction(&function, module, getenv("KERNEL_NAME")));
    check(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    if (is_wrong)
        cuModuleUnload(module);
    if (is_wrong)
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

/* A graph with memory of its own, which is freed too early, or not before the second launch. */
static void graph_memory(bool frees_early)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    CUdeviceptr memory;
    start();
    check(cuStreamCreate(&stream, 1));
    check(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    check(cuMemAllocAsync(&memory, 64, stream));
    check(cuMemsetD8Async(memory, 0, 64, stream));
    check(cuStreamEndCapture(stream, &graph));
    if (is_wrong && frees_early)
        cuMemFree_v2(memory);
    check(cuGraphInstantiateWithFlags(&executable, graph,
                                      is_wrong ? 0 : CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 2; i++) {
        CUresult result = cuGraphLaunch(executable, stream);
        if (i == 0 || !is_wrong)
            check(result);
    }
    check(cuStreamSynchronize(stream));
    check(cuGraphExecDestroy(executable));
    check(cuGraphDestroy(graph));
    check(cuStreamDestroy_v2(stream));
    check(cuDevicePrimaryCtxRelease_v2(device));
}

static void graph_free(void)
{
    graph_memory(true);
}

static void graph_twice(void)
{
    graph_memory(false);
}

static const struct program {
    const char *name;
    void (*run)(void);
    const char *failing; /* the function that fails in the wrong program, and its result */
    CUresult result;
} programs[] = {
    {"uninitialized", uninitialized, NULL, CUDA_SUCCESS},
    {"forked", forked, NULL, CUDA_SUCCESS},
    {"forked-early", forked_early, NULL, CUDA_SUCCESS},
    {"forked-late", forked_late, NULL, CUDA_SUCCESS},
    {"ending", ending, NULL, CUDA_SUCCESS},
    {"no-device", initialize, "cuInit", CUDA_ERROR_NO_DEVICE},
    {"other-device", other_device, NULL, CUDA_SUCCESS},
    {"image", load, "cuModuleLoadData", CUDA_ERROR_INVALID_IMAGE},
    {"no-binary", load, "cuModuleLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU},
    {"ptx", load, "cuModuleLoadData", CUDA_ERROR_INVALID_PTX},
    {"compiler", load, "cuModuleLoadData", CUDA_ERROR_JIT_COMPILER_NOT_FOUND},
    {"ptx-version", load, "cuModuleLoadData", CUDA_ERROR_UNSUPPORTED_PTX_VERSION},
    {"disabled", load, "cuModuleLoadData", CUDA_ERROR_JIT_COMPILATION_DISABLED},
    {"not-ready", initialize, "cuInit", CUDA_ERROR_SYSTEM_NOT_READY},
    {"mismatch", initialize, "cuInit", CUDA_ERROR_SYSTEM_DRIVER_MISMATCH},
    {"no-symbol", no_symbol, NULL, CUDA_SUCCESS},
    {"no-symbol-of-library", no_symbol_of_library, NULL, CUDA_SUCCESS},
    {"update", update, NULL, CUDA_SUCCESS},
    {"answers", answers, NULL, CUDA_SUCCESS},
    {"graph-free", graph_free, NULL, CUDA_SUCCESS},
    {"graph-twice", graph_twice, NULL, CUDA_SUCCESS},
    {"repeated", repeated, NULL, CUDA_SUCCESS},
    {"unjoined", unjoined, NULL, CUDA_SUCCESS},
    {"name", name, NULL, CUDA_SUCCESS},
};

int main(int argc, char **argv)
{
    is_wrong = argc > 2 && strcmp(argv[2], "wrong") == 0;
    for (size_t i = 0; argc > 2 && i < sizeof programs / sizeof programs[0]; i++) {
        if (strcmp(programs[i].name, argv[1]) != 0)
            continue;
        if (programs[i].failing != NULL)
            fail(programs[i].failing, programs[i].result);
        programs[i].run();
    }
    return failures != 0;
}
