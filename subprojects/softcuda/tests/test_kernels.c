/* SPDX-License-Identifier: MIT */
/* Kernels by name: files, packing of arguments, faults that the control interface clears. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* void scale(float *to, char times, double by, int count): a layout with padding. */
static const size_t scale_sizes[] = {8, 1, 8, 4};

static void scale(struct softcuda_launch *launch)
{
    CUdeviceptr to;
    double by;
    int count;
    memcpy(&to, launch->arguments[0], sizeof to);
    memcpy(&by, launch->arguments[2], sizeof by);
    memcpy(&count, launch->arguments[3], sizeof count);
    char times = *(const char *)launch->arguments[1];
    for (int i = 0; i < count; i++)
        ((float *)(uintptr_t)to)[i] *= (float)(by * times * launch->grid[0] * launch->block[0]);
}

static void fault(struct softcuda_launch *launch)
{
    launch->result = CUDA_ERROR_ILLEGAL_ADDRESS;
}

static CUfunction find(const char *name)
{
    CUmodule module;
    CUfunction function = NULL;
    assert_cu(0, cu->ModuleLoadData_v1(&module, "any image"));
    assert_cu(0, cu->ModuleGetFunction_v1(&function, module, name));
    return function;
}

TEST(test_module_when_unloaded_then_its_handle_is_refused)
{
    CUmodule module;
    assert_cu(0, cu->ModuleLoadData_v1(&module, "any image"));
    assert_cu(0, cu->ModuleUnload_v1(module));
    assert_cu(400, cu->ModuleUnload_v1(module));
    assert_cu(400, cu->LaunchKernel_v1((CUfunction)(uintptr_t)8, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static CUresult load_module(void *unused)
{
    CUmodule module;
    return cu->ModuleLoadData_v1(&module, "any image");
}

static CUresult unload_module(void *module)
{
    return cu->ModuleUnload_v1(module);
}

static CUresult set_limit(void *unused)
{
    return cu->CtxSetLimit_v1(CU_LIMIT_STACK_SIZE, 2048);
}

static CUresult get_function(void *kernel)
{
    CUfunction function;
    return cu->KernelGetFunction_v1(&function, kernel);
}

static CUresult load_library(void *unused)
{
    CUlibrary library;
    return cu->LibraryLoadData_v1(&library, "any image", NULL, NULL, 0, NULL, NULL, 0);
}

static CUresult unload_library(void *library)
{
    return cu->LibraryUnload_v1(library);
}

/* Observed with driver 580 on an H200. */
TEST(test_loading_when_work_is_pending_then_waits_for_it)
{
    CUmodule module;
    assert_cu(0, cu->ModuleLoadData_v1(&module, "any image"));
    assert_true(support_waits_beside(CU_STREAM_NON_BLOCKING, load_module, NULL));
    assert_true(support_waits_beside(CU_STREAM_NON_BLOCKING, unload_module, module));
    assert_true(support_waits_beside(CU_STREAM_NON_BLOCKING, set_limit, NULL));
}

TEST(test_library_when_work_is_pending_then_only_its_first_function_waits)
{
    CUlibrary library;
    CUkernel kernel;
    if (!support_has(12000))
        skip();
    assert_true(support_returns_beside(CU_STREAM_NON_BLOCKING, load_library, NULL));
    assert_cu(0, cu->LibraryLoadData_v1(&library, "any image", NULL, NULL, 0, NULL, NULL, 0));
    assert_int_equal(control->register_kernel("scale", scale, scale_sizes, 4), 0);
    assert_cu(0, cu->LibraryGetKernel_v1(&kernel, library, "scale"));
    assert_true(support_waits_beside(CU_STREAM_NON_BLOCKING, get_function, kernel));
    assert_true(support_returns_beside(CU_STREAM_NON_BLOCKING, get_function, kernel));
    assert_true(support_returns_beside(CU_STREAM_NON_BLOCKING, unload_library, library));
}

/* argv[0]: any existing file. */
static const char *this_program;

static int next_descriptor(void)
{
    FILE *file = fopen(this_program, "rb");
    int descriptor = fileno(file);
    fclose(file);
    return descriptor;
}

TEST(test_module_when_loaded_from_a_file_then_that_has_to_be_there)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    assert_cu(301, cu->ModuleLoad_v1(&module, "/nowhere/kernels.ptx"));
    assert_cu(1, cu->ModuleLoad_v1(&module, NULL));
    assert_null(module);
    int descriptor = next_descriptor();
    assert_cu(0, cu->ModuleLoad_v1(&module, this_program));
    assert_int_equal(next_descriptor(), descriptor); /* the file is closed */
    assert_cu(0, cu->ModuleGetFunction_v1(&function, module, "scale"));
    assert_cu(0, cu->ModuleUnload_v1(module));
    if (support_has(12000)) {
        CUlibrary library = NULL;
        CUkernel kernel = NULL;
        assert_cu(301, cu->LibraryLoadFromFile_v1(&library, "/nowhere/kernels.ptx", NULL, NULL, 0, NULL, NULL, 0));
        assert_cu(0, cu->LibraryLoadFromFile_v1(&library, this_program, NULL, NULL, 0, NULL, NULL, 0));
        assert_cu(0, cu->LibraryGetKernel_v1(&kernel, library, "scale"));
        assert_cu(0, cu->LibraryUnload_v1(library));
    }
}

TEST(test_kernel_when_launched_then_gets_its_arguments_either_way)
{
    CUdeviceptr memory;
    char times = 2;
    double by = 1.5;
    int count = 2;
    float values[2] = {1, 2};
    CUfunction function = find("scale");
    cu->MemAlloc_v2(&memory, sizeof values);
    cu->MemcpyHtoD_v2(memory, values, sizeof values);
    void *params[] = {&memory, &times, &by, &count};
    assert_cu(0, cu->LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    count = 0; /* the launch has copied it */
    struct {
        CUdeviceptr to;
        char times;
        double by;
        int count;
    } buffer = {memory, 1, 1.0, 2};
    size_t size = sizeof buffer;
    void *extra[] = {(void *)1, &buffer, (void *)2, &size, (void *)0};
    assert_cu(0, cu->LaunchKernel_v1(function, 5, 1, 1, 2, 1, 1, 0, NULL, NULL, extra));
    assert_cu(0, cu->MemcpyDtoH_v2(values, memory, sizeof values));
    assert_true(values[0] == 30 && values[1] == 60);
    assert_cu(1, cu->LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
    size = 4;
    assert_cu(1, cu->LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    assert_cu(0, cu->MemFree_v2(memory));
}

/* SOFTCUDA_EMPTY_KERNELS=1 */
TEST(test_kernel_when_not_registered_then_empty_as_the_environment_says)
{
    CUmodule module;
    CUfunction function = NULL, again = NULL;
    const char *name = NULL;
    assert_cu(0, cu->ModuleLoadData_v1(&module, "any image"));
    assert_cu(0, cu->ModuleGetFunction_v1(&function, module, "unregistered"));
    assert_cu(0, cu->ModuleGetFunction_v1(&again, module, "unregistered"));
    assert_ptr_equal(function, again);
    assert_cu(0, cu->LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    assert_cu(0, cu->CtxSynchronize_v1());
    if (support_has(12030)) {
        assert_cu(0, cu->FuncGetName_v1(&name, function));
        assert_string_equal(name, "unregistered");
        assert_cu(1, cu->FuncGetName_v1(&name, NULL));
    }
}

TEST(test_fault_when_cleared_by_the_control_then_a_new_context_works)
{
    CUdeviceptr memory;
    if (!support_has(7000))
        skip();
    assert_cu(0, cu->LaunchKernel_v1(find("fault"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    assert_cu(700, cu->CtxSynchronize_v1());
    assert_cu(0, cu->DevicePrimaryCtxReset_v1(0));
    assert_cu(0, cu->DevicePrimaryCtxRelease_v1(0));
    assert_cu(700, cu->DevicePrimaryCtxRetain_v1(&context, 0));
    control->clear_faults();
    assert_cu(0, cu->DevicePrimaryCtxRetain_v1(&context, 0));
    assert_cu(0, cu->CtxSetCurrent_v1(context));
    assert_cu(0, cu->MemAlloc_v2(&memory, 64));
    assert_cu(0, cu->MemFree_v2(memory));
}

TEST(test_kernel_when_captured_then_every_launch_has_the_arguments)
{
    CUdeviceptr memory;
    CUgraph graph;
    CUgraphExec exec;
    char times = 1;
    double by = 2;
    int count = 1;
    float value = 1;
    if (cushim_driver_version() < 10010)
        skip();
    CUstream stream = support_stream(0);
    cu->MemAlloc_v2(&memory, sizeof value);
    cu->MemcpyHtoD_v2(memory, &value, sizeof value);
    void *params[] = {&memory, &times, &by, &count};
    assert_cu(0, cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_cu(0, cu->LaunchKernel_v1(find("scale"), 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    assert_cu(0, cu->StreamEndCapture_v1(stream, &graph));
    by = 100;
    assert_cu(0, cu->GraphInstantiate_v1(&exec, graph, NULL, NULL, 0));
    for (int i = 0; i < 10; i++)
        assert_cu(0, cu->GraphLaunch_v1(exec, stream));
    assert_cu(0, cu->MemcpyDtoH_v2(&value, memory, sizeof value));
    assert_true(value == 1024);
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_cu(0, cu->GraphDestroy_v1(graph));
    assert_cu(0, cu->MemFree_v2(memory));
}

int main(int argc, char **argv)
{
    support_load(argc, argv);
    this_program = argv[0];
    if (control->register_kernel("scale", scale, scale_sizes, 4) != 0
        || control->register_kernel("fault", fault, NULL, 0) != 0 || control->register_kernel(NULL, fault, NULL, 0) == 0
        || control->register_kernel("none", NULL, NULL, 0) == 0)
        return 1;
    return test_list_run();
}
