/* SPDX-License-Identifier: MIT */
#include "memory_pool.h"

#include <stdlib.h>

#include "capture.h"
#include "device.h"

struct pool {
    struct object object;
    int device;
    bool is_default;
    int reuse[3]; /* stored and reported: memory is never reused */
    cuuint64_t threshold;
    cuuint64_t used, used_high;
};

static struct pool *defaults[DEVICE_MAX]; /* created on first use */
static struct pool *chosen[DEVICE_MAX];   /* by cuDeviceSetMemPool, a reference; NULL for the default one */

static void pool_free(void *object)
{
    free(object);
}

static struct pool *pool_new(int device, bool is_default)
{
    struct pool *pool = object_new(OBJECT_POOL, sizeof(*pool), pool_free);
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

struct pool *pool_current(int device)
{
    return chosen[device] != NULL ? chosen[device] : pool_default(device);
}

void pool_take(struct pool *pool, size_t size)
{
    object_ref(pool);
    pool->used += size;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
}

void pool_give_back(struct pool *pool, size_t size)
{
    pool->used -= size;
    object_unref(pool);
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

CUresult soft_MemPoolCreate_v1(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    CUresult result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    if (pool == NULL || poolProps == NULL || poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE || poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!device_exists(poolProps->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    struct pool *made = pool_new(poolProps->location.id, false);
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
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
        return soft_version >= 11030;
    case 6: /* CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH */
    case 8: /* CU_MEMPOOL_ATTR_USED_MEM_HIGH */
        *out_bytes = &pool->used_high;
        return soft_version >= 11030;
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
