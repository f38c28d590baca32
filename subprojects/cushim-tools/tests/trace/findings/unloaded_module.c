/* SPDX-License-Identifier: MIT */
/*
 * A launch of a kernel whose module was unloaded. softcuda launches it still, so it is told to let the
 * call fail as a GPU does.
 *
 * title: Why calls failed
 * finds: cuLaunchKernel returned CUDA_ERROR_INVALID_HANDLE: function 1 \(\w+\) is part of module 1, which was
 *     destroyed [\d.]+ \w+ before, by thread \d+, in cuModuleUnload: keep it until
 *     the last use of its parts
 */
#include "driver.h"

static void run(bool is_wrong)
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
