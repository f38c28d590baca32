/* SPDX-License-Identifier: MIT */
/* Waiting for and writing values: cuStreamWaitValue32/64, cuStreamWriteValue32/64, cuStreamBatchMemOp. */
#include <string.h>

#include "fixture.h"

CHECK(arguments, "value.argument", .needs = {S(StreamWaitValue32_v2), S(StreamWaitValue64_v2)})
{
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(64, 0);
    expect("wait", cu->StreamWaitValue32_v2(stream, memory, 0, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
    expect("wait-unaligned", cu->StreamWaitValue32_v2(stream, memory + 2, 0, CU_STREAM_WAIT_VALUE_EQ),
           CUDA_ERROR_INVALID_VALUE);
    expect("wait-null", cu->StreamWaitValue32_v2(stream, 0, 0, CU_STREAM_WAIT_VALUE_EQ), CUDA_ERROR_INVALID_VALUE);
    expect("wait-flag-4", cu->StreamWaitValue32_v2(stream, memory, 0, 4), CUDA_ERROR_INVALID_VALUE);
    expect("wait-flag-high", cu->StreamWaitValue32_v2(stream, memory, 0, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    expect("wait-flush", cu->StreamWaitValue32_v2(stream, memory, 0, CU_STREAM_WAIT_VALUE_FLUSH),
           CUDA_ERROR_NOT_SUPPORTED);
    expect("wait-unknown-address", cu->StreamWaitValue32_v2(stream, 64, 0, CU_STREAM_WAIT_VALUE_GEQ),
           CUDA_ERROR_INVALID_VALUE);
    expect("write", cu->StreamWriteValue32_v2(stream, memory, 7, CU_STREAM_WRITE_VALUE_DEFAULT), CUDA_SUCCESS);
    expect("write-no-barrier",
           cu->StreamWriteValue32_v2(stream, memory + 4, 8, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER),
           CUDA_ERROR_INVALID_VALUE);
    expect("write-unaligned", cu->StreamWriteValue32_v2(stream, memory + 1, 7, 0), CUDA_ERROR_INVALID_VALUE);
    expect("write-null", cu->StreamWriteValue32_v2(stream, 0, 7, 0), CUDA_ERROR_INVALID_VALUE);
    expect("write-flag-2", cu->StreamWriteValue32_v2(stream, memory, 7, 2), CUDA_ERROR_INVALID_VALUE);
    expect("wide-wait-unaligned", cu->StreamWaitValue64_v2(stream, memory + 4, 0, CU_STREAM_WAIT_VALUE_GEQ),
           CUDA_ERROR_INVALID_VALUE);
    expect("wide-write-unaligned", cu->StreamWriteValue64_v2(stream, memory + 4, 7, 0), CUDA_ERROR_INVALID_VALUE);
    expect("on-zero", cu->StreamWriteValue32_v2(NULL, memory + 8, 9, 0), CUDA_SUCCESS);
    expect("synchronize", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->StreamWriteValue32_v2(stream, memory, 7, 0), CUDA_SUCCESS);
    expect("no-context-zero", cu->StreamWriteValue32_v2(NULL, memory, 7, 0), CUDA_ERROR_INVALID_CONTEXT);
    require("current", cu->CtxSetCurrent_v1(the_context));
}

CHECK(write, "value.write", .needs = {S(StreamWriteValue32_v2), S(StreamWriteValue64_v2)})
{
    CUdeviceptr address = 0;
    CUstream stream = stream_new();
    unsigned *host = host_new(64, &address);
    expect("narrow", cu->StreamWriteValue32_v2(stream, address, 0x11223344, 0), CUDA_SUCCESS);
    expect("wide", cu->StreamWriteValue64_v2(stream, address + 8, 0x5566778899aabbccull, 0), CUDA_SUCCESS);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("narrow-is", CUSHIM_LOAD_ACQUIRE(&host[0]), 0x11223344);
    expect_number("narrow-leaves-rest", CUSHIM_LOAD_ACQUIRE(&host[1]), 0);
    expect_number("wide-low", CUSHIM_LOAD_ACQUIRE(&host[2]), 0x99aabbccll);
    expect_number("wide-high", CUSHIM_LOAD_ACQUIRE(&host[3]), 0x55667788);
}

/* One comparison: a value that must not release the stream, then one that must. */
static void compare(const char *key, unsigned flags, unsigned wanted, unsigned closed, unsigned open)
{
    CUdeviceptr address = 0;
    CUstream stream = stream_new();
    unsigned *host = host_new(64, &address);
    CUSHIM_STORE_RELEASE(&host[0], closed);
    expect(key_of(key, "code", NULL), cu->StreamWaitValue32_v2(stream, address, wanted, flags), CUDA_SUCCESS);
    require("write", cu->StreamWriteValue32_v2(stream, address + 4, 1, 0));
    expect(key_of(key, "pending", NULL), cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    expect_number(key_of(key, "later-work-waits", NULL), CUSHIM_LOAD_ACQUIRE(&host[1]), 0);
    CUSHIM_STORE_RELEASE(&host[0], open);
    expect(key_of(key, "passes", NULL), cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect_number(key_of(key, "later-work-done", NULL), CUSHIM_LOAD_ACQUIRE(&host[1]), 1);
}

CHECK(comparisons, "value.compare", .needs = {S(StreamWaitValue32_v2)})
{
    compare("geq", CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 6);
    compare("geq-is-cyclic", CU_STREAM_WAIT_VALUE_GEQ, 0xfffffff0u, 0xffffffefu, 3);
    compare("eq", CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5);
    compare("and", CU_STREAM_WAIT_VALUE_AND, 6, 9, 2);
    compare("nor", CU_STREAM_WAIT_VALUE_NOR, 0x0000ffffu, 0xffff0000u, 0x00ff0000u);
}

CHECK(wide_comparison, "value.compare-64", .needs = {S(StreamWaitValue64_v2)})
{
    CUdeviceptr address = 0;
    CUstream stream = stream_new();
    unsigned long long *host = host_new(64, &address);
    CUSHIM_STORE_RELEASE(&host[0], 1);
    expect("code", cu->StreamWaitValue64_v2(stream, address, 0x100000001ull, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
    expect("pending", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    CUSHIM_STORE_RELEASE(&host[0], 0x100000001ull);
    expect("passes", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
}

/* One stream releases another. */
CHECK(between_streams, "value.between-streams", .needs = {S(StreamWaitValue32_v2)})
{
    CUstream waiter = stream_new();
    CUstream writer = stream_new();
    CUdeviceptr memory = memory_new(64, 0);
    unsigned value = 0;
    expect("wait", cu->StreamWaitValue32_v2(waiter, memory, 1, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
    require("write", cu->StreamWriteValue32_v2(waiter, memory + 4, 5, 0));
    expect("pending", cu->StreamQuery_v1(waiter), CUDA_ERROR_NOT_READY);
    expect("write", cu->StreamWriteValue32_v2(writer, memory, 1, 0), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(waiter), CUDA_SUCCESS);
    require("copy", cu->MemcpyDtoH_v2(&value, memory + 4, 4));
    expect_number("value", value, 5);
}

static void fill_batch(CUstreamBatchMemOpParams *batch, CUdeviceptr memory)
{
    memset(batch, 0, 4 * sizeof *batch);
    batch[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    batch[0].writeValue.address = memory;
    batch[0].writeValue.value = 3;
    batch[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    batch[1].waitValue.address = memory;
    batch[1].waitValue.value = 3;
    batch[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    batch[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    batch[2].writeValue.address = memory + 8;
    batch[2].writeValue.value64 = 4;
    /* Toolkits older than 11.7 lack this member. */
    const unsigned barrier[2] = {CU_STREAM_MEM_OP_BARRIER, CU_STREAM_MEMORY_BARRIER_TYPE_GPU};
    memcpy(&batch[3], barrier, sizeof barrier);
}

CHECK(batch, "value.batch", .needs = {S(StreamBatchMemOp_v2)})
{
    CUstreamBatchMemOpParams batch[4];
    static CUstreamBatchMemOpParams many[300];
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(64, 0);
    unsigned values[4] = {0};
    fill_batch(batch, memory);
    expect("code", cu->StreamBatchMemOp_v2(stream, 3, batch, 0), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    require("copy", cu->MemcpyDtoH_v2(values, memory, sizeof values));
    expect_number("first", values[0], 3);
    expect_number("wide", values[2], 4);
    expect("with-barrier", cu->StreamBatchMemOp_v2(stream, 4, batch, 0), CUDA_SUCCESS);
    expect("none", cu->StreamBatchMemOp_v2(stream, 0, batch, 0), CUDA_SUCCESS);
    expect("none-null", cu->StreamBatchMemOp_v2(stream, 0, NULL, 0), CUDA_SUCCESS);
    expect("flags", cu->StreamBatchMemOp_v2(stream, 1, batch, 1), CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 300; i++)
        many[i] = batch[0];
    expect("255", cu->StreamBatchMemOp_v2(stream, 255, many, 0), CUDA_SUCCESS);
    expect("256", cu->StreamBatchMemOp_v2(stream, 256, many, 0), CUDA_ERROR_INVALID_VALUE);
    expect("257", cu->StreamBatchMemOp_v2(stream, 257, many, 0), CUDA_ERROR_INVALID_VALUE);
    batch[0].writeValue.value = 77;
    batch[1].operation = (CUstreamBatchMemOpType)99;
    expect("unknown-operation", cu->StreamBatchMemOp_v2(stream, 2, batch, 0), CUDA_ERROR_INVALID_VALUE);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    require("copy", cu->MemcpyDtoH_v2(values, memory, sizeof values));
    expect_true("unknown-operation-left-nothing", values[0] == 3);
}

CHECK(batch_null, "value.batch-null", .flags = CHECK_ALONE, .needs = {S(StreamBatchMemOp_v2)})
{
    observe("code", cu->StreamBatchMemOp_v2(stream_new(), 1, NULL, 0));
}

/* The first entry points, of CUDA 8.0 and 9.0. */
CHECK(first_abi, "value.first-abi", .needs = {S(StreamWaitValue32_v1), S(StreamBatchMemOp_v1)})
{
    CUstreamBatchMemOpParams batch[4];
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(64, 0);
    expect("write-32", cu->StreamWriteValue32_v1(stream, memory, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
    expect("wait-32", cu->StreamWaitValue32_v1(stream, memory, 0, CU_STREAM_WAIT_VALUE_GEQ), CUDA_ERROR_NOT_SUPPORTED);
    expect("write-32-unaligned", cu->StreamWriteValue32_v1(stream, memory + 1, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
    fill_batch(batch, memory);
    expect("batch", cu->StreamBatchMemOp_v1(stream, 1, batch, 0), CUDA_ERROR_NOT_SUPPORTED);
    if (require_slot("write-64", S(StreamWriteValue64_v1)))
        expect("write-64", cu->StreamWriteValue64_v1(stream, memory + 8, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
    if (require_slot("wait-64", S(StreamWaitValue64_v1)))
        expect("wait-64", cu->StreamWaitValue64_v1(stream, memory + 8, 0, CU_STREAM_WAIT_VALUE_GEQ),
               CUDA_ERROR_NOT_SUPPORTED);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
}
