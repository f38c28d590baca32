/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "memory.h"
#include "os_thread.h"
#include "queue.h"
#include "stream.h"

enum { POLL_NANOSECONDS = 50000, COMPARISON = 3, BATCH_MAX = 256 };

static bool is_64(CUstreamBatchMemOpType type)
{
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static bool fulfilled(const struct CUstreamMemOpWaitValueParams_st *wait)
{
    uint64_t value = wait->value64, now;
    if (is_64(wait->operation)) {
        now = __atomic_load_n((uint64_t *)(uintptr_t)wait->address, __ATOMIC_ACQUIRE);
    } else {
        value = wait->value;
        now = __atomic_load_n((uint32_t *)(uintptr_t)wait->address, __ATOMIC_ACQUIRE);
    }
    switch (wait->flags & COMPARISON) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic, as the manual has it */
        return is_64(wait->operation) ? (int64_t)(now - value) >= 0 : (int32_t)(uint32_t)(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & value) != 0;
    default:
        return is_64(wait->operation) ? ~(now | value) != 0 : (uint32_t) ~(now | value) != 0;
    }
}

static bool lost(const struct stream *stream)
{
    os_lock();
    bool result = context_state(stream->context, stream->life) != CUDA_SUCCESS;
    os_unlock();
    return result;
}

void values_run(const CUstreamBatchMemOpParams *items, unsigned count, const struct stream *stream)
{
    for (unsigned i = 0; i < count; i++) {
        const CUstreamBatchMemOpParams *item = &items[i];
        switch ((int)item->operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
            while (!fulfilled(&item->waitValue)) {
                if (lost(stream))
                    return;
                os_sleep(POLL_NANOSECONDS);
            }
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            __atomic_store_n((uint32_t *)(uintptr_t)item->writeValue.address, item->writeValue.value, __ATOMIC_RELEASE);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            __atomic_store_n((uint64_t *)(uintptr_t)item->writeValue.address, item->writeValue.value64,
                             __ATOMIC_RELEASE);
            break;
        default:
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
        }
    }
}

static bool address_is_valid(const CUstreamBatchMemOpParams *item)
{
    size_t size = is_64(item->operation) ? 8 : 4;
    return item->waitValue.address % size == 0 && block_has(item->waitValue.address, size);
}

static bool item_is_valid(const CUstreamBatchMemOpParams *item)
{
    switch ((int)item->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return (item->waitValue.flags & ~(unsigned)(COMPARISON | CU_STREAM_WAIT_VALUE_FLUSH)) == 0 &&
               address_is_valid(item);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return (item->writeValue.flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) == 0 &&
               address_is_valid(item);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return item->flushRemoteWrites.flags == 0;
    case 6: /* CU_STREAM_MEM_OP_BARRIER */
        return soft_version >= 11070 && item->memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
    default:
        return false;
    }
}

CUresult work_from_values(unsigned count, const CUstreamBatchMemOpParams *items, struct work **ret_work)
{
    if (count == 0 || count > BATCH_MAX || items == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (!item_is_valid(&items[i]))
            return CUDA_ERROR_INVALID_VALUE;
    struct work *work = work_new(WORK_VALUES);
    CUstreamBatchMemOpParams *copy = malloc(count * sizeof(*copy));
    if (work == NULL || copy == NULL) {
        free(work);
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(copy, items, count * sizeof(*copy));
    work->values.items = copy;
    work->values.count = count;
    *ret_work = work;
    return CUDA_SUCCESS;
}

CUresult soft_StreamBatchMemOp_v2(CUstream hStream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                  unsigned int flags)
{
    struct stream *stream = NULL;
    struct work *work = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result == CUDA_SUCCESS && flags != 0)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = work_from_values(count, paramArray, &work);
    return result == CUDA_SUCCESS ? queue_submit(stream, work) : result;
}

CUresult soft_StreamBatchMemOp_v1(CUstream hStream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                  unsigned int flags)
{
    return soft_StreamBatchMemOp_v2(hStream, count, paramArray, flags);
}

static CUresult one(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
                    unsigned int flags)
{
    /* Waiting and writing have one layout. */
    CUstreamBatchMemOpParams item;
    memset(&item, 0, sizeof(item));
    item.waitValue.operation = type;
    item.waitValue.address = address;
    if (is_64(type))
        item.waitValue.value64 = value;
    else
        item.waitValue.value = (cuuint32_t)value;
    item.waitValue.flags = flags;
    return soft_StreamBatchMemOp_v2(stream, 1, &item, 0);
}

CUresult soft_StreamWaitValue32_v2(CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return one(hStream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags);
}

CUresult soft_StreamWaitValue64_v2(CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return one(hStream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags);
}

CUresult soft_StreamWriteValue32_v2(CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return one(hStream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags);
}

CUresult soft_StreamWriteValue64_v2(CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return one(hStream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags);
}

CUresult soft_StreamWaitValue32_v1(CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return one(hStream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags);
}

CUresult soft_StreamWaitValue64_v1(CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return one(hStream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags);
}

CUresult soft_StreamWriteValue32_v1(CUstream hStream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return one(hStream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags);
}

CUresult soft_StreamWriteValue64_v1(CUstream hStream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return one(hStream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags);
}
