/* SPDX-License-Identifier: MIT */
/* Attributes, managed memory, and waiting for and writing values in memory. */
#include "support.h"

#include <string.h>

CHECK(attribute, "memory.attribute", .needs = {S(StreamGetAttribute_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_stream *other = fixture_stream();
    CUlaunchAttributeValue value = {.syncPolicy = CU_SYNC_POLICY_YIELD};
    CUlaunchAttributeValue found = {{0}};
    expect_success("set", cushim_stream_set_attribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    expect_success("get", cushim_stream_get_attribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &found));
    expect_number("is", found.syncPolicy, CU_SYNC_POLICY_YIELD);
    expect_success("get-other", cushim_stream_get_attribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &found));
    expect_true("other-is-not", found.syncPolicy != CU_SYNC_POLICY_YIELD);
    expect_success("copy", cushim_stream_copy_attributes(other, stream));
    expect_success("get-copy", cushim_stream_get_attribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &found));
    expect_number("copy-is", found.syncPolicy, CU_SYNC_POLICY_YIELD);
}

CHECK(attribute_argument, "memory.attribute-argument")
{
    struct cushim_stream *stream = fixture_stream();
    CUlaunchAttributeValue value;
    CUlaunchAttributeValue untouched;
    memset(&value, 0x5a, sizeof value);
    memset(&untouched, 0x5a, sizeof untouched);
    CUstreamAttrID policy = CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    expect_error("get-null-stream", cushim_stream_get_attribute(NULL, policy, &value), CUDA_ERROR_INVALID_HANDLE);
    expect_error("get-null-output", cushim_stream_get_attribute(stream, policy, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("set-null-stream", cushim_stream_set_attribute(NULL, policy, &value), CUDA_ERROR_INVALID_HANDLE);
    expect_error("set-null-value", cushim_stream_set_attribute(stream, policy, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("copy-to-null", cushim_stream_copy_attributes(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
    expect_error("copy-from-null", cushim_stream_copy_attributes(stream, NULL), CUDA_ERROR_INVALID_HANDLE);
    if (!require_slot("unknown", S(StreamGetAttribute_v1))) {
        expect_driver_error("get-on-old", cushim_stream_get_attribute(stream, policy, &value),
                            CUDA_ERROR_NOT_SUPPORTED);
        expect_driver_error("set-on-old", cushim_stream_set_attribute(stream, policy, &value),
                            CUDA_ERROR_NOT_SUPPORTED);
        expect_driver_error("copy-on-old", cushim_stream_copy_attributes(stream, stream), CUDA_ERROR_NOT_SUPPORTED);
    } else {
        expect_driver_error("unknown", cushim_stream_get_attribute(stream, (CUstreamAttrID)99, &value),
                            CUDA_ERROR_INVALID_VALUE);
    }
    expect_true("untouched", memcmp(&value, &untouched, sizeof value) == 0);
}

CHECK(attach, "memory.attach")
{
    struct cushim_stream *stream = fixture_stream();
    CUdeviceptr memory = 0;
    int managed = 0;
    require("attribute", cu->DeviceGetAttribute_v1(&managed, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, the_device));
    struct cushim_stream *special = fixture_borrowed(NULL);
    expect_error("null-stream", cushim_stream_attach_memory(NULL, memory, 0, CU_MEM_ATTACH_GLOBAL),
                 CUDA_ERROR_INVALID_HANDLE);
    expect_error("no-flag", cushim_stream_attach_memory(stream, memory, 0, 0), CUDA_ERROR_INVALID_VALUE);
    expect_error("two-flags", cushim_stream_attach_memory(stream, memory, 0, CU_MEM_ATTACH_HOST | CU_MEM_ATTACH_GLOBAL),
                 CUDA_ERROR_INVALID_VALUE);
    if (managed != 0 && require("managed", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_GLOBAL))) {
        expect_success("single", cushim_stream_attach_memory(stream, memory, 0, CU_MEM_ATTACH_SINGLE));
        expect_success("host", cushim_stream_attach_memory(stream, memory, 4096, CU_MEM_ATTACH_HOST));
        expect_success("global", cushim_stream_attach_memory(stream, memory, 0, CU_MEM_ATTACH_GLOBAL));
        expect_driver_error("a-part", cushim_stream_attach_memory(stream, memory, 1024, CU_MEM_ATTACH_SINGLE),
                            CUDA_ERROR_INVALID_VALUE);
        expect_driver_error("special-single", cushim_stream_attach_memory(special, memory, 0, CU_MEM_ATTACH_SINGLE),
                            CUDA_ERROR_INVALID_VALUE);
        expect_success("synchronize", cushim_stream_synchronize(stream));
        require("free", cu->MemFree_v2(memory));
    }
}

/* Whether the driver and the machine support these operations: always with the second ABI version; with the first one
 * only if the kernel module allows it. The driver is asked and not the layer, which may choose the wrong version. */
static bool has_values(void)
{
    struct cushim_stream *stream = test_stream_new();
    CUdeviceptr memory = memory_new(8, 0);
    CUstream handle = cushim_stream_handle(stream);
    CUresult result = is_native(S(StreamWriteValue32_v2)) ? cu->StreamWriteValue32_v2(handle, memory, 1, 0)
                                                          : cu->StreamWriteValue32_v1(handle, memory, 1, 0);
    test_stream_close(stream);
    return result != CUDA_ERROR_NOT_SUPPORTED;
}

CHECK(values, "memory.values", .needs = {S(StreamWaitValue32_v1), S(StreamWaitValue64_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_stream *other = fixture_stream();
    CUdeviceptr memory = memory_new(16, 0);
    unsigned found32 = 0;
    unsigned long long found64 = 0;
    if (!has_values()) {
        not_applicable(NULL, "the machine lets no stream wait for values");
    } else {
        expect_success("wait32", cushim_stream_wait_value32(stream, memory, 5, CU_STREAM_WAIT_VALUE_EQ));
        expect_success("wait64", cushim_stream_wait_value64(stream, memory + 8, 7, CU_STREAM_WAIT_VALUE_GEQ));
        expect("waits", cushim_stream_query(stream), CUDA_ERROR_NOT_READY);
        expect_success("write32", cushim_stream_write_value32(other, memory, 5, 0));
        expect_success("synchronize-other", cushim_stream_synchronize(other));
        expect_success("write64", cushim_stream_write_value64(other, memory + 8, 1ull << 40, 0));
        expect_success("synchronize", cushim_stream_synchronize(stream));
        require("copy", cu->MemcpyDtoH_v2(&found32, memory, 4));
        require("copy", cu->MemcpyDtoH_v2(&found64, memory + 8, 8));
        expect_number("found32", found32, 5);
        expect_number("found64", (long long)found64, 1ll << 40);
        expect_driver_error("unaligned", cushim_stream_write_value32(stream, memory + 1, 5, 0),
                            CUDA_ERROR_INVALID_VALUE);
    }
}

static CUstreamBatchMemOpParams write_op(CUdeviceptr address, unsigned value)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = address;
    op.writeValue.value = value;
    return op;
}

CHECK(batch, "memory.batch", .needs = {S(StreamBatchMemOp_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    CUdeviceptr memory = memory_new(16, 0);
    CUstreamBatchMemOpParams ops[256];
    unsigned found[2] = {0, 0};
    for (int i = 0; i < 256; i++)
        ops[i] = write_op(memory + 4 * (size_t)(i % 2), (unsigned)i);
    expect_error("null-stream", cushim_stream_batch_memory_ops(NULL, 1, ops, 0), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-ops", cushim_stream_batch_memory_ops(stream, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    expect_error("no-op", cushim_stream_batch_memory_ops(stream, 0, ops, 0), CUDA_ERROR_INVALID_VALUE);
    if (!has_values()) {
        not_applicable("run", "the machine lets no stream write values");
    } else {
        expect_success("run.code", cushim_stream_batch_memory_ops(stream, 255, ops, 0));
        memset(ops, 0, sizeof ops);
        expect_success("run.synchronize", cushim_stream_synchronize(stream));
        require("copy", cu->MemcpyDtoH_v2(found, memory, sizeof found));
        expect_true("run.in-their-order", found[0] == 254 && found[1] == 253);
        for (int i = 0; i < 256; i++)
            ops[i] = write_op(memory, 1);
        expect_driver_error("run.too-many", cushim_stream_batch_memory_ops(stream, 256, ops, 0),
                            CUDA_ERROR_INVALID_VALUE);
    }
}

/* Arguments that both ABI versions refuse, and a NULL stream. */
CHECK(values_refused, "memory.values-refused")
{
    CUresult (*const calls32[])(struct cushim_stream *, CUdeviceptr, cuuint32_t,
                                unsigned) = {cushim_stream_wait_value32, cushim_stream_write_value32};
    CUresult (*const calls64[])(struct cushim_stream *, CUdeviceptr, cuuint64_t,
                                unsigned) = {cushim_stream_wait_value64, cushim_stream_write_value64};
    static const char *const names32[] = {"cushim_stream_wait_value32", "cushim_stream_write_value32"};
    static const char *const names64[] = {"cushim_stream_wait_value64", "cushim_stream_write_value64"};
    for (int i = 0; i < 2; i++) {
        expect_error(names32[i], calls32[i](NULL, 0, 0, 0), CUDA_ERROR_INVALID_HANDLE, names32[i]);
        expect_error(names64[i], calls64[i](NULL, 0, 0, 0), CUDA_ERROR_INVALID_HANDLE, names64[i]);
    }
    if (is_missing(S(StreamWaitValue32_v2)) && is_missing(S(StreamWaitValue32_v1))) {
        struct cushim_stream *stream = test_stream_new();
        CUstreamBatchMemOpParams op = write_op(0, 0);
        for (int i = 0; i < 2; i++) {
            expect_driver_error(key_of(names32[i], "on-old", NULL), calls32[i](stream, 0, 0, 0),
                                CUDA_ERROR_NOT_SUPPORTED);
            expect_driver_error(key_of(names64[i], "on-old", NULL), calls64[i](stream, 0, 0, 0),
                                CUDA_ERROR_NOT_SUPPORTED);
        }
        expect_driver_error("batch-on-old", cushim_stream_batch_memory_ops(stream, 1, &op, 0),
                            CUDA_ERROR_NOT_SUPPORTED);
        test_stream_close(stream);
    }
}
