/* SPDX-License-Identifier: MIT */
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
#include "driver.h"

static void run(bool is_wrong)
{
    CUmodule module;
    int most;
    CUfunction function = kernel(&module, "fill", fill);
    cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device);
    call_fail("cuLaunchKernel", CUDA_ERROR_INVALID_VALUE);
    cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, is_wrong ? 65536 : 49152, stream, NULL, NULL);
    cuModuleUnload(module);
}
