/* SPDX-License-Identifier: MIT */
/*
 * Memory inside an allocation is used after that was freed. The correct program only asks whether it is there.
 *
 * title: Why calls failed
 * finds: cuMemsetD8_v2 returned CUDA_ERROR_INVALID_VALUE: 0x\w+ is in an allocation of 4194304 bytes that was freed
 *     .* before, by thread \d+, in cuMemFree_v2: free it after its last use
 */
#include "driver.h"

static void run(bool is_wrong)
{
    CUdeviceptr second;
    unsigned type;
    cuMemAlloc_v2(&second, 4 << 20);
    if (is_wrong)
        cuMemFree_v2(second);
    cuMemsetD8_v2(second + 256, 0, 16);
    if (!is_wrong) {
        cuMemFree_v2(second);
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, second);
    }
}
