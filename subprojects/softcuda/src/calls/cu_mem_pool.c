/* SPDX-License-Identifier: MIT */
/* Memory pools and stream-ordered allocation, as far as the latter needs pools: they count its memory. */
#include "calls.h"

#include <stdlib.h>

static struct pool *defaults[MAX_DEVICES]; /* created on first use */
static struct pool *chosen[MAX_DEVICES];   /* by cuDeviceSetMemPool, a reference; NULL for the default one */

static void pool_free(void *object)
{
    free(object);
}

static struct pool *pool_new(int device, bool is_default)
{
    struct pool *pool = object_new(OBJECT_POOL, sizeof *pool, pool_free);
    if (pool == NULL || !handle_publish(pool)) {
        free(pool);
        return NULL;
    }
    pool->device = device;
    pool->is_default = is_default;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    return pool;
}

static struct pool *pool_default(int device)
{
    if (defaults[device] == NULL)
        defaults[device] = pool_new(device, true);
    return defaults[device];
}

static struct pool *pool_current(int device)
{
    return chosen[device] != NULL ? chosen[device] : pool_default(device);
}

static CUresult pool_report(CUmemoryPool *pool_out, CUdevice dev, struct pool *(*which)(int device))
{
    if (pool_out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    struct pool *pool = which(dev);
    if (pool == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pool_out = (CUmemoryPool)pool;
    return CUDA_SUCCESS;
}

CUresult soft_DeviceGetDefaultMemPool_v1(CUmemoryPool *pool_out, CUdevice dev)
{
    return pool_report(pool_out, dev, pool_default);
}

CUresult soft_DeviceGetMemPool_v1(CUmemoryPool *pool, CUdevice dev)
{
    return pool_report(pool, dev, pool_current);
}

static void pool_choose(int device, struct pool *pool)
{
    struct pool *before = chosen[device];
    chosen[device] = pool->is_default ? NULL : pool;
    if (chosen[device] != NULL)
        object_ref(pool);
    object_unref(before);
}

CUresult soft_DeviceSetMemPool_v1(CUdevice dev, CUmemoryPool pool)
{
    struct pool *found = handle_find(OBJECT_POOL, pool);
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (found == NULL || found->device != dev)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = capture_unsafe();
    if (result == CUDA_SUCCESS)
        pool_choose(dev, found);
    return result;
}

/* The only kind of memory whose pools can be asked for and chosen. */
static CUresult pool_location(const CUmemLocation *location, CUmemAllocationType type)
{
    if (location == NULL || type == CU_MEM_ALLOCATION_TYPE_INVALID || location->type == CU_MEM_LOCATION_TYPE_INVALID)
        return CUDA_ERROR_INVALID_VALUE;
    bool of_device = type == CU_MEM_ALLOCATION_TYPE_PINNED && location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    return of_device ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult soft_MemGetDefaultMemPool_v1(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type)
{
    CUresult result = pool_location(location, type);
    return result == CUDA_SUCCESS ? pool_report(pool_out, location->id, pool_default) : result;
}

CUresult soft_MemGetMemPool_v1(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type)
{
    CUresult result = pool_location(location, type);
    return result == CUDA_SUCCESS ? pool_report(pool_out, location->id, pool_current) : result;
}

CUresult soft_MemSetMemPool_v1(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult result = pool_location(location, type);
    return result == CUDA_SUCCESS ? soft_DeviceSetMemPool_v1(location->id, pool) : result;
}

static CUresult pool_check_props(const CUmemPoolProps *props)
{
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return device_exists(props->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult soft_MemPoolCreate_v1(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    CUresult result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (pool == NULL || poolProps == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = pool_check_props(poolProps);
    if (result != CUDA_SUCCESS)
        return result;
    struct pool *made = pool_new(poolProps->location.id, false);
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->limit = soft_version >= 12020 ? poolProps->maxSize : 0;
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

/* Memory that was allocated from the pool stays valid until it is freed. */
CUresult soft_MemPoolDestroy_v1(CUmemoryPool pool)
{
    struct pool *found = handle_find(OBJECT_POOL, pool);
    if (found == NULL || found->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (chosen[found->device] == found) {
        chosen[found->device] = NULL;
        object_unref(found);
    }
    handle_withdraw(found);
    object_unref(found);
    return CUDA_SUCCESS;
}

/* Unused memory is never kept. */
CUresult soft_MemPoolTrimTo_v1(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep;
    return handle_find(OBJECT_POOL, pool) == NULL ? CUDA_ERROR_INVALID_VALUE : capture_unsafe();
}

static bool access_is_valid(const struct pool *pool, const CUmemLocation *location, unsigned flags)
{
    bool known = flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    bool own = location->id == pool->device && flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return known && !own && location->type == CU_MEM_LOCATION_TYPE_DEVICE && device_exists(location->id);
}

/* Access is stored and reported: all memory is in one place. */
CUresult soft_MemPoolSetAccess_v1(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    struct pool *found = handle_find(OBJECT_POOL, pool);
    if (found == NULL || (map == NULL && count > 0))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!access_is_valid(found, &map[i].location, (unsigned)map[i].flags))
            return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        found->access[map[i].location.id] = (unsigned char)map[i].flags;
    return CUDA_SUCCESS;
}

CUresult soft_MemPoolGetAccess_v1(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
    const struct pool *found = handle_find(OBJECT_POOL, memPool);
    if (flags == NULL || found == NULL || location == NULL
        || !access_is_valid(found, location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = location->id == found->device ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                           : (CUmemAccess_flags)found->access[location->id];
    return CUDA_SUCCESS;
}

/* The storage of an attribute: an int or 64 bits; neither for an unknown attribute. */
static bool pool_find(struct pool *pool, int attribute, int **out_number, cuuint64_t **out_bytes)
{
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *out_number = &pool->reuse[attribute - 1];
        return true;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *out_bytes = &pool->threshold;
        return true;
    case 5: /* CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT */
    case 7: /* CU_MEMPOOL_ATTR_USED_MEM_CURRENT */
        *out_bytes = &pool->used;
        return true;
    case 6: /* CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH */
    case 8: /* CU_MEMPOOL_ATTR_USED_MEM_HIGH */
        *out_bytes = &pool->used_high;
        return true;
    default:
        return false;
    }
}

CUresult soft_MemPoolGetAttribute_v1(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    int *number = NULL;
    cuuint64_t *bytes = NULL;
    struct pool *found = handle_find(OBJECT_POOL, pool);
    if (found == NULL || value == NULL || !pool_find(found, (int)attr, &number, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (number != NULL)
        *(int *)value = *number;
    else
        *(cuuint64_t *)value = *bytes;
    return CUDA_SUCCESS;
}

/* The high-water marks can only be reset, and the current use cannot be set. */
CUresult soft_MemPoolSetAttribute_v1(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    int *number = NULL;
    cuuint64_t *bytes = NULL;
    struct pool *found = handle_find(OBJECT_POOL, pool);
    if (found == NULL || value == NULL || !pool_find(found, (int)attr, &number, &bytes) || bytes == &found->used)
        return CUDA_ERROR_INVALID_VALUE;
    if (number != NULL)
        *number = *(int *)value != 0;
    else if (bytes == &found->threshold)
        *bytes = *(cuuint64_t *)value;
    else if (*(cuuint64_t *)value == 0)
        *bytes = found->used;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult block_submit(struct stream *stream, enum work_kind kind, struct block *block)
{
    struct work *work = work_new(kind);
    if (work != NULL)
        work->block = block; /* takes over the caller's reference */
    else
        block_unref(block);
    return queue_submit(stream, work);
}

/* Memory of the pool whose free is pending. Its allocation waits for that free. */
static struct block *pool_reuse(const struct pool *pool, struct context *context, size_t size)
{
    for (const struct stream *stream = context_primary(context)->streams; stream != NULL; stream = stream->next)
        for (struct op *op = stream->head; op != NULL; op = op->next) {
            struct block *block = op->work->kind == WORK_FREE ? op->work->block : NULL;
            bool is_free = block != NULL && block->pool == pool && block->freed_by == op && !block->is_listed;
            if (is_free && block->size >= size && block_reuse(block, size))
                return block;
        }
    return NULL;
}

static struct block *pool_allocate(struct pool *pool, struct context *context, size_t size)
{
    if (pool == NULL)
        return NULL;
    bool has_room = pool->limit == 0 || size <= pool->limit - pool->used;
    struct block *block = has_room ? block_new(context, BLOCK_DEVICE, size, 0) : NULL;
    if (block == NULL)
        return pool->reuse[2] != 0 ? pool_reuse(pool, context, size) : NULL;
    pool_take(pool, size);
    block->pool = pool;
    return block;
}

/*
 * The address is valid immediately, though it may be used only after this point of the stream. In a capture it is the
 * same for every launch, and lives as long as the node.
 */
static CUresult block_allocate(CUdeviceptr *dptr, size_t bytesize, struct pool *pool, struct stream *stream)
{
    if (dptr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream->capture == NULL ? capture_unsafe() : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return result;
    if (bytesize == 0) {
        *dptr = 0;
        return CUDA_SUCCESS;
    }
    bool of_graph = stream->capture != NULL;
    struct block *block =
        of_graph ? block_new_of_graph(stream->context, bytesize) : pool_allocate(pool, stream->context, bytesize);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)block->base;
    if (!of_graph)
        block_ref(block);
    result = block_submit(stream, WORK_ALLOC, block);
    if (result == CUDA_SUCCESS) {
        *dptr = address;
    } else if (!of_graph) {
        block_take(block);
        block_unref(block);
    }
    return result;
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

/* A node that frees memory of a graph, which stays with its nodes. */
static CUresult block_free_in_capture(struct stream *stream, struct block *block)
{
    if (!block->of_graph || block->freed_in == stream->capture->graph->id)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t before = block->freed_in;
    block->freed_in = stream->capture->graph->id;
    block_ref(block);
    CUresult result = block_submit(stream, WORK_FREE, block);
    if (result != CUDA_SUCCESS)
        block->freed_in = before;
    return result;
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
    struct block *block = stream->capture != NULL ? block_find_for_graph(dptr) : block_find(dptr);
    if (block == NULL || (uintptr_t)block->base != dptr)
        return CUDA_ERROR_INVALID_VALUE;
    if (block->kind != BLOCK_DEVICE)
        return block->kind == BLOCK_MANAGED ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL)
        return block_free_in_capture(stream, block);
    result = capture_implicit(stream, true);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    block_take(block);
    block_ref(block);
    result = block_submit(stream, WORK_FREE, block);
    if (!block->of_graph)
        block->freed_by = stream->last;
    block_unref(block);
    return result;
}

/* Work that refers to memory of a graph. Takes over the reference to it, also on failure. */
static CUresult work_from_block(enum work_kind kind, struct block *block, struct work **out_work)
{
    struct work *work = block == NULL ? NULL : work_new(kind);
    if (work == NULL) {
        block_unref(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    work->block = block;
    *out_work = work;
    return CUDA_SUCCESS;
}

CUresult work_from_allocation(const CUDA_MEM_ALLOC_NODE_PARAMS *params, struct work **out_work)
{
    struct context *context = NULL;
    if (params == NULL || params->bytesize == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = pool_check_props(&params->poolProps);
    if (result == CUDA_SUCCESS)
        result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return work_from_block(WORK_ALLOC, block_new_of_graph(context, params->bytesize), out_work);
}

CUresult work_from_free(CUdeviceptr address, const struct graph *graph, struct work **out_work)
{
    struct block *block = block_find_for_graph(address);
    if (graph == NULL || block == NULL || !block->of_graph || (uintptr_t)block->base != address
        || block->freed_in == graph->id)
        return CUDA_ERROR_INVALID_VALUE;
    block_ref(block);
    return work_from_block(WORK_FREE, block, out_work);
}
