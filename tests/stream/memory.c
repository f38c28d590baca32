/* SPDX-License-Identifier: MIT */
/* Attributes, managed memory, and waiting for and writing values in memory. */
#include "support.h"

#include <string.h>

static void attribute(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *other = layer_stream();
    CUlaunchAttributeValue value;
    CUlaunchAttributeValue found;
    memset(&value, 0, sizeof value);
    memset(&found, 0, sizeof found);
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    done("set", cushim_stream_set_attribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    done("get", cushim_stream_get_attribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &found));
    rule_number("is", found.syncPolicy, CU_SYNC_POLICY_YIELD);
    done("get-other", cushim_stream_get_attribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &found));
    rule_fact("other-is-not", found.syncPolicy != CU_SYNC_POLICY_YIELD);
    done("copy", cushim_stream_copy_attributes(other, stream));
    done("get-copy", cushim_stream_get_attribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &found));
    rule_number("copy-is", found.syncPolicy, CU_SYNC_POLICY_YIELD);
    layer_stream_end(other);
    layer_stream_end(stream);
}

static void attribute_argument(void)
{
    struct cushim_stream *stream = layer_stream();
    CUlaunchAttributeValue value;
    CUlaunchAttributeValue untouched;
    memset(&value, 0x5a, sizeof value);
    memset(&untouched, 0x5a, sizeof untouched);
    CUstreamAttrID policy = CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    refused("get-null-stream", cushim_stream_get_attribute(NULL, policy, &value), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_get_attribute");
    refused("get-null-output", cushim_stream_get_attribute(stream, policy, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_get_attribute");
    refused("set-null-stream", cushim_stream_set_attribute(NULL, policy, &value), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_set_attribute");
    refused("set-null-value", cushim_stream_set_attribute(stream, policy, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_set_attribute");
    refused("copy-to-null", cushim_stream_copy_attributes(NULL, stream), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_copy_attributes");
    refused("copy-from-null", cushim_stream_copy_attributes(stream, NULL), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_copy_attributes");
    if (!have("unknown", S(StreamGetAttribute_v1))) {
        passed_on("get-on-old", cushim_stream_get_attribute(stream, policy, &value), CUDA_ERROR_NOT_SUPPORTED);
        passed_on("set-on-old", cushim_stream_set_attribute(stream, policy, &value), CUDA_ERROR_NOT_SUPPORTED);
        passed_on("copy-on-old", cushim_stream_copy_attributes(stream, stream), CUDA_ERROR_NOT_SUPPORTED);
    } else {
        passed_on("unknown", cushim_stream_get_attribute(stream, (CUstreamAttrID)99, &value), CUDA_ERROR_INVALID_VALUE);
    }
    rule_fact("untouched", memcmp(&value, &untouched, sizeof value) == 0);
    layer_stream_end(stream);
}

static void attach(void)
{
    static const char function[] = "cushim_stream_attach_memory";
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *special = NULL;
    CUdeviceptr memory = 0;
    int managed = 0;
    need("attribute", cu->DeviceGetAttribute_v1(&managed, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, the_device));
    need("borrow", cushim_stream_borrow(NULL, NULL, &special));
    refused("null-stream", cushim_stream_attach_memory(NULL, memory, 0, CU_MEM_ATTACH_GLOBAL),
            CUDA_ERROR_INVALID_HANDLE, function);
    refused("no-flag", cushim_stream_attach_memory(stream, memory, 0, 0), CUDA_ERROR_INVALID_VALUE, function);
    refused("two-flags", cushim_stream_attach_memory(stream, memory, 0, CU_MEM_ATTACH_HOST | CU_MEM_ATTACH_GLOBAL),
            CUDA_ERROR_INVALID_VALUE, function);
    if (managed != 0 && need("managed", cu->MemAllocManaged_v1(&memory, 4096, CU_MEM_ATTACH_GLOBAL))) {
        done("single", cushim_stream_attach_memory(stream, memory, 0, CU_MEM_ATTACH_SINGLE));
        done("host", cushim_stream_attach_memory(stream, memory, 4096, CU_MEM_ATTACH_HOST));
        done("global", cushim_stream_attach_memory(stream, memory, 0, CU_MEM_ATTACH_GLOBAL));
        passed_on("a-part", cushim_stream_attach_memory(stream, memory, 1024, CU_MEM_ATTACH_SINGLE),
                  CUDA_ERROR_INVALID_VALUE);
        passed_on("special-single", cushim_stream_attach_memory(special, memory, 0, CU_MEM_ATTACH_SINGLE),
                  CUDA_ERROR_INVALID_VALUE);
        done("synchronize", cushim_stream_synchronize(stream));
        need("free", cu->MemFree_v2(memory));
    }
    cushim_stream_destroy(&special);
    layer_stream_end(stream);
}

/* Whether the driver and the machine support these operations: always with the second ABI version; with the first one
 * only if the kernel module allows it. */
static bool has_values(void)
{
    struct cushim_stream *stream = layer_stream();
    CUdeviceptr memory = memory_new(8, 0);
    CUresult result = cushim_stream_write_value32(stream, memory, 1, 0);
    layer_stream_end(stream);
    need("free", cu->MemFree_v2(memory));
    return result != CUDA_ERROR_NOT_SUPPORTED;
}

static void values(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *other = layer_stream();
    CUdeviceptr memory = memory_new(16, 0);
    unsigned found32 = 0;
    unsigned long long found64 = 0;
    if (!has_values()) {
        lacks(NULL, "the machine lets no stream wait for values");
    } else {
        done("wait32", cushim_stream_wait_value32(stream, memory, 5, CU_STREAM_WAIT_VALUE_EQ));
        done("wait64", cushim_stream_wait_value64(stream, memory + 8, 7, CU_STREAM_WAIT_VALUE_GEQ));
        rule("waits", cushim_stream_query(stream), CUDA_ERROR_NOT_READY);
        done("write32", cushim_stream_write_value32(other, memory, 5, 0));
        done("synchronize-other", cushim_stream_synchronize(other));
        done("write64", cushim_stream_write_value64(other, memory + 8, 1ull << 40, 0));
        done("synchronize", cushim_stream_synchronize(stream));
        need("copy", cu->MemcpyDtoH_v2(&found32, memory, 4));
        need("copy", cu->MemcpyDtoH_v2(&found64, memory + 8, 8));
        rule_number("found32", found32, 5);
        rule_number("found64", (long long)found64, 1ll << 40);
        passed_on("unaligned", cushim_stream_write_value32(stream, memory + 1, 5, 0), CUDA_ERROR_INVALID_VALUE);
    }
    need("free", cu->MemFree_v2(memory));
    layer_stream_end(other);
    layer_stream_end(stream);
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

static void batch(void)
{
    static const char function[] = "cushim_stream_batch_memory_ops";
    struct cushim_stream *stream = layer_stream();
    CUdeviceptr memory = memory_new(16, 0);
    CUstreamBatchMemOpParams ops[256];
    unsigned found[2] = {0, 0};
    for (int i = 0; i < 256; i++)
        ops[i] = write_op(memory + 4 * (size_t)(i % 2), (unsigned)i);
    refused("null-stream", cushim_stream_batch_memory_ops(NULL, 1, ops, 0), CUDA_ERROR_INVALID_HANDLE, function);
    refused("null-ops", cushim_stream_batch_memory_ops(stream, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE, function);
    refused("no-op", cushim_stream_batch_memory_ops(stream, 0, ops, 0), CUDA_ERROR_INVALID_VALUE, function);
    if (!has_values()) {
        lacks("run", "the machine lets no stream write values");
    } else {
        done("run.code", cushim_stream_batch_memory_ops(stream, 255, ops, 0));
        memset(ops, 0, sizeof ops);
        done("run.synchronize", cushim_stream_synchronize(stream));
        need("copy", cu->MemcpyDtoH_v2(found, memory, sizeof found));
        rule_fact("run.in-their-order", found[0] == 254 && found[1] == 253);
        for (int i = 0; i < 256; i++)
            ops[i] = write_op(memory, 1);
        passed_on("run.too-many", cushim_stream_batch_memory_ops(stream, 256, ops, 0), CUDA_ERROR_INVALID_VALUE);
    }
    need("free", cu->MemFree_v2(memory));
    layer_stream_end(stream);
}

/* Arguments that both ABI versions refuse, and a NULL stream. */
static void values_refused(void)
{
    CUresult (*const calls32[])(struct cushim_stream *, CUdeviceptr, cuuint32_t,
                                unsigned) = {cushim_stream_wait_value32, cushim_stream_write_value32};
    CUresult (*const calls64[])(struct cushim_stream *, CUdeviceptr, cuuint64_t,
                                unsigned) = {cushim_stream_wait_value64, cushim_stream_write_value64};
    static const char *const names32[] = {"cushim_stream_wait_value32", "cushim_stream_write_value32"};
    static const char *const names64[] = {"cushim_stream_wait_value64", "cushim_stream_write_value64"};
    for (int i = 0; i < 2; i++) {
        refused(names32[i], calls32[i](NULL, 0, 0, 0), CUDA_ERROR_INVALID_HANDLE, names32[i]);
        refused(names64[i], calls64[i](NULL, 0, 0, 0), CUDA_ERROR_INVALID_HANDLE, names64[i]);
    }
    if (cushim_query_slot_state(S(StreamWaitValue32_v2), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING
        && cushim_query_slot_state(S(StreamWaitValue32_v1), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING) {
        struct cushim_stream *stream = layer_stream();
        CUstreamBatchMemOpParams op = write_op(0, 0);
        for (int i = 0; i < 2; i++) {
            passed_on(key_of(names32[i], "on-old", NULL), calls32[i](stream, 0, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
            passed_on(key_of(names64[i], "on-old", NULL), calls64[i](stream, 0, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
        }
        passed_on("batch-on-old", cushim_stream_batch_memory_ops(stream, 1, &op, 0), CUDA_ERROR_NOT_SUPPORTED);
        layer_stream_end(stream);
    }
}

static const struct check checks[] = {
    {"memory.attribute", attribute, 0, {S(StreamGetAttribute_v1)}},
    {"memory.attribute-argument", attribute_argument, 0, {0}},
    {"memory.attach", attach, 0, {0}},
    {"memory.values", values, 0, {S(StreamWaitValue32_v1), S(StreamWaitValue64_v1)}},
    {"memory.batch", batch, 0, {S(StreamBatchMemOp_v1)}},
    {"memory.values-refused", values_refused, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_memory = {"memory", checks};
