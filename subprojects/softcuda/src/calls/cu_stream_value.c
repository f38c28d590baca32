/* SPDX-License-Identifier: MIT */
/* Waiting for values in memory, and writing them, in a stream. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BATCH = 255 };

static bool address_is_valid(const CUstreamBatchMemOpParams *item)
{
    size_t size = value_is_64(item->operation) ? 8 : 4;
    bool valid = item->waitValue.address % size == 0 && block_has(item->waitValue.address, size);
    if (!valid)
        thread_explain("Batch memory address 0x%llx is not valid", (unsigned long long)item->waitValue.address);
    return valid;
}

static bool item_is_valid(const CUstreamBatchMemOpParams *item)
{
    switch ((int)item->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return (item->waitValue.flags & ~(unsigned)VALUE_COMPARISON) == 0 && address_is_valid(item);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return item->writeValue.flags == 0 && address_is_valid(item);
    case 6: /* CU_STREAM_MEM_OP_BARRIER */
        return soft_version >= 11070 && item->memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
    default:
        return false;
    }
}

/* Remote writes come from another machine, so there are none. */
static bool device_flushes_writes(const CUstreamBatchMemOpParams *item)
{
    bool waits = item->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || item->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    return item->operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES
           || (waits && (item->waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0);
}

CUresult work_from_values(unsigned count, const CUstreamBatchMemOpParams *items, struct work **out_work)
{
    if (count > MAX_BATCH || items == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (device_flushes_writes(&items[i]))
            return CUDA_ERROR_NOT_SUPPORTED;
        if (!item_is_valid(&items[i]))
            return CUDA_ERROR_INVALID_VALUE;
    }
    struct work *work = work_new(WORK_VALUES);
    CUstreamBatchMemOpParams *copy = malloc((count + 1) * sizeof *copy);
    if (work == NULL || copy == NULL) {
        free(work);
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(copy, items, count * sizeof *copy);
    work->values.items = copy;
    work->values.count = count;
    *out_work = work;
    return CUDA_SUCCESS;
}

static CUresult values_submit(CUstream handle, unsigned count, const CUstreamBatchMemOpParams *items, unsigned flags,
                              bool first_form)
{
    struct stream *stream = NULL;
    struct work *work = NULL;
    CUresult result = stream_find(handle, &stream);
    if (result == CUDA_SUCCESS && first_form)
        result = capture_check_stream(stream);
    if (result == CUDA_SUCCESS && first_form && !device_has_value_ops())
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS && flags != 0)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS || count == 0)
        return result;
    result = work_from_values(count, items, &work);
    return result == CUDA_SUCCESS ? queue_submit(stream, work) : result;
}

CUresult soft_StreamBatchMemOp_v2(CUstream hStream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                  unsigned int flags)
{
    return values_submit(hStream, count, paramArray, flags, false);
}

CUresult soft_StreamBatchMemOp_v1(CUstream hStream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                  unsigned int flags)
{
    return values_submit(hStream, count, paramArray, flags, true);
}

static CUresult values_submit_one(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
                                  unsigned int flags, bool first_form)
{
    /* The wait and write operations have the same layout. */
    CUstreamBatchMemOpParams item;
    memset(&item, 0, sizeof item);
    item.waitValue.operation = type;
    item.waitValue.address = address;
    if (value_is_64(type))
        item.waitValue.value64 = value;
    else
        item.waitValue.value = (cuuint32_t)value;
    item.waitValue.flags = flags;
    return values_submit(stream, 1, &item, 0, first_form);
}

CUresult soft_StreamWaitValue32_v2(CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return values_submit_one(hStream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags, false);
}

CUresult soft_StreamWaitValue64_v2(CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return values_submit_one(hStream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags, false);
}

CUresult soft_StreamWriteValue32_v2(CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return values_submit_one(hStream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags, false);
}

CUresult soft_StreamWriteValue64_v2(CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return values_submit_one(hStream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags, false);
}

CUresult soft_StreamWaitValue32_v1(CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return values_submit_one(hStream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags, true);
}

CUresult soft_StreamWaitValue64_v1(CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return values_submit_one(hStream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags, true);
}

CUresult soft_StreamWriteValue32_v1(CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return values_submit_one(hStream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags, true);
}

CUresult soft_StreamWriteValue64_v1(CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return values_submit_one(hStream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags, true);
}
