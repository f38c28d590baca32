/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "context.h"
#include "device.h"
#include "memory_pool.h"
#include "os_thread.h"

enum { ALIGNMENT = 512, PITCH_ALIGNMENT = 512 };

static struct block **blocks; /* sorted by address */
static size_t block_count, block_capacity;
static size_t used[DEVICE_MAX];

static bool block_counts(const struct block *block)
{
    return block->kind == BLOCK_DEVICE || block->kind == BLOCK_MANAGED;
}

void block_ref(struct block *block)
{
    block->references++;
}

void block_unref(struct block *block)
{
    if (block == NULL || --block->references > 0)
        return;
    if (block_counts(block))
        used[block->context->device] -= block->size;
    if (block->pool != NULL)
        pool_give_back(block->pool, block->size);
    if (block->kind != BLOCK_REGISTERED)
        os_aligned_free(block->base);
    object_unref(block->context);
    free(block);
}

/* The index of the first block that ends behind the address. */
static size_t block_position(uint64_t address)
{
    size_t low = 0, high = block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)blocks[middle]->base + blocks[middle]->size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct block *block_find(uint64_t address)
{
    size_t at = block_position(address);
    return at < block_count && (uintptr_t)blocks[at]->base <= address ? blocks[at] : NULL;
}

bool block_has(uint64_t address, size_t size)
{
    const struct block *block = block_find(address);
    return block != NULL && size <= block->size - (size_t)(address - (uintptr_t)block->base);
}

static bool block_list_insert(struct block *block)
{
    if (!soft_reserve((void **)&blocks, &block_capacity, block_count + 1, sizeof(struct block *)))
        return false;
    size_t at = block_position((uintptr_t)block->base);
    memmove(&blocks[at + 1], &blocks[at], (block_count - at) * sizeof(struct block *));
    blocks[at] = block;
    block_count++;
    block->listed = true;
    return true;
}

void block_unlist(struct block *block)
{
    size_t at = block_position((uintptr_t)block->base);
    memmove(&blocks[at], &blocks[at + 1], (--block_count - at) * sizeof(struct block *));
    block->listed = false;
}

/* Creates a block for existing memory; NULL if out of memory, and then the caller still owns that memory. */
static struct block *block_wrap(struct context *context, enum block_kind kind, void *base, size_t size, unsigned flags)
{
    context = context_home(context);
    struct block *block = calloc(1, sizeof(*block));
    if (block == NULL)
        return NULL;
    block->references = 1;
    block->kind = kind;
    block->base = base;
    block->size = size;
    block->flags = flags;
    block->id = soft_next_id();
    block->context = context;
    block->life = context->life;
    if (!block_list_insert(block)) {
        free(block);
        return NULL;
    }
    object_ref(context);
    if (block_counts(block))
        used[context->device] += size;
    return block;
}

struct block *block_new(struct context *context, enum block_kind kind, size_t size, unsigned flags)
{
    bool counted = kind == BLOCK_DEVICE || kind == BLOCK_MANAGED;
    if (counted && size > device_memory() - used[context->device])
        return NULL;
    void *base = os_aligned_alloc(ALIGNMENT, size);
    struct block *block = base == NULL ? NULL : block_wrap(context, kind, base, size, flags);
    if (block == NULL)
        os_aligned_free(base);
    return block;
}

void memory_forget_context(struct context *context)
{
    for (size_t i = block_count; i-- > 0;) {
        struct block *block = blocks[i];
        if (block->context == context) {
            block_unlist(block);
            block_unref(block);
        }
    }
}

/* The common checks of all allocations. */
static CUresult allocation_check(struct context **out_context, bool valid)
{
    CUresult result = context_need(out_context);
    if (result != CUDA_SUCCESS)
        return result;
    result = capture_unsafe();
    return result == CUDA_SUCCESS && !valid ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult soft_MemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    struct context *context = NULL;
    CUresult result = allocation_check(&context, dptr != NULL && bytesize != 0);
    if (result != CUDA_SUCCESS)
        return result;
    struct block *block = block_new(context, BLOCK_DEVICE, bytesize, 0);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *dptr = (CUdeviceptr)(uintptr_t)block->base;
    return CUDA_SUCCESS;
}

