/* SPDX-License-Identifier: MIT */
/* Pointers and sizes that fit no allocation. */
#include "driver.h"

/*
 * A copy of 2048 bytes into an allocation of 1024.
 *
 * title: Why calls failed
 * finds: cuMemcpyHtoD_v2 returned CUDA_ERROR_INVALID_VALUE: it uses 2048 bytes at 0x\w+, where cuMemAlloc_v2
 *     has allocated only 1024 bytes
 */
SCENARIO(past_the_end)
{
    static char bytes[2048];
    cuMemcpyHtoD_v2(memory, bytes, is_wrong ? 2048 : 1024);
}

/*
 * The memory of cuMemAllocPitch has as many bytes as the pitch times the height.
 *
 * title: Why calls failed
 * finds: cuMemsetD8_v2 returned CUDA_ERROR_INVALID_VALUE: it uses 16777216 bytes at 0x\w+, where cuMemAllocPitch_v2
 *     has allocated only \d{4} bytes
 */
SCENARIO(pitched_memory)
{
    CUdeviceptr pitched;
    size_t pitch;
    cuMemAllocPitch_v2(&pitched, &pitch, 1000, 4, 4);
    cuMemsetD8_v2(pitched, 0, is_wrong ? 16 << 20 : 4 * pitch);
    cuMemFree_v2(pitched);
}

/*
 * An address behind an allocation. In the other program it can be other memory, and the call fails for another reason.
 *
 * title: Why calls failed
 * finds: cuMemsetD8_v2 returned CUDA_ERROR_INVALID_VALUE: 0x\w+ is 16 bytes behind the end of an allocation of 1024
 *     bytes
 */
SCENARIO(behind_the_end)
{
    void *mapped = NULL;
    CUdeviceptr pointer;
    if (!is_wrong) {
        cuMemHostAlloc(&mapped, 16, CU_MEMHOSTALLOC_DEVICEMAP);
        cuMemHostGetDevicePointer_v2(&pointer, mapped, 0);
    }
    call_fail("cuMemsetD8_v2", CUDA_ERROR_INVALID_VALUE);
    cuMemsetD8_v2(memory + 1040, 0, 16);
    if (mapped != NULL)
        cuMemFreeHost(mapped);
}

/*
 * A pointer to host memory in place of one to device memory. The other program has a pointer by which the device uses
 * host memory, and the call fails for another reason.
 *
 * title: Why calls failed
 * finds: cuMemsetD8_v2 returned CUDA_ERROR_INVALID_VALUE: 0x\w+ is in no allocation of this process: pass a pointer
 *     that cuMemAlloc has returned, and not one of the host
 */
SCENARIO(no_allocation)
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

/*
 * Memory inside an allocation is used after that was freed. The correct program only asks whether it is there.
 *
 * title: Why calls failed
 * finds: cuMemsetD8_v2 returned CUDA_ERROR_INVALID_VALUE: 0x\w+ is in an allocation of 4194304 bytes that was freed
 *     .* before, by thread \d+, in cuMemFree_v2: free it after its last use
 */
SCENARIO(freed_memory)
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

/*
 * An allocation that is too large, while others are alive.
 *
 * title: Why calls failed
 * finds: cuMemAlloc_v2 returned CUDA_ERROR_OUT_OF_MEMORY: it asked for 1125899906842624 bytes; 3 device allocations
 *     with 13312 bytes were alive: 12288 bytes from cuMemAllocManaged \(2\), 1024 bytes from cuMemAlloc_v2 \(1\)
 */
SCENARIO(out_of_memory)
{
    CUdeviceptr second, third = 0, managed;
    cuMemAllocManaged(&second, 4096, 1);
    cuMemAllocManaged(&managed, 8192, 1);
    cuMemAlloc_v2(&third, is_wrong ? (size_t)1 << 50 : 4096);
    if (third != 0)
        cuMemFree_v2(third);
    cuMemFree_v2(managed);
    cuMemFree_v2(second);
}
