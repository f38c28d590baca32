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

enum { DEVICE_MAP = 2, INVALID_VALUE = 1 };

int main(int argc, char **argv)
{
    static char host[16];
    void *mapped;
    CUdeviceptr pointer = (CUdeviceptr)(size_t)host;
    start();
    if (!is_wrong(argc, argv)) {
        cuMemHostAlloc(&mapped, sizeof host, DEVICE_MAP);
        cuMemHostGetDevicePointer_v2(&pointer, mapped, 0);
        call_fail("cuMemsetD8_v2", INVALID_VALUE);
    }
    cuMemsetD8_v2(pointer, 0, sizeof host);
    if (!is_wrong(argc, argv))
        cuMemFreeHost(mapped);
    end();
    return 0;
}
