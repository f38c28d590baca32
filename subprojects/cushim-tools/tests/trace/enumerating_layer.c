/* SPDX-License-Identifier: MIT */
/* A layer with which each module and library has three kernels that a program can get in an array. It writes only as
 * many as there are, and ends the program if it is asked for the name of anything else, or by a thread that could
 * invalidate a capture. */
#include <stdlib.h>

#include "cushim/layer.h"

enum { KERNELS = 3 };
static const char *const functions_of_module[KERNELS] = {"fill", "_ZN4game5scaleIfLi4EEEvPT_i", "copy"};
static const char *const kernels_of_library[KERNELS] = {"sum", "sort", "scan"};
static struct cushim_layer layer;

static const struct cushim_dispatch_table *next(void)
{
    return cushim_layer_next(&layer, CUSHIM_DEFAULT_STREAM_LEGACY);
}

static CUresult CUDAAPI enumerating_ModuleGetFunctionCount(unsigned *count, CUmodule module)
{
    (void)module;
    *count = KERNELS;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI enumerating_LibraryGetKernelCount(unsigned *count, CUlibrary library)
{
    return enumerating_ModuleGetFunctionCount(count, (CUmodule)(void *)library);
}

static CUresult CUDAAPI enumerating_ModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && i < KERNELS && result == CUDA_SUCCESS; i++)
        result = next()->ModuleGetFunction_v1(&functions[i], module, functions_of_module[i]);
    return result;
}

static CUresult CUDAAPI enumerating_LibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && i < KERNELS && result == CUDA_SUCCESS; i++)
        result = next()->LibraryGetKernel_v1(&kernels[i], library, kernels_of_library[i]);
    return result;
}

static CUresult CUDAAPI enumerating_FuncGetName(const char **name, CUfunction function)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result = next()->FuncGetName_v1(name, function);
    if (result != CUDA_SUCCESS || next()->ThreadExchangeStreamCaptureMode_v1(&mode) != CUDA_SUCCESS
        || mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        abort();
    return result;
}

static CUresult CUDAAPI enumerating_KernelGetName(const char **name, CUkernel kernel)
{
    return enumerating_FuncGetName(name, (CUfunction)(void *)kernel);
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *before,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)before, (void)states, (void)kind, (void)user;
    table->ModuleGetFunctionCount_v1 = enumerating_ModuleGetFunctionCount;
    table->LibraryGetKernelCount_v1 = enumerating_LibraryGetKernelCount;
    table->ModuleEnumerateFunctions_v1 = enumerating_ModuleEnumerateFunctions;
    table->LibraryEnumerateKernels_v1 = enumerating_LibraryEnumerateKernels;
    table->FuncGetName_v1 = enumerating_FuncGetName;
    table->KernelGetName_v1 = enumerating_KernelGetName;
    return CUDA_SUCCESS;
}

static struct cushim_layer layer = CUSHIM_LAYER("enumerating", install, NULL);
CUSHIM_LAYER_ENTRY(layer)
