/* SPDX-License-Identifier: MIT */
/* Launches whose dimensions are impossible, and kernels whose code was unloaded. */
#include "driver.h"

/*
 * The number of blocks is rounded down, and is 0 for few elements.
 *
 * title: Launches with impossible dimensions
 * finds: cuLaunchKernel of fill returned CUDA_ERROR_INVALID_VALUE: its grid is empty, 0x1x1: round up when you divide
 *     by the size of a block, and do not launch if there is no work
 */
SCENARIO(empty_grid)
{
    CUmodule module;
    unsigned count = 100, block = 128, blocks = is_wrong ? count / block : (count + block - 1) / block;
    cuLaunchKernel(kernel(&module, "fill", fill), blocks, 1, 1, block, 1, 1, 0, stream, NULL, NULL);
    cuStreamSynchronize(stream);
    cuModuleUnload(module);
}

/*
 * A block with more threads than the device can have, which the program has asked for.
 *
 * title: Launches with impossible dimensions
 * finds: cuLaunchKernel of fill returned CUDA_ERROR_INVALID_VALUE: a block of 64x32x1 has 2048 threads, and the
 *     limit is 1024 \(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, which cuDeviceGetAttribute read at \d\.\d{6} s\): use
 *     smaller blocks, and more of them
 */
SCENARIO(block_too_large)
{
    CUmodule module;
    int most;
    cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
    cuLaunchKernel(kernel(&module, "fill", fill), 4, 1, 1, 64, is_wrong ? 32 : 16, 1, 0, stream, NULL, NULL);
    cuStreamSynchronize(stream);
    cuModuleUnload(module);
}

/*
 * More dynamic shared memory than a block can have without cuFuncSetAttribute. softcuda does not check this, so it is
 * told to let the call fail as a GPU does. The launch of the other program has as much as it can have, and fails, too.
 *
 * title: Launches with impossible dimensions
 * finds: cuLaunchKernel of fill returned CUDA_ERROR_INVALID_VALUE: a block needs 65536 bytes of dynamic shared memory,
 *     and the limit is 49152 \(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, which cuDeviceGetAttribute read at
 *     \d\.\d{6} s\): use less, or let cuFuncSetAttribute allow more for this kernel before
 *     \(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, at most
 *     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN\)
 */
SCENARIO(shared_memory)
{
    CUmodule module;
    int most;
    CUfunction function = kernel(&module, "fill", fill);
    cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device);
    call_fail("cuLaunchKernel", CUDA_ERROR_INVALID_VALUE);
    cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, is_wrong ? 65536 : 49152, stream, NULL, NULL);
    cuModuleUnload(module);
}

/*
 * A launch of a kernel whose module was unloaded. softcuda launches it still, so it is told to let the
 * call fail as a GPU does.
 *
 * title: Why calls failed
 * finds: cuLaunchKernel returned CUDA_ERROR_INVALID_HANDLE: function 1 \(\w+\) is part of module 1, which was
 *     destroyed [\d.]+ \w+ before, by thread \d+, in cuModuleUnload: keep it until
 *     the last use of its parts
 */
SCENARIO(unloaded_module)
{
    CUmodule module;
    CUfunction function = kernel(&module, "fill", fill);
    if (is_wrong) {
        cuModuleUnload(module);
        call_fail("cuLaunchKernel", CUDA_ERROR_INVALID_HANDLE);
    }
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    cuStreamSynchronize(stream);
    if (!is_wrong)
        cuModuleUnload(module);
}

/*
 * A launch of a kernel whose library was unloaded. softcuda launches it still, so it is told to let the
 * call fail as a GPU does.
 *
 * title: Why calls failed
 * finds: cuLaunchKernel returned CUDA_ERROR_INVALID_HANDLE: kernel 1 \(\w+\) is part of library 1, which was
 *     destroyed [\d.]+ \w+ before, by thread \d+, in cuLibraryUnload: keep it until
 *     the last use of its parts
 */
SCENARIO(unloaded_library)
{
    CUlibrary library;
    CUkernel kernel;
    kernel_register("fill", fill);
    cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0);
    cuLibraryGetKernel(&kernel, library, "fill");
    if (is_wrong) {
        cuLibraryUnload(library);
        call_fail("cuLaunchKernel", CUDA_ERROR_INVALID_HANDLE);
    }
    cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    cuStreamSynchronize(stream);
    if (!is_wrong)
        cuLibraryUnload(library);
}
