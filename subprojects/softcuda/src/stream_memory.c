/* SPDX-License-Identifier: MIT */
/* Memory in stream order, and other operations of a stream on whole allocations. */
#include "memory.h"

#include "capture.h"
#include "context.h"
#include "device.h"
#include "memory_pool.h"
#include "queue.h"
#include "stream.h"

static CUresult block_submit(struct stream *stream, enum work_kind kind, struct block *block)
{
    struct work *work = work_new(kind);
    if (work != NULL)
        work->block = block; /* takes over the caller's reference */
    else
        block_unref(block);
    return queue_submit(stream, work);
}

/*
 * The address is valid immediately, though it may be used only after this point of the stream. In a capture it is the
 * same for every launch, and lives as long as the node.
 */
static CUresult block_allocate(CUdeviceptr *dptr, size_t bytesize, struct pool *pool, struct stream *stream)
{
    if (dptr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL && soft_version < 11040) /* the version in which graphs got memory nodes */
        return capture_forbid(stream);
    CUresult result = stream->capture == NULL ? capture_unsafe() : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return result;
    if (bytesize == 0) {
        *dptr = 0;
        return CUDA_SUCCESS;
    }
    struct block *block = block_new(stream->context, BLOCK_DEVICE, bytesize, 0);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    block->of_graph = stream->capture != NULL;
    if (pool != NULL) {
        pool_take(pool, bytesize);
        block->pool = pool;
    }
    block_ref(block);
    result = block_submit(stream, WORK_ALLOC, block);
    if (result != CUDA_SUCCESS) {
        block_unlist(block);
        block_unref(block);
        return result;
    }
    *dptr = (CUdeviceptr)(uintptr_t)block->base;
    return CUDA_SUCCESS;
}

CUresult soft_MemAllocAsync_v1(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    return result == CUDA_SUCCESS ? block_allocate(dptr, bytesize, pool_current(stream->context->device), stream)
                                  : result;
}

CUresult soft_MemAllocFromPoolAsync_v1(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct pool *found = handle_find(OBJECT_POOL, pool);
    return found == NULL ? CUDA_ERROR_INVALID_VALUE : block_allocate(dptr, bytesize, found, stream);
}

/* The address is invalid for later calls; the memory is freed when the stream reaches this point. */
CUresult soft_MemFreeAsync_v1(CUdeviceptr dptr, CUstream hStream)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr == 0)
        return CUDA_SUCCESS;
    struct block *block = block_find(dptr);
    if (block == NULL || (uintptr_t)block->base != dptr)
        return CUDA_ERROR_INVALID_VALUE;
    if (block->kind != BLOCK_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (stream->capture != NULL && !block->of_graph)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL) { /* the memory of a graph stays with its nodes */
        block_ref(block);
        return block_submit(stream, WORK_FREE, block);
    }
    result = capture_implicit(stream, true);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    block_unlist(block);
    return block_submit(stream, WORK_FREE, block);
}

CUresult soft_StreamAttachMemAsync_v1(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    bool known = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE;
    const struct block *block = block_find(dptr);
    if (!known || block == NULL || block->kind != BLOCK_MANAGED || (uintptr_t)block->base != dptr)
        return CUDA_ERROR_INVALID_VALUE;
    if (length != 0 && length != block->size)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_MEM_ATTACH_SINGLE && hStream == NULL
        && stream->role == STREAM_LEGACY) /* the explicit handle of the legacy stream is allowed */
        return CUDA_ERROR_INVALID_VALUE;
    result = capture_check_stream(stream);
    return result == CUDA_SUCCESS ? queue_submit(stream, work_new(WORK_EMPTY)) : result;
}

/* Advice: all memory is in one place, so these functions only check their arguments. */

static CUresult stream_prefetch(CUdeviceptr address, size_t size, bool to_valid, CUstream hStream)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = capture_forbid(stream);
    if (result != CUDA_SUCCESS)
        return result;
    const struct block *block = block_find(address);
    if (block == NULL || block->kind != BLOCK_MANAGED || size == 0 || !block_has(address, size))
        return CUDA_ERROR_INVALID_VALUE;
    return to_valid ? queue_submit(stream, work_new(WORK_EMPTY)) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult soft_MemPrefetchAsync_v1(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    return stream_prefetch(devPtr, count, dstDevice == CU_DEVICE_CPU || device_exists(dstDevice), hStream);
}

CUresult soft_MemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                  CUstream hStream)
{
    bool host = location.type == CU_MEM_LOCATION_TYPE_HOST;
    if (flags != 0 || (!host && location.type != CU_MEM_LOCATION_TYPE_DEVICE))
        return CUDA_ERROR_INVALID_VALUE;
    return stream_prefetch(devPtr, count, host || device_exists(location.id), hStream);
}

static CUresult memory_advise(CUdeviceptr address, size_t size, CUmem_advise advice, bool place_is_valid)
{
    const struct block *block = block_find(address);
    CUresult result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    bool known = advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (!known || block == NULL || block->kind != BLOCK_MANAGED || size == 0 || !block_has(address, size))
        return CUDA_ERROR_INVALID_VALUE;
    return place_is_valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult soft_MemAdvise_v1(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    return memory_advise(devPtr, count, advice, device == CU_DEVICE_CPU || device_exists(device));
}

CUresult soft_MemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
    bool device = location.type == CU_MEM_LOCATION_TYPE_DEVICE && device_exists(location.id);
    return memory_advise(devPtr, count, advice, device || location.type == CU_MEM_LOCATION_TYPE_HOST);
}
