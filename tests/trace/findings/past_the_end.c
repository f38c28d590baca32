/* SPDX-License-Identifier: MIT */
/*
 * A copy of 2048 bytes into an allocation of 1024.
 *
 * title: Why calls failed
 * finds: cuMemcpyHtoD_v2 returned CUDA_ERROR_INVALID_VALUE: it uses 2048 bytes at 0x\w+, where cuMemAlloc_v2
 *     has allocated only 1024 bytes
 */
#include "driver.h"

int main(int argc, char **argv)
{
    static char bytes[2048];
    start();
    cuMemcpyHtoD_v2(memory, bytes, is_wrong(argc, argv) ? 2048 : 1024);
    end();
    return 0;
}
