/* SPDX-License-Identifier: MIT */
/*
 * A pointer to host memory in place of one to device memory. The other program has a pointer by which the device uses
 * host memory, and the call fails for another reason.
 *
 * title: Why calls failed
 * finds: cuMemsetD8_v2 returned CUDA_ERROR_INVALID_VALUE: 0x\w+ is in no allocation of this process: pass a pointer
 *     that cuMemAlloc has returned, and not one of the host
 */
#include "driver.h"

static void run(bool is_wrong)
{
    static char host[16];
    void *mapped;
    CUdeviceptr pointer = (CUdeviceptr)(size_t)host;
    if (!is_wrong) {
        cuMemHostAlloc(&mapped, sizeof host, CU_MEMHOSTALLOC_DEVICEMAP);
        cuMemHostGetDevicePointer_v2(&pointer, mapped, 0);
        call_fail("cuMemsetD8_v2", CUDA_ERROR_INVALID_VALUE);
    }
    cuMemsetD8_v2(pointer, 0, sizeof host);
    if (!is_wrong)
        cuMemFreeHost(mapped);
}
