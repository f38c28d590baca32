/* SPDX-License-Identifier: MIT */
/* cuStreamAttachMemAsync and managed memory. The checks use only a few kilobytes. */
#include "fixture.h"

static void allocate(void)
{
    CUdeviceptr memory = 0;
    rule("global", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    need("free", cu->MemFree_v2(memory));
    rule("host", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_HOST), CUDA_SUCCESS);
    rule("free", cu->MemFree_v2(memory), CUDA_SUCCESS);
    rule("single", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    rule("no-flag", cu->MemAllocManaged_v1(&memory, 4096, 0), CUDA_ERROR_INVALID_VALUE);
    rule("two-flags", cu->MemAllocManaged_v1(&memory, 4096, 3), CUDA_ERROR_INVALID_VALUE);
    rule("zero-bytes", cu->MemAllocManaged_v1(&memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    rule("null", cu->MemAllocManaged_v1(NULL, 16, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
}

static void attach(void)
{
    CUstream stream = stream_new();
    CUdeviceptr memory = 0;
    if (!need("managed", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_GLOBAL)))
        return;
    rule("global", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    rule("host", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_HOST), CUDA_SUCCESS);
    rule("single", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_SINGLE), CUDA_SUCCESS);
    rule("whole-length", cu->StreamAttachMemAsync_v1(stream, memory, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    rule("part", cu->StreamAttachMemAsync_v1(stream, memory, 2048, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    rule("too-long", cu->StreamAttachMemAsync_v1(stream, memory, 8192, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    saw("inside", cu->StreamAttachMemAsync_v1(stream, memory + 16, 0, CU_MEM_ATTACH_GLOBAL));
    rule("two-flags", cu->StreamAttachMemAsync_v1(stream, memory, 0, 3), CUDA_ERROR_INVALID_VALUE);
    rule("unknown-flag", cu->StreamAttachMemAsync_v1(stream, memory, 0, 8), CUDA_ERROR_INVALID_VALUE);
    rule("null-memory", cu->StreamAttachMemAsync_v1(stream, 0, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    rule("zero-stream-global", cu->StreamAttachMemAsync_v1(NULL, memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    saw("zero-stream-single", cu->StreamAttachMemAsync_v1(NULL, memory, 0, CU_MEM_ATTACH_SINGLE));
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    saw("no-context", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_GLOBAL));
    saw("no-context-zero-stream", cu->StreamAttachMemAsync_v1(NULL, memory, 0, CU_MEM_ATTACH_GLOBAL));
    stream_end(stream);
    need("current", cu->CtxSetCurrent_v1(the_context));
    need("free", cu->MemFree_v2(memory));
}

static void attach_no_flag(void)
{
    CUstream stream = stream_new();
    CUdeviceptr memory = 0;
    if (need("managed", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_GLOBAL)))
        saw("code", cu->StreamAttachMemAsync_v1(stream, memory, 0, 0));
}

static void attach_special(void)
{
    CUdeviceptr memory = 0;
    if (!need("managed", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_GLOBAL)))
        return;
    saw("legacy-single", cu->StreamAttachMemAsync_v1(CU_STREAM_LEGACY, memory, 0, CU_MEM_ATTACH_SINGLE));
    saw("per-thread-single", cu->StreamAttachMemAsync_v1(CU_STREAM_PER_THREAD, memory, 0, CU_MEM_ATTACH_SINGLE));
    need("synchronize", cu->CtxSynchronize_v1());
    need("free", cu->MemFree_v2(memory));
}

static void not_managed(void)
{
    static unsigned char plain[4096];
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(4096, 0);
    CUdeviceptr pinned = 0;
    void *host = host_new(4096, &pinned);
    saw("device-memory", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_GLOBAL));
    saw("pinned-memory", cu->StreamAttachMemAsync_v1(stream, pinned, 0, CU_MEM_ATTACH_GLOBAL));
    saw("plain-memory", cu->StreamAttachMemAsync_v1(stream, (CUdeviceptr)(size_t)plain, 4096, CU_MEM_ATTACH_GLOBAL));
    saw("plain-memory-no-length",
        cu->StreamAttachMemAsync_v1(stream, (CUdeviceptr)(size_t)plain, 0, CU_MEM_ATTACH_GLOBAL));
    stream_end(stream);
    need("free", cu->MemFree_v2(memory));
    host_free(host);
}

/* Destroying the stream ends the association; the memory remains usable. */
static void destroy_stream(void)
{
    CUstream stream = stream_new();
    CUdeviceptr memory = 0;
    if (!need("managed", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_GLOBAL)))
        return;
    need("attach", cu->StreamAttachMemAsync_v1(stream, memory, 0, CU_MEM_ATTACH_SINGLE));
    rule("code", cu->StreamDestroy_v2(stream), CUDA_SUCCESS);
    rule("context-synchronize", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    *(volatile unsigned char *)(size_t)memory = 3;
    rule_number("host-access", *(volatile unsigned char *)(size_t)memory, 3);
    need("free", cu->MemFree_v2(memory));
}

static const struct check checks[] = {
    {"managed.allocate", allocate, 0, {S(MemAllocManaged_v1)}},
    {"managed.attach", attach, 0, {S(StreamAttachMemAsync_v1)}},
    {"managed.attach-no-flag", attach_no_flag, CHECK_ALONE, {S(StreamAttachMemAsync_v1)}},
    {"managed.attach-special", attach_special, 0, {S(StreamAttachMemAsync_v1), S(DevicePrimaryCtxRetain_v1)}},
    {"managed.not-managed", not_managed, 0, {S(StreamAttachMemAsync_v1)}},
    {"managed.destroy-stream", destroy_stream, 0, {S(StreamAttachMemAsync_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_managed = {"managed", checks};
