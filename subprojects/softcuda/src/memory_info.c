/* SPDX-License-Identifier: MIT */
/* Queries of an address. */
#include "memory.h"

#include "context.h"

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

static bool pointer_is_host(const struct block *block)
{
    return block->kind == BLOCK_PINNED || block->kind == BLOCK_REGISTERED;
}

CUresult soft_MemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct block *block = block_find((uintptr_t)p);
    if (pdptr == NULL || Flags != 0 || block == NULL || !pointer_is_host(block))
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
        *(unsigned *)data = pointer_is_host(block) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
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
