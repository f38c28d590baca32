/* SPDX-License-Identifier: MIT */
/*
 * A block with more threads than the device can have, which the program has asked for.
 *
 * title: Launches with impossible dimensions
 * finds: cuLaunchKernel of fill returned CUDA_ERROR_INVALID_VALUE: a block of 64x32x1 has 2048 threads, and the
 *     limit is 1024 \(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, which cuDeviceGetAttribute read at \d\.\d{6} s\): use
 *     smaller blocks, and more of them
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUmodule module;
    int most;
    cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
    cuLaunchKernel(kernel(&module, "fill", fill), 4, 1, 1, 64, is_wrong ? 32 : 16, 1, 0, stream, NULL, NULL);
    cuStreamSynchronize(stream);
    cuModuleUnload(module);
}
