/* SPDX-License-Identifier: MIT */
/* Memory: allocation rules, copies and their order, memsets, two dimensions, stream-ordered allocation. */
#include <stdint.h>
#include <string.h>

#include "fixture.h"

CHECK(allocate, "memory.allocate", .needs = {S(MemAlloc_v2)})
{
    CUdeviceptr memory = 0;
    CUdeviceptr base = 0;
    size_t size = 0;
    size_t total = 0;
    expect("zero-bytes", cu->MemAlloc_v2(&memory, 0), CUDA_ERROR_INVALID_VALUE);
    expect("null", cu->MemAlloc_v2(NULL, 16), CUDA_ERROR_INVALID_VALUE);
    expect("too-much", cu->MemAlloc_v2(&memory, (size_t)(UINT64_C(1) << (sizeof(size_t) == 8 ? 50 : 31))),
           CUDA_ERROR_OUT_OF_MEMORY);
    expect("code", cu->MemAlloc_v2(&memory, 1000), CUDA_SUCCESS);
    expect_number("aligned", (long long)(memory % 256), 0);
    expect("range", cu->MemGetAddressRange_v2(&base, &size, memory + 10), CUDA_SUCCESS);
    expect_true("range-base", base == memory);
    expect_number("range-size", (long long)size, 1000);
    expect("range-past-end", cu->MemGetAddressRange_v2(&base, &size, memory + 1000), CUDA_ERROR_NOT_FOUND);
    expect("range-unknown", cu->MemGetAddressRange_v2(&base, &size, 64), CUDA_ERROR_NOT_FOUND);
    expect("info", cu->MemGetInfo_v2(&size, &total), CUDA_SUCCESS);
    expect_true("info-sane", size <= total && total > 0);
    expect("free-inside", cu->MemFree_v2(memory + 8), CUDA_ERROR_INVALID_VALUE);
    expect("free", cu->MemFree_v2(memory), CUDA_SUCCESS);
    expect("free-again", cu->MemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
    expect("free-zero", cu->MemFree_v2(0), CUDA_SUCCESS);
    expect("free-unknown", cu->MemFree_v2(64), CUDA_ERROR_INVALID_VALUE);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->MemAlloc_v2(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(pitch, "memory.pitch", .needs = {S(MemAllocPitch_v2)})
{
    CUdeviceptr memory = 0;
    size_t step = 0;
    expect("code", cu->MemAllocPitch_v2(&memory, &step, 100, 10, 4), CUDA_SUCCESS);
    expect_true("wide-enough", step >= 100);
    expect_number("pitch", (long long)step, 512);
    expect("free", cu->MemFree_v2(memory), CUDA_SUCCESS);
    expect("element-3", cu->MemAllocPitch_v2(&memory, &step, 100, 10, 3), CUDA_ERROR_INVALID_VALUE);
    expect("zero-width", cu->MemAllocPitch_v2(&memory, &step, 0, 10, 4), CUDA_ERROR_INVALID_VALUE);
    expect("null", cu->MemAllocPitch_v2(NULL, &step, 100, 10, 4), CUDA_ERROR_INVALID_VALUE);
}

CHECK(host, "memory.host", .needs = {S(MemHostRegister_v1)})
{
    static unsigned char plain[8192];
    void *pinned = NULL;
    CUdeviceptr address = 0;
    unsigned flags = 0;
    expect("alloc", cu->MemHostAlloc_v1(&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
    expect("flags", cu->MemHostGetFlags_v1(&flags, pinned), CUDA_SUCCESS);
    expect_number("flags-are", flags, 2);
    expect("device-pointer", cu->MemHostGetDevicePointer_v2(&address, pinned, 0), CUDA_SUCCESS);
    expect_true("same-address", address == (CUdeviceptr)(size_t)pinned);
    expect("device-pointer-flags", cu->MemHostGetDevicePointer_v2(&address, pinned, 1), CUDA_ERROR_INVALID_VALUE);
    expect("register-pinned", cu->MemHostRegister_v1(pinned, 4096, 0), CUDA_ERROR_INVALID_VALUE);
    expect("free", cu->MemFreeHost_v1(pinned), CUDA_SUCCESS);
    expect("free-null", cu->MemFreeHost_v1(NULL), CUDA_SUCCESS);
    expect("free-plain", cu->MemFreeHost_v1(plain), CUDA_ERROR_INVALID_VALUE);
    expect("unknown-flag", cu->MemHostAlloc_v1(&pinned, 64, 0x100), CUDA_ERROR_INVALID_VALUE);
    expect("alloc-zero-bytes", cu->MemHostAlloc_v1(&pinned, 0, 0), CUDA_SUCCESS);
    expect("register", cu->MemHostRegister_v1(plain, sizeof plain, 0), CUDA_SUCCESS);
    expect("register-again", cu->MemHostRegister_v1(plain, sizeof plain, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    expect("unregister", cu->MemHostUnregister_v1(plain), CUDA_SUCCESS);
    expect("unregister-again", cu->MemHostUnregister_v1(plain), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    expect("flags-of-plain", cu->MemHostGetFlags_v1(&flags, plain), CUDA_ERROR_INVALID_VALUE);
}

CHECK(copy, "memory.copy", .needs = {S(Memcpy_v1)})
{
    unsigned char out[64];
    unsigned char in[64];
    CUdeviceptr first = memory_new(64, 0);
    CUdeviceptr second = memory_new(64, 0);
    for (int i = 0; i < 64; i++)
        out[i] = (unsigned char)(i * 3);
    expect("to-device", cu->MemcpyHtoD_v2(first, out, 64), CUDA_SUCCESS);
    expect("between", cu->MemcpyDtoD_v2(second, first, 64), CUDA_SUCCESS);
    expect("to-host", cu->MemcpyDtoH_v2(in, second, 64), CUDA_SUCCESS);
    expect_true("same", memcmp(out, in, 64) == 0);
    expect("any", cu->Memcpy_v1((CUdeviceptr)(size_t)in, first, 32), CUDA_SUCCESS);
    expect("nothing", cu->MemcpyHtoD_v2(first, out, 0), CUDA_SUCCESS);
    expect("null-host", cu->MemcpyHtoD_v2(first, NULL, 16), CUDA_ERROR_INVALID_VALUE);
    expect("null-device", cu->MemcpyHtoD_v2(0, out, 16), CUDA_ERROR_INVALID_VALUE);
    expect("null-device-nothing", cu->MemcpyHtoD_v2(0, out, 0), CUDA_SUCCESS);
}

CHECK(copy_out_of_range, "memory.copy-out-of-range", .needs = {S(MemcpyHtoD_v2)})
{
    static unsigned char bytes[8192];
    CUdeviceptr memory = 0;
    require("memory", cu->MemAlloc_v2(&memory, 4096));
    expect("to-device-too-long", cu->MemcpyHtoD_v2(memory, bytes, 4097), CUDA_ERROR_INVALID_VALUE);
    expect("to-host-too-long", cu->MemcpyDtoH_v2(bytes, memory, 4097), CUDA_ERROR_INVALID_VALUE);
    expect("past-end", cu->MemcpyDtoH_v2(bytes, memory + 4000, 97), CUDA_ERROR_INVALID_VALUE);
    expect("up-to-end", cu->MemcpyDtoH_v2(bytes, memory + 4000, 96), CUDA_SUCCESS);
    expect("memset-too-long", cu->MemsetD8_v2(memory, 0, 4097), CUDA_ERROR_INVALID_VALUE);
    expect("memset-up-to-end", cu->MemsetD8_v2(memory, 0, 4096), CUDA_SUCCESS);
    expect("async-too-long", cu->MemcpyHtoDAsync_v2(memory, bytes, 4097, NULL), CUDA_ERROR_INVALID_VALUE);
    require("free", cu->MemFree_v2(memory));
    expect("freed", cu->MemcpyDtoH_v2(bytes, memory, 16), CUDA_ERROR_INVALID_VALUE);
}

CHECK(copy_in_order, "memory.copy-in-order", .needs = {S(MemcpyHtoDAsync_v2)})
{
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(64, 0);
    unsigned char *from = host_new(64, NULL);
    volatile unsigned char *to = host_new(64, NULL);
    struct gate *gate = gate_new(stream);
    memset(from, 4, 64);
    expect("to-device", cu->MemcpyHtoDAsync_v2(memory, from, 64, stream), CUDA_SUCCESS);
    expect("memset", cu->MemsetD8Async_v1(memory, 8, 32, stream), CUDA_SUCCESS);
    expect("between", cu->MemcpyDtoDAsync_v2(memory + 48, memory, 16, stream), CUDA_SUCCESS);
    expect("to-host", cu->MemcpyDtoHAsync_v2((void *)to, memory, 64, stream), CUDA_SUCCESS);
    expect_number("nothing-yet", to[0], 0);
    from[40] = 5;
    gate_open(gate);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("memset-won", to[31], 8);
    expect_number("copied", to[32], 4);
    expect_number("pinned-read-late", to[40], 5);
    expect_number("copied-on", to[63], 8);
}

CHECK(sets, "memory.set", .needs = {S(MemsetD8_v2)})
{
    CUdeviceptr memory = memory_new(64, 0);
    unsigned char bytes[64];
    expect("d16", cu->MemsetD16_v2(memory, 0x1234, 4), CUDA_SUCCESS);
    expect("d32", cu->MemsetD32_v2(memory + 8, 0x12345678, 2), CUDA_SUCCESS);
    expect("d8", cu->MemsetD8_v2(memory + 16, 0xab, 3), CUDA_SUCCESS);
    expect("d16-unaligned", cu->MemsetD16_v2(memory + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
    expect("d32-unaligned", cu->MemsetD32_v2(memory + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    expect("nothing", cu->MemsetD8_v2(memory, 0, 0), CUDA_SUCCESS);
    expect("two-dimensions", cu->MemsetD2D8_v2(memory + 32, 8, 0xcd, 3, 2), CUDA_SUCCESS);
    expect("two-dimensions-narrow-pitch", cu->MemsetD2D8_v2(memory + 32, 2, 0, 3, 2), CUDA_ERROR_INVALID_VALUE);
    expect("null", cu->MemsetD8_v2(0, 0, 4), CUDA_ERROR_INVALID_VALUE);
    require("copy", cu->MemcpyDtoH_v2(bytes, memory, 64));
    expect_number("d16-byte", bytes[7], 0x12);
    expect_number("d32-byte", bytes[8], 0x78);
    expect_number("d8-last", bytes[18], 0xab);
    expect_number("d8-behind", bytes[19], 0);
    expect_number("row-0", bytes[34], 0xcd);
    expect_number("padding", bytes[35], 0);
    expect_number("row-1", bytes[42], 0xcd);
}

static CUDA_MEMCPY2D plane(const void *host, size_t host_pitch, CUdeviceptr device, size_t device_pitch)
{
    return (CUDA_MEMCPY2D){
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = host,
        .srcPitch = host_pitch,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = device,
        .dstPitch = device_pitch,
        .WidthInBytes = 5,
        .Height = 4,
    };
}

CHECK(planes, "memory.plane", .needs = {S(Memcpy2D_v2)})
{
    unsigned char frame[4 * 6];
    unsigned char bytes[64];
    CUdeviceptr memory = memory_new(64, 0xee);
    CUstream stream = stream_new();
    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (unsigned char)i;
    CUDA_MEMCPY2D copy = plane(frame, 6, memory, 16);
    expect("upload", cu->Memcpy2D_v2(&copy), CUDA_SUCCESS);
    require("copy", cu->MemcpyDtoH_v2(bytes, memory, 64));
    expect_number("row-3", bytes[48], 18);
    expect_number("padding-kept", bytes[5], 0xee);
    copy.dstXInBytes = 8;
    copy.dstY = 1;
    copy.Height = 3;
    expect("offset-async", cu->Memcpy2DAsync_v2(&copy, stream), CUDA_SUCCESS);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    require("copy", cu->MemcpyDtoH_v2(bytes, memory, 64));
    expect_number("offset-byte", bytes[16 + 8], 0);
    expect_number("offset-before", bytes[16 + 7], 0xee);
    copy = plane(frame, 4, memory, 16);
    expect("narrow-host-pitch", cu->Memcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
    copy = plane(frame, 6, memory, 4);
    expect("narrow-device-pitch", cu->Memcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
    copy = plane(frame, 6, memory, 16);
    copy.WidthInBytes = 0;
    expect("no-width", cu->Memcpy2D_v2(&copy), CUDA_SUCCESS);
    copy = plane(frame, 0, memory, 16);
    expect("zero-pitch", cu->Memcpy2D_v2(&copy), CUDA_SUCCESS);
    expect("null", cu->Memcpy2D_v2(NULL), CUDA_ERROR_INVALID_VALUE);
}

CHECK(stream_ordered, "memory.stream-ordered", .needs = {S(MemAllocAsync_v1), S(MemFreeAsync_v1)})
{
    CUstream stream = stream_new();
    CUdeviceptr memory = 0;
    unsigned char byte = 0;
    struct gate *gate = gate_new(stream);
    expect("alloc", cu->MemAllocAsync_v1(&memory, 256, stream), CUDA_SUCCESS);
    expect_true("address-at-once", memory != 0);
    expect("use", cu->MemsetD8Async_v1(memory, 3, 256, stream), CUDA_SUCCESS);
    gate_open(gate);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect("copy", cu->MemcpyDtoH_v2(&byte, memory + 255, 1), CUDA_SUCCESS);
    expect_number("value", byte, 3);
    expect("free", cu->MemFreeAsync_v1(memory, stream), CUDA_SUCCESS);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect("free-again", cu->MemFreeAsync_v1(memory, stream), CUDA_ERROR_INVALID_VALUE);
    expect("free-zero", cu->MemFreeAsync_v1(0, stream), CUDA_SUCCESS);
    expect("zero-bytes", cu->MemAllocAsync_v1(&memory, 0, stream), CUDA_SUCCESS);
    expect("null", cu->MemAllocAsync_v1(NULL, 16, stream), CUDA_ERROR_INVALID_VALUE);
    expect("on-zero", cu->MemAllocAsync_v1(&memory, 64, NULL), CUDA_SUCCESS);
    expect("freed-plainly", cu->MemFree_v2(memory), CUDA_SUCCESS);
    CUdeviceptr plain = memory_new(64, 0);
    expect("plain-freed-async", cu->MemFreeAsync_v1(disown_memory(plain), stream), CUDA_SUCCESS);
}

CHECK(pointer_attributes, "memory.pointer", .needs = {S(PointerGetAttribute_v1)})
{
    CUdeviceptr memory = memory_new(256, 0);
    CUdeviceptr value = 0;
    CUcontext context = NULL;
    unsigned type = 0;
    int plain = 0;
    expect("type", cu->PointerGetAttribute_v1(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 5), CUDA_SUCCESS);
    expect_number("type-is", type, CU_MEMORYTYPE_DEVICE);
    expect("context", cu->PointerGetAttribute_v1(&context, CU_POINTER_ATTRIBUTE_CONTEXT, memory), CUDA_SUCCESS);
    expect_true("context-is", context == the_context);
    expect("device-pointer", cu->PointerGetAttribute_v1(&value, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory),
           CUDA_SUCCESS);
    expect_true("device-pointer-is", value == memory);
    expect("plain-memory",
           cu->PointerGetAttribute_v1(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(size_t)&plain),
           CUDA_ERROR_INVALID_VALUE);
    expect("null", cu->PointerGetAttribute_v1(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory),
           CUDA_ERROR_INVALID_VALUE);
    require("free", cu->MemFree_v2(disown_memory(memory)));
    expect("freed", cu->PointerGetAttribute_v1(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory),
           CUDA_ERROR_INVALID_VALUE);
}