CUresult soft_MemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                               unsigned int ElementSizeBytes)
{
    bool element = ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16;
    if (pPitch == NULL || WidthInBytes == 0 || Height == 0 || !element)
        return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = (WidthInBytes + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (pitch < WidthInBytes || Height > SIZE_MAX / pitch)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = soft_MemAlloc_v2(dptr, pitch * Height);
    if (result == CUDA_SUCCESS)
        *pPitch = pitch;
    return result;
}

CUresult soft_MemAllocManaged_v1(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    struct context *context = NULL;
    bool valid = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST;
    CUresult result = allocation_check(&context, dptr != NULL && bytesize != 0 && valid);
    if (result != CUDA_SUCCESS)
        return result;
    struct block *block = block_new(context, BLOCK_MANAGED, bytesize, flags);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *dptr = (CUdeviceptr)(uintptr_t)block->base;
    return CUDA_SUCCESS;
}

/* Frees a block of one of these kinds that starts at the address, after all work of its context. */
static CUresult block_free_at(uint64_t address, enum block_kind kind, enum block_kind other)
{
    struct block *block = block_find(address);
    if (block == NULL || (uintptr_t)block->base != address || (block->kind != kind && block->kind != other))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_state(block->context, block->life);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    block_unlist(block); /* before the wait, so that a second free finds nothing */
    context_drain(block->context);
    block_unref(block);
    return CUDA_SUCCESS;
}

CUresult soft_MemFree_v2(CUdeviceptr dptr)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result == CUDA_SUCCESS && dptr == 0)
        return capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    return block_free_at(dptr, BLOCK_DEVICE, BLOCK_MANAGED);
}

CUresult soft_MemHostAlloc_v1(void **pp, size_t bytesize, unsigned int Flags)
{
    unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    struct context *context = NULL;
    CUresult result = allocation_check(&context, pp != NULL && (Flags & ~known) == 0);
    if (result != CUDA_SUCCESS)
        return result;
    if (bytesize == 0) {
        *pp = NULL;
        return CUDA_SUCCESS;
    }
    struct block *block = block_new(context, BLOCK_PINNED, bytesize, Flags);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pp = block->base;
    return CUDA_SUCCESS;
}

CUresult soft_MemAllocHost_v2(void **pp, size_t bytesize)
{
    return soft_MemHostAlloc_v1(pp, bytesize, 0);
}

CUresult soft_MemFreeHost_v1(void *p)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result == CUDA_SUCCESS && p == NULL)
        return capture_unsafe();
    return result == CUDA_SUCCESS ? block_free_at((uintptr_t)p, BLOCK_PINNED, BLOCK_PINNED) : result;
}

CUresult soft_MemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
    struct context *context = NULL;
    CUresult result = allocation_check(&context, p != NULL && bytesize != 0);
    if (result != CUDA_SUCCESS)
        return result;
    if ((Flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    if ((Flags & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    size_t at = block_position((uintptr_t)p);
    if (at < block_count && (uintptr_t)blocks[at]->base < (uintptr_t)p + bytesize)
        return blocks[at]->kind == BLOCK_PINNED ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    struct block *block = block_wrap(context, BLOCK_REGISTERED, p, bytesize, Flags);
    return block == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult soft_MemHostRegister_v1(void *p, size_t bytesize, unsigned int Flags)
{
    return soft_MemHostRegister_v2(p, bytesize, Flags);
}

CUresult soft_MemHostUnregister_v1(void *p)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = block_free_at((uintptr_t)p, BLOCK_REGISTERED, BLOCK_REGISTERED);
    return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : result;
}

CUresult soft_MemGetInfo_v2(size_t *freeBytes, size_t *totalBytes)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (freeBytes == NULL || totalBytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *totalBytes = device_memory();
    *freeBytes = device_memory() - used[context->device];
    return CUDA_SUCCESS;
}
