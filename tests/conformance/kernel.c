/* SPDX-License-Identifier: MIT */
/* Modules, functions and launches. */
#include "kernels.h"

CHECK(module, "kernel.module", .needs = {S(ModuleLoadData_v1)})
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    expect("not-an-image", cu->ModuleLoadData_v1(&module, "this is no image"), CUDA_ERROR_INVALID_IMAGE);
    expect("null", cu->ModuleLoadData_v1(NULL, "this is no image"), CUDA_ERROR_INVALID_VALUE);
    expect("get", kernel_get("conformance_nothing", &function), CUDA_SUCCESS);
    expect("get-unknown", kernel_get("conformance_no_such_kernel", &function), CUDA_ERROR_NOT_FOUND);
}

CHECK(launch, "kernel.launch", .needs = {S(LaunchKernel_v1)})
{
    CUfunction function = kernel_new("conformance_store");
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(16, 0);
    unsigned value = 41;
    unsigned read = 0;
    void *parameters[] = {&memory, &value};
    expect("code", kernel_launch(function, stream, parameters), CUDA_SUCCESS);
    value = 0;
    require("synchronize", cu->StreamSynchronize_v1(stream));
    require("copy", cu->MemcpyDtoH_v2(&read, memory, 4));
    expect_number("parameters-taken-at-launch", read, 41);
    expect("zero-grid", cu->LaunchKernel_v1(function, 0, 1, 1, 1, 1, 1, 0, stream, parameters, NULL),
           CUDA_ERROR_INVALID_VALUE);
    expect("zero-block", cu->LaunchKernel_v1(function, 1, 1, 1, 0, 1, 1, 0, stream, parameters, NULL),
           CUDA_ERROR_INVALID_VALUE);
    expect("block-too-large", cu->LaunchKernel_v1(function, 1, 1, 1, 2048, 1, 1, 0, stream, parameters, NULL),
           CUDA_ERROR_INVALID_VALUE);
    expect("no-parameters", cu->LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
           CUDA_ERROR_INVALID_VALUE);
    expect("null-function", kernel_launch(NULL, stream, parameters), CUDA_ERROR_INVALID_HANDLE);
    expect("not-sticky", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", kernel_launch(function, stream, parameters), CUDA_SUCCESS);
}

CHECK(launch_buffer, "kernel.launch-buffer", .needs = {S(LaunchKernel_v1)})
{
    CUfunction function = kernel_new("conformance_store");
    CUdeviceptr memory = memory_new(16, 0);
    struct {
        CUdeviceptr address;
        unsigned value;
    } buffer = {memory, 42};
    size_t size = sizeof buffer.address + sizeof buffer.value;
    unsigned read = 0;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    expect("code", cu->LaunchKernel_v1(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), CUDA_SUCCESS);
    require("copy", cu->MemcpyDtoH_v2(&read, memory, 4));
    expect_number("value", read, 42);
}

/* A running kernel blocks its own stream, and no other. */
CHECK(running, "kernel.running", .needs = {S(LaunchKernel_v1)})
{
    CUfunction function = kernel_new("conformance_wait");
    CUdeviceptr address = 0;
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUevent event = event_new();
    volatile unsigned *flag = host_new(64, &address);
    void *parameters[] = {&address};
    require("launch", kernel_launch(function, stream, parameters));
    require("record", cu->EventRecord_v1(event, stream));
    expect("query", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    expect("event-query", cu->EventQuery_v1(event), CUDA_ERROR_NOT_READY);
    expect("other", cu->StreamSynchronize_v1(other), CUDA_SUCCESS);
    CUSHIM_STORE_RELEASE(flag, 1u);
    expect("event-synchronize", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
}

/* cuFuncGetParamCount and cuKernelGetParamCount need CUDA 13.2: on driver 580, cushim's polyfills answer. */
CHECK(parameter_count, "kernel.parameter-count", .needs = {S(FuncGetParamCount_v1), S(KernelGetParamCount_v1)})
{
    static const char *const names[] = {"conformance_nothing", "conformance_store"};
    CUlibrary library = NULL;
    if (!require("library", kernel_library(&library)))
        return;
    for (size_t i = 0; i < 2; i++) {
        CUfunction function = kernel_new(names[i]);
        CUkernel kernel = NULL;
        size_t count = 99;
        require("kernel", cu->LibraryGetKernel_v1(&kernel, library, names[i]));
        expect(key_of("function", names[i], NULL), cu->FuncGetParamCount_v1(function, &count), CUDA_SUCCESS);
        expect_number(key_of("function", names[i], "is"), (long long)count, 2 * (long long)i);
        count = 99;
        expect(key_of("kernel", names[i], NULL), cu->KernelGetParamCount_v1(kernel, &count), CUDA_SUCCESS);
        expect_number(key_of("kernel", names[i], "is"), (long long)count, 2 * (long long)i);
        expect(key_of("null", names[i], NULL), cu->FuncGetParamCount_v1(function, NULL), CUDA_ERROR_INVALID_VALUE);
    }
    require("unload", cu->LibraryUnload_v1(library));
}
