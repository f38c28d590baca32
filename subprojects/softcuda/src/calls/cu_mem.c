/* SPDX-License-Identifier: MIT */
/* Allocating memory, what is known about an address, and advice. All memory is host memory. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum { PITCH_ALIGNMENT = 512 };

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

/* Frees a block of one of these kinds that starts at the address, after all work of its context. The call waits for
 * that, unless it is memory of a pool. */
static CUresult block_free_at(uint64_t address, enum block_kind kind, enum block_kind other)
{
    struct block *block = block_find(address);
    if (block == NULL || (uintptr_t)block->base != address || (block->kind != kind && block->kind != other))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_state(block->context, block->generation);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    block_take(block); /* before the wait, so that a second free finds nothing */
    if (block->pool != NULL && queue_release(block->context, block))
        return CUDA_SUCCESS;
    context_drain(block->context);
    block_unref(block);
    return CUDA_SUCCESS;
}

/* Without a current context memory can be freed, since its address is enough: Numba's tests on GPUs need this. */
static CUresult memory_free(uint64_t address, enum block_kind kind, enum block_kind other)
{
    struct context *context = context_current();
    CUresult result = context == NULL && address != 0 ? CUDA_SUCCESS : context_need(&context);
    if (result == CUDA_SUCCESS && address == 0)
        return capture_unsafe();
    return result == CUDA_SUCCESS ? block_free_at(address, kind, other) : result;
}

CUresult soft_MemFree_v2(CUdeviceptr dptr)
{
    return memory_free(dptr, BLOCK_DEVICE, BLOCK_MANAGED);
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
    return memory_free((uintptr_t)p, BLOCK_PINNED, BLOCK_PINNED);
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
    const struct block *other = block_find_overlap((uintptr_t)p, bytesize);
    if (other != NULL)
        return other->kind == BLOCK_PINNED ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    return block_register(context, p, bytesize, Flags) == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
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
    const struct block *block = block_find((uintptr_t)p);
    bool inside = block != NULL && block->kind == BLOCK_REGISTERED; /* not at the start of that registration */
    return result == CUDA_ERROR_INVALID_VALUE && !inside ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : result;
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
    *freeBytes = device_memory() - memory_used(context->device);
    return CUDA_SUCCESS;
}

CUresult soft_MemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct block *block = block_find(dptr);
    if (block == NULL)
        return CUDA_ERROR_NOT_FOUND;
    if (pbase != NULL)
        *pbase = (CUdeviceptr)(uintptr_t)block->base;
    if (psize != NULL)
        *psize = block->size;
    return CUDA_SUCCESS;
}

enum { LAST_ATTRIBUTE = 21 };

CUresult soft_MemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct block *block = block_find((uintptr_t)p);
    if (pdptr == NULL || Flags != 0 || block == NULL || !block_is_host(block))
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult soft_MemHostGetFlags_v1(unsigned int *pFlags, void *p)
{
    const struct block *block = block_find((uintptr_t)p);
    if (pFlags == NULL || block == NULL || block->kind != BLOCK_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    *pFlags = block->flags | CU_MEMHOSTALLOC_DEVICEMAP; /* all memory is mapped in one address space */
    return CUDA_SUCCESS;
}

/* One attribute. Fails with 1 if the attribute is invalid or undefined for this address, with 801 if it is not
 * supported. */
static CUresult pointer_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr, const struct block *block)
{
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = (CUcontext)block->context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = block_is_host(block) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (block->kind == BLOCK_DEVICE)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = (void *)(uintptr_t)ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(unsigned *)data = block->sync_memops != 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = block->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)data = block->kind == BLOCK_MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = block->context->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = (CUdeviceptr)(uintptr_t)block->base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = block->size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)data = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(unsigned *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)data = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data = (CUmemoryPool)block->pool;
        return CUDA_SUCCESS;
    default:
        return (unsigned)attribute > LAST_ATTRIBUTE ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult soft_PointerGetAttribute_v1(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    if (data == NULL || (int)attribute < CU_POINTER_ATTRIBUTE_CONTEXT)
        return CUDA_ERROR_INVALID_VALUE;
    const struct block *block = block_find(ptr);
    return block == NULL ? CUDA_ERROR_INVALID_VALUE : pointer_attribute(data, attribute, ptr, block);
}

/* Unlike the query of one attribute, this does not fail for an unknown address: the values are zero. */
CUresult soft_PointerGetAttributes_v1(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                      CUdeviceptr ptr)
{
    if (numAttributes == 0 || attributes == NULL || data == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct block *block = block_find(ptr);
    for (unsigned i = 0; i < numAttributes; i++) {
        unsigned asked = (unsigned)attributes[i];
        if (data[i] == NULL)
            return CUDA_ERROR_INVALID_VALUE;
        CUresult result =
            block == NULL ? CUDA_ERROR_INVALID_VALUE : pointer_attribute(data[i], attributes[i], ptr, block);
        if (result == CUDA_ERROR_NOT_SUPPORTED)
            return result;
        if (result == CUDA_SUCCESS)
            continue;
        if (asked == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)data[i] = CU_DEVICE_INVALID;
        else if (asked == CU_POINTER_ATTRIBUTE_MEMORY_TYPE || asked == CU_POINTER_ATTRIBUTE_IS_MANAGED
                 || asked == CU_POINTER_ATTRIBUTE_MAPPED || asked == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
            *(unsigned *)data[i] = 0;
        else
            *(void **)data[i] = NULL;
    }
    return CUDA_SUCCESS;
}

CUresult soft_PointerSetAttribute_v1(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct block *block = block_find(ptr);
    if (value == NULL || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || block == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    block->sync_memops = *(const int *)value != 0;
    return CUDA_SUCCESS;
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

/* All memory is in one place, so these functions only check their arguments. */

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

static CUresult memory_advise(CUdeviceptr address, size_t size, CUmem_advise advice, bool location_is_valid)
{
    const struct block *block = block_find(address);
    CUresult result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    bool known = advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (!known || block == NULL || block->kind != BLOCK_MANAGED || size == 0 || !block_has(address, size))
        return CUDA_ERROR_INVALID_VALUE;
    return location_is_valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
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
