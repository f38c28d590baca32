/* SPDX-License-Identifier: MIT */
/* Attributes and memory operations of a stream. Arguments that would crash the driver are refused. */
#include "stream_internal.h"

static CUresult fail_null_value(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The value is NULL.");
}

CUresult cushim_stream_get_attribute(struct cushim_stream *stream, CUstreamAttrID attribute,
                                     CUlaunchAttributeValue *out_value)
{
    static const char function[] = "cushim_stream_get_attribute";
    CUlaunchAttributeValue value = {{0}};
    if (stream == NULL)
        return fail_null_stream(function);
    if (out_value == NULL)
        return fail_null_output(function);
    CUresult result = CUSH_CALL(StreamGetAttribute_v1, stream->handle, attribute, &value);
    if (result == CUDA_SUCCESS)
        *out_value = value;
    return result;
}

CUresult cushim_stream_set_attribute(struct cushim_stream *stream, CUstreamAttrID attribute,
                                     const CUlaunchAttributeValue *value)
{
    static const char function[] = "cushim_stream_set_attribute";
    if (stream == NULL)
        return fail_null_stream(function);
    if (value == NULL)
        return fail_null_value(function);
    return CUSH_CALL(StreamSetAttribute_v1, stream->handle, attribute, value);
}

CUresult cushim_stream_copy_attributes(struct cushim_stream *to, struct cushim_stream *from)
{
    if (to == NULL || from == NULL)
        return fail_null_stream("cushim_stream_copy_attributes");
    return CUSH_CALL(StreamCopyAttributes_v1, to->handle, from->handle);
}

CUresult cushim_stream_attach_memory(struct cushim_stream *stream, CUdeviceptr address, size_t length, unsigned flags)
{
    static const char function[] = "cushim_stream_attach_memory";
    if (stream == NULL)
        return fail_null_stream(function);
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
        return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function,
                                "The flags are not CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST or CU_MEM_ATTACH_SINGLE.");
    return CUSH_CALL(StreamAttachMemAsync_v1, stream->handle, address, length, flags);
}

/* Values in memory: the second ABI version or, on a driver without it, the first. */

static bool slot_is_missing(enum cushim_slot slot)
{
    return cushim_slot_get_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING;
}

CUresult cushim_stream_wait_value32(struct cushim_stream *stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
    if (stream == NULL)
        return fail_null_stream("cushim_stream_wait_value32");
    if (slot_is_missing(CUSHIM_SLOT_StreamWaitValue32_v2))
        return CUSH_CALL(StreamWaitValue32_v1, stream->handle, address, value, flags);
    return CUSH_CALL(StreamWaitValue32_v2, stream->handle, address, value, flags);
}

CUresult cushim_stream_wait_value64(struct cushim_stream *stream, CUdeviceptr address, cuuint64_t value, unsigned flags)
{
    if (stream == NULL)
        return fail_null_stream("cushim_stream_wait_value64");
    if (slot_is_missing(CUSHIM_SLOT_StreamWaitValue64_v2))
        return CUSH_CALL(StreamWaitValue64_v1, stream->handle, address, value, flags);
    return CUSH_CALL(StreamWaitValue64_v2, stream->handle, address, value, flags);
}

CUresult cushim_stream_write_value32(struct cushim_stream *stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned flags)
{
    if (stream == NULL)
        return fail_null_stream("cushim_stream_write_value32");
    if (slot_is_missing(CUSHIM_SLOT_StreamWriteValue32_v2))
        return CUSH_CALL(StreamWriteValue32_v1, stream->handle, address, value, flags);
    return CUSH_CALL(StreamWriteValue32_v2, stream->handle, address, value, flags);
}

CUresult cushim_stream_write_value64(struct cushim_stream *stream, CUdeviceptr address, cuuint64_t value,
                                     unsigned flags)
{
    if (stream == NULL)
        return fail_null_stream("cushim_stream_write_value64");
    if (slot_is_missing(CUSHIM_SLOT_StreamWriteValue64_v2))
        return CUSH_CALL(StreamWriteValue64_v1, stream->handle, address, value, flags);
    return CUSH_CALL(StreamWriteValue64_v2, stream->handle, address, value, flags);
}

/* The driver's prototype lacks the const, but the driver does not write to the array. */
CUresult cushim_stream_batch_memory_ops(struct cushim_stream *stream, unsigned count,
                                        const CUstreamBatchMemOpParams *ops, unsigned flags)
{
    static const char function[] = "cushim_stream_batch_memory_ops";
    CUstreamBatchMemOpParams *array = without_const(ops);
    if (stream == NULL)
        return fail_null_stream(function);
    if (ops == NULL || count == 0)
        return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The array is NULL, or the count is 0.");
    if (slot_is_missing(CUSHIM_SLOT_StreamBatchMemOp_v2))
        return CUSH_CALL(StreamBatchMemOp_v1, stream->handle, count, array, flags);
    return CUSH_CALL(StreamBatchMemOp_v2, stream->handle, count, array, flags);
}
