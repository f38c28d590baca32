/* SPDX-License-Identifier: MIT */
/* Memory: allocation rules, copies and their order, memsets, two dimensions, stream-ordered allocation. */
#include <string.h>

#include "fixture.h"

static void allocate(void)
{
    CUdeviceptr memory = 0;
    CUdeviceptr base = 0;
    size_t size = 0;
    size_t total = 0;
    rule("zero-bytes", cu->MemAlloc_v2(&memory, 0), CUDA_ERROR_INVALID_VALUE);
    rule("null", cu->MemAlloc_v2(NULL, 16), CUDA_ERROR_INVALID_VALUE);
    rule("too-much", cu->MemAlloc_v2(&memory, (size_t)1 << 50), CUDA_ERROR_OUT_OF_MEMORY);
    rule("code", cu->MemAlloc_v2(&memory, 1000), CUDA_SUCCESS);
    rule_number("aligned", (long long)(memory % 256), 0);
    rule("range", cu->MemGetAddressRange_v2(&base, &size, memory + 10), CUDA_SUCCESS);
    rule_fact("range-base", base == memory);
    rule_number("range-size", (long long)size, 1000);
    saw("range-past-end", cu->MemGetAddressRange_v2(&base, &size, memory + 1000));
    rule("range-unknown", cu->MemGetAddressRange_v2(&base, &size, 64), CUDA_ERROR_NOT_FOUND);
    rule("info", cu->MemGetInfo_v2(&size, &total), CUDA_SUCCESS);
    rule_fact("info-sane", size <= total && total > 0);
    saw("free-inside", cu->MemFree_v2(memory + 8));
    rule("free", cu->MemFree_v2(memory), CUDA_SUCCESS);
    rule("free-again", cu->MemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
    rule("free-zero", cu->MemFree_v2(0), CUDA_SUCCESS);
    saw("free-unknown", cu->MemFree_v2(64));
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->MemAlloc_v2(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
}

static void pitch(void)
{
    CUdeviceptr memory = 0;
    size_t step = 0;
    rule("code", cu->MemAllocPitch_v2(&memory, &step, 100, 10, 4), CUDA_SUCCESS);
    rule_fact("wide-enough", step >= 100);
    saw_number("pitch", (long long)step);
    rule("free", cu->MemFree_v2(memory), CUDA_SUCCESS);
    saw("element-3", cu->MemAllocPitch_v2(&memory, &step, 100, 10, 3));
    saw("zero-width", cu->MemAllocPitch_v2(&memory, &step, 0, 10, 4));
    saw("null", cu->MemAllocPitch_v2(NULL, &step, 100, 10, 4));
}

static void host(void)
{
    static unsigned char plain[8192];
    void *pinned = NULL;
    CUdeviceptr address = 0;
    unsigned flags = 0;
    rule("alloc", cu->MemHostAlloc_v1(&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
    rule("flags", cu->MemHostGetFlags_v1(&flags, pinned), CUDA_SUCCESS);
    saw_number("flags-are", flags);
    rule("device-pointer", cu->MemHostGetDevicePointer_v2(&address, pinned, 0), CUDA_SUCCESS);
    saw_fact("same-address", address == (CUdeviceptr)(size_t)pinned);
    rule("device-pointer-flags", cu->MemHostGetDevicePointer_v2(&address, pinned, 1), CUDA_ERROR_INVALID_VALUE);
    saw("register-pinned", cu->MemHostRegister_v1(pinned, 4096, 0));
    rule("free", cu->MemFreeHost_v1(pinned), CUDA_SUCCESS);
    saw("free-null", cu->MemFreeHost_v1(NULL));
    rule("free-plain", cu->MemFreeHost_v1(plain), CUDA_ERROR_INVALID_VALUE);
    rule("unknown-flag", cu->MemHostAlloc_v1(&pinned, 64, 0x100), CUDA_ERROR_INVALID_VALUE);
    saw("alloc-zero-bytes", cu->MemHostAlloc_v1(&pinned, 0, 0));
    rule("register", cu->MemHostRegister_v1(plain, sizeof plain, 0), CUDA_SUCCESS);
    rule("register-again", cu->MemHostRegister_v1(plain, sizeof plain, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    rule("unregister", cu->MemHostUnregister_v1(plain), CUDA_SUCCESS);
    rule("unregister-again", cu->MemHostUnregister_v1(plain), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    saw("flags-of-plain", cu->MemHostGetFlags_v1(&flags, plain));
}

static void copy(void)
{
    unsigned char out[64];
    unsigned char in[64];
    CUdeviceptr first = memory_new(64, 0);
    CUdeviceptr second = memory_new(64, 0);
    for (int i = 0; i < 64; i++)
        out[i] = (unsigned char)(i * 3);
    rule("to-device", cu->MemcpyHtoD_v2(first, out, 64), CUDA_SUCCESS);
    rule("between", cu->MemcpyDtoD_v2(second, first, 64), CUDA_SUCCESS);
    rule("to-host", cu->MemcpyDtoH_v2(in, second, 64), CUDA_SUCCESS);
    rule_fact("same", memcmp(out, in, 64) == 0);
    rule("any", cu->Memcpy_v1((CUdeviceptr)(size_t)in, first, 32), CUDA_SUCCESS);
    rule("nothing", cu->MemcpyHtoD_v2(first, out, 0), CUDA_SUCCESS);
    saw("null-host", cu->MemcpyHtoD_v2(first, NULL, 16));
    saw("null-device", cu->MemcpyHtoD_v2(0, out, 16));
    saw("null-device-nothing", cu->MemcpyHtoD_v2(0, out, 0));
    need("free", cu->MemFree_v2(first));
    need("free", cu->MemFree_v2(second));
}

static void copy_out_of_range(void)
{
    static unsigned char bytes[8192];
    CUdeviceptr memory = 0;
    need("memory", cu->MemAlloc_v2(&memory, 4096));
    rule("to-device-too-long", cu->MemcpyHtoD_v2(memory, bytes, 4097), CUDA_ERROR_INVALID_VALUE);
    rule("to-host-too-long", cu->MemcpyDtoH_v2(bytes, memory, 4097), CUDA_ERROR_INVALID_VALUE);
    rule("past-end", cu->MemcpyDtoH_v2(bytes, memory + 4000, 97), CUDA_ERROR_INVALID_VALUE);
    rule("up-to-end", cu->MemcpyDtoH_v2(bytes, memory + 4000, 96), CUDA_SUCCESS);
    rule("memset-too-long", cu->MemsetD8_v2(memory, 0, 4097), CUDA_ERROR_INVALID_VALUE);
    rule("memset-up-to-end", cu->MemsetD8_v2(memory, 0, 4096), CUDA_SUCCESS);
    rule("async-too-long", cu->MemcpyHtoDAsync_v2(memory, bytes, 4097, NULL), CUDA_ERROR_INVALID_VALUE);
    need("free", cu->MemFree_v2(memory));
    saw("freed", cu->MemcpyDtoH_v2(bytes, memory, 16));
}

static void copy_in_order(void)
{
    struct gate gate;
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(64, 0);
    unsigned char *from = host_new(64, NULL);
    volatile unsigned char *to = host_new(64, NULL);
    if (from == NULL || to == NULL || !gate_close(&gate, stream))
        return;
    memset(from, 4, 64);
    rule("to-device", cu->MemcpyHtoDAsync_v2(memory, from, 64, stream), CUDA_SUCCESS);
    rule("memset", cu->MemsetD8Async_v1(memory, 8, 32, stream), CUDA_SUCCESS);
    rule("between", cu->MemcpyDtoDAsync_v2(memory + 48, memory, 16, stream), CUDA_SUCCESS);
    rule("to-host", cu->MemcpyDtoHAsync_v2((void *)to, memory, 64, stream), CUDA_SUCCESS);
    rule_number("nothing-yet", to[0], 0);
    from[40] = 5;
    gate_open(&gate);
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule_number("memset-won", to[31], 8);
    rule_number("copied", to[32], 4);
    rule_number("pinned-read-late", to[40], 5);
    rule_number("copied-on", to[63], 8);
    stream_end(stream);
    host_free(from);
    host_free((void *)to);
    need("free", cu->MemFree_v2(memory));
}

static void sets(void)
{
    CUdeviceptr memory = memory_new(64, 0);
    unsigned char bytes[64];
    rule("d16", cu->MemsetD16_v2(memory, 0x1234, 4), CUDA_SUCCESS);
    rule("d32", cu->MemsetD32_v2(memory + 8, 0x12345678, 2), CUDA_SUCCESS);
    rule("d8", cu->MemsetD8_v2(memory + 16, 0xab, 3), CUDA_SUCCESS);
    rule("d16-unaligned", cu->MemsetD16_v2(memory + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
    rule("d32-unaligned", cu->MemsetD32_v2(memory + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    rule("nothing", cu->MemsetD8_v2(memory, 0, 0), CUDA_SUCCESS);
    rule("two-dimensions", cu->MemsetD2D8_v2(memory + 32, 8, 0xcd, 3, 2), CUDA_SUCCESS);
    saw("two-dimensions-narrow-pitch", cu->MemsetD2D8_v2(memory + 32, 2, 0, 3, 2));
    saw("null", cu->MemsetD8_v2(0, 0, 4));
    need("copy", cu->MemcpyDtoH_v2(bytes, memory, 64));
    rule_number("d16-byte", bytes[7], 0x12);
    rule_number("d32-byte", bytes[8], 0x78);
    rule_number("d8-last", bytes[18], 0xab);
    rule_number("d8-behind", bytes[19], 0);
    rule_number("row-0", bytes[34], 0xcd);
    rule_number("padding", bytes[35], 0);
    rule_number("row-1", bytes[42], 0xcd);
    need("free", cu->MemFree_v2(memory));
}

static CUDA_MEMCPY2D plane(const void *host, size_t host_pitch, CUdeviceptr device, size_t device_pitch)
{
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = host_pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = device;
    copy.dstPitch = device_pitch;
    copy.WidthInBytes = 5;
    copy.Height = 4;
    return copy;
}

static void planes(void)
{
    unsigned char frame[4 * 6];
    unsigned char bytes[64];
    CUdeviceptr memory = memory_new(64, 0xee);
    CUstream stream = stream_new();
    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (unsigned char)i;
    CUDA_MEMCPY2D copy = plane(frame, 6, memory, 16);
    rule("upload", cu->Memcpy2D_v2(&copy), CUDA_SUCCESS);
    need("copy", cu->MemcpyDtoH_v2(bytes, memory, 64));
    rule_number("row-3", bytes[48], 18);
    rule_number("padding-kept", bytes[5], 0xee);
    copy.dstXInBytes = 8;
    copy.dstY = 1;
    copy.Height = 3;
    rule("offset-async", cu->Memcpy2DAsync_v2(&copy, stream), CUDA_SUCCESS);
    need("synchronize", cu->StreamSynchronize_v1(stream));
    need("copy", cu->MemcpyDtoH_v2(bytes, memory, 64));
    rule_number("offset-byte", bytes[16 + 8], 0);
    rule_number("offset-before", bytes[16 + 7], 0xee);
    copy = plane(frame, 4, memory, 16);
    rule("narrow-host-pitch", cu->Memcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
    copy = plane(frame, 6, memory, 4);
    rule("narrow-device-pitch", cu->Memcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
    copy = plane(frame, 6, memory, 16);
    copy.WidthInBytes = 0;
    saw("no-width", cu->Memcpy2D_v2(&copy));
    copy = plane(frame, 0, memory, 16);
    saw("zero-pitch", cu->Memcpy2D_v2(&copy));
    rule("null", cu->Memcpy2D_v2(NULL), CUDA_ERROR_INVALID_VALUE);
    stream_end(stream);
    need("free", cu->MemFree_v2(memory));
}

static void stream_ordered(void)
{
    struct gate gate;
    CUstream stream = stream_new();
    CUdeviceptr memory = 0;
    unsigned char byte = 0;
    if (!gate_close(&gate, stream))
        return;
    rule("alloc", cu->MemAllocAsync_v1(&memory, 256, stream), CUDA_SUCCESS);
    rule_fact("address-at-once", memory != 0);
    rule("use", cu->MemsetD8Async_v1(memory, 3, 256, stream), CUDA_SUCCESS);
    gate_open(&gate);
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule("copy", cu->MemcpyDtoH_v2(&byte, memory + 255, 1), CUDA_SUCCESS);
    rule_number("value", byte, 3);
    rule("free", cu->MemFreeAsync_v1(memory, stream), CUDA_SUCCESS);
    need("synchronize", cu->StreamSynchronize_v1(stream));
    saw("free-again", cu->MemFreeAsync_v1(memory, stream));
    saw("free-zero", cu->MemFreeAsync_v1(0, stream));
    saw("zero-bytes", cu->MemAllocAsync_v1(&memory, 0, stream));
    saw("null", cu->MemAllocAsync_v1(NULL, 16, stream));
    rule("on-zero", cu->MemAllocAsync_v1(&memory, 64, NULL), CUDA_SUCCESS);
    rule("freed-plainly", cu->MemFree_v2(memory), CUDA_SUCCESS);
    CUdeviceptr plain = memory_new(64, 0);
    saw("plain-freed-async", cu->MemFreeAsync_v1(plain, stream));
    stream_end(stream);
}

static void pointer_attributes(void)
{
    CUdeviceptr memory = memory_new(256, 0);
    CUdeviceptr value = 0;
    CUcontext context = NULL;
    unsigned type = 0;
    int plain = 0;
    rule("type", cu->PointerGetAttribute_v1(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 5), CUDA_SUCCESS);
    rule_number("type-is", type, CU_MEMORYTYPE_DEVICE);
    rule("context", cu->PointerGetAttribute_v1(&context, CU_POINTER_ATTRIBUTE_CONTEXT, memory), CUDA_SUCCESS);
    rule_fact("context-is", context == the_context);
    rule("device-pointer", cu->PointerGetAttribute_v1(&value, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory),
         CUDA_SUCCESS);
    rule_fact("device-pointer-is", value == memory);
    saw("plain-memory",
        cu->PointerGetAttribute_v1(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(size_t)&plain));
    rule("null", cu->PointerGetAttribute_v1(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_ERROR_INVALID_VALUE);
    need("free", cu->MemFree_v2(memory));
    saw("freed", cu->PointerGetAttribute_v1(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
}

static const struct check checks[] = {
    {"memory.allocate", allocate, 0, {S(MemAlloc_v2)}},
    {"memory.pitch", pitch, 0, {S(MemAllocPitch_v2)}},
    {"memory.host", host, 0, {S(MemHostRegister_v1)}},
    {"memory.copy", copy, 0, {S(Memcpy_v1)}},
    {"memory.copy-out-of-range", copy_out_of_range, 0, {S(MemcpyHtoD_v2)}},
    {"memory.copy-in-order", copy_in_order, 0, {S(MemcpyHtoDAsync_v2)}},
    {"memory.set", sets, 0, {S(MemsetD8_v2)}},
    {"memory.plane", planes, 0, {S(Memcpy2D_v2)}},
    {"memory.stream-ordered", stream_ordered, 0, {S(MemAllocAsync_v1), S(MemFreeAsync_v1)}},
    {"memory.pointer", pointer_attributes, 0, {S(PointerGetAttribute_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_memory = {"memory", checks};
