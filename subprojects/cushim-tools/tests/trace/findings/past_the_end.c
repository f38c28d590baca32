/* SPDX-License-Identifier: MIT */
/*
 * A copy of 2048 bytes into an allocation of 1024.
 *
 * title: Why calls failed
 * finds: cuMemcpyHtoD_v2 returned CUDA_ERROR_INVALID_VALUE: it uses 2048 bytes at 0x\w+, where cuMemAlloc_v2
 *     has allocated only 1024 bytes
 */
#include "driver.h"

static void run(bool is_wrong)
{
    static char bytes[2048];
    cuMemcpyHtoD_v2(memory, bytes, is_wrong ? 2048 : 1024);
}
