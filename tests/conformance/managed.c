/* SPDX-License-Identifier: MIT */
/* cuStreamAttachMemAsync and managed memory. The checks use only a few kilobytes. */
#include "fixture.h"

CHECK(allocate, "managed.allocate", .needs = {S(MemAllocManaged_v1)})
{
    CUdeviceptr memory = 0;
    expect("global", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    require("free", cu->MemFree_v2(memory));
    expect("host", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_HOST), CUDA_SUCCESS);
    expect("free", cu->MemFree_v2(memory), CUDA_SUCCESS);
    expect("single", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    expect("no-flag", cu->MemAllocManaged_v1(&memory, 4096, 0), CUDA_ERROR_INVALID_VALUE);
    expect("two-flags", cu->MemAllocManaged_v1(&memory, 4096, 3), CUDA_ERROR_INVALID_VALUE);
    expect("zero-bytes", cu->MemAllocManaged_v1(&memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    expect("null", cu->MemAllocManaged_v1(NULL, 16, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
}

static void end_managed(void *memory)
{
    require("free", cu->MemFree_v2((CUdeviceptr)(size_t)memory));
}

static CUdeviceptr managed_new(void)
{
    CUdeviceptr memory = 0;
    require("managed", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
    defer(end_managed, (void *)(size_t)memory);
    return memory;
}

CHECK(attach, "managed.attach", .needs = {S(StreamAttachMemAsync_v1)})
{
    CUstream stream = stream_new();
    CUdeviceptr memory = managed_new();
    expect("global", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    expect("host", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_HOST), CUDA_SUCCESS);
    expect("single", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_SINGLE), CUDA_SUCCESS);
    expect("whole-length", cu->StreamAttachMemAsync_v1(stream, memory, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    expect("part", cu->StreamAttachMemAsync_v1(stream, memory, 2048, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    expect("too-long", cu->StreamAttachMemAsync_v1(stream, memory, 8192, CU_MEM_ATTACH_GLOBAL),
           CUDA_ERROR_INVALID_VALUE);
    expect("inside", cu->StreamAttachMemAsync_v1(stream, memory + 16, 0, CU_MEM_ATTACH_GLOBAL),
           CUDA_ERROR_INVALID_VALUE);
    expect("two-flags", cu->StreamAttachMemAsync_v1(stream, memory, 0, 3), CUDA_ERROR_INVALID_VALUE);
    expect("unknown-flag", cu->StreamAttachMemAsync_v1(stream, memory, 0, 8), CUDA_ERROR_INVALID_VALUE);
    expect("null-memory", cu->StreamAttachMemAsync_v1(stream, 0, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    expect("zero-stream-global", cu->StreamAttachMemAsync_v1(NULL, memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    expect("zero-stream-single", cu->StreamAttachMemAsync_v1(NULL, memory, 0, CU_MEM_ATTACH_SINGLE),
           CUDA_ERROR_INVALID_VALUE);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    expect("no-context-zero-stream", cu->StreamAttachMemAsync_v1(NULL, memory, 0, CU_MEM_ATTACH_GLOBAL),
           CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(attach_no_flag, "managed.attach-no-flag", .flags = CHECK_ALONE, .needs = {S(StreamAttachMemAsync_v1)})
{
    CUstream stream = stream_new();
    observe("code", cu->StreamAttachMemAsync_v1(stream, managed_new(), 0, 0));
}

CHECK(attach_special, "managed.attach-special", .needs = {S(StreamAttachMemAsync_v1), S(DevicePrimaryCtxRetain_v1)})
{
    CUdeviceptr memory = managed_new();
    expect("legacy-single", cu->StreamAttachMemAsync_v1(CU_STREAM_LEGACY, memory, 0, CU_MEM_ATTACH_SINGLE),
           CUDA_SUCCESS);
    expect("per-thread-single", cu->StreamAttachMemAsync_v1(CU_STREAM_PER_THREAD, memory, 0, CU_MEM_ATTACH_SINGLE),
           CUDA_SUCCESS);
}

CHECK(not_managed, "managed.not-managed", .needs = {S(StreamAttachMemAsync_v1)})
{
    static unsigned char plain[4096];
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(4096, 0);
    CUdeviceptr pinned = 0;
    (void)host_new(4096, &pinned);
    expect("device-memory", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_GLOBAL),
           CUDA_ERROR_INVALID_VALUE);
    expect("pinned-memory", cu->StreamAttachMemAsync_v1(stream, pinned, 0, CU_MEM_ATTACH_GLOBAL),
           CUDA_ERROR_INVALID_VALUE);
    expect("plain-memory", cu->StreamAttachMemAsync_v1(stream, (CUdeviceptr)(size_t)plain, 4096, CU_MEM_ATTACH_GLOBAL),
           CUDA_ERROR_INVALID_VALUE);
    expect("plain-memory-no-length",
           cu->StreamAttachMemAsync_v1(stream, (CUdeviceptr)(size_t)plain, 0, CU_MEM_ATTACH_GLOBAL),
           CUDA_ERROR_INVALID_VALUE);
}

/* Destroying the stream ends the association; the memory remains usable. */
CHECK(destroy_stream, "managed.destroy-stream", .needs = {S(StreamAttachMemAsync_v1)})
{
    CUstream stream = stream_new();
    CUdeviceptr memory = managed_new();
    require("attach", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_SINGLE));
    expect("code", cu->StreamDestroy_v2(disown(stream)), CUDA_SUCCESS);
    expect("context-synchronize", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    *(volatile unsigned char *)(size_t)memory = 3;
    expect_number("host-access", *(volatile unsigned char *)(size_t)memory, 3);
}
