/* SPDX-License-Identifier: MIT */
/*
 * A pointer to host memory in place of one to device memory.
 *
 * title: Why calls failed
 * finds: cuMemsetD8_v2 returned CUDA_ERROR_INVALID_VALUE: 0x\w+ is in no allocation of this process: pass a pointer
 *     that cuMemAlloc has returned, and not one of the host
 */
#include "driver.h"

int main(int argc, char **argv)
{
    static char host[16];
    start();
    cuMemsetD8_v2(is_wrong(argc, argv) ? (CUdeviceptr)(size_t)host : memory, 0, sizeof host);
    end();
    return 0;
}
