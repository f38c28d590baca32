/* SPDX-License-Identifier: MIT */
/*
 * A launch of a kernel whose library was unloaded. softcuda launches it still, so it is told to let the
 * call fail as a GPU does.
 *
 * title: Why calls failed
 * finds: cuLaunchKernel returned CUDA_ERROR_INVALID_HANDLE: kernel 1 \(\w+\) is part of library 1, which was
 *     destroyed [\d.]+ \w+ before, by thread \d+, in cuLibraryUnload: keep it until
 *     the last use of its parts
 */
#include "driver.h"

static void run(bool is_wrong)
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
