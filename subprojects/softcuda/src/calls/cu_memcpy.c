/* SPDX-License-Identifier: MIT */
/* Copies: one description for all forms of the driver, checked against the known memory. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

/* One side of a copy, resolved. */
struct side {
    char *start;
    size_t pitch, slice;
    bool is_pageable; /* host memory that is not registered */
    bool is_host;     /* that, or pinned memory */
};

struct endpoint {
    CUmemorytype type;
    uint64_t host, device;
    size_t x, y, z, pitch, height;
};

static bool size_multiply(size_t a, size_t b, size_t *out_product)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *out_product = a * b;
    return true;
}

static CUresult copy_resolve(const struct endpoint *endpoint, const CUDA_MEMCPY3D *params, struct side *out_side)
{
    if (endpoint->type == CU_MEMORYTYPE_ARRAY)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (endpoint->type < CU_MEMORYTYPE_HOST || endpoint->type > CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t base = endpoint->type == CU_MEMORYTYPE_HOST ? endpoint->host : endpoint->device;
    size_t width = endpoint->x + params->WidthInBytes, rows = endpoint->y + params->Height;
    size_t pitch = endpoint->pitch == 0 ? width : endpoint->pitch;
    size_t height = endpoint->height == 0 ? rows : endpoint->height;
    bool flat = params->Height <= 1 && params->Depth <= 1;
    if (base == 0 || (!flat && pitch < width) || (params->Depth > 1 && height < rows))
        return CUDA_ERROR_INVALID_VALUE;
    size_t slice, before, first, last, deep;
    if (!size_multiply(pitch, height, &slice) || !size_multiply(slice, endpoint->z, &before)
        || !size_multiply(pitch, endpoint->y, &first) || !size_multiply(pitch, params->Height - 1, &last)
        || !size_multiply(slice, params->Depth - 1, &deep))
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t start = base + before + first + endpoint->x;
    size_t extent = deep + last + params->WidthInBytes;
    const struct block *block = block_find_for_graph(start);
    bool known = block != NULL;
    if (known && !block_has(start, extent))
        return CUDA_ERROR_INVALID_VALUE;
    if (!known && endpoint->type == CU_MEMORYTYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    *out_side = (struct side){(char *)(uintptr_t)start, pitch, slice, !known, !known || block_is_host(block)};
    return CUDA_SUCCESS;
}

static CUresult copy_resolve_both(const CUDA_MEMCPY3D *params, struct side *out_to, struct side *out_from)
{
    const struct endpoint to = {
        params->dstMemoryType, (uintptr_t)params->dstHost, params->dstDevice, params->dstXInBytes, params->dstY,
        params->dstZ,          params->dstPitch,           params->dstHeight};
    const struct endpoint from = {
        params->srcMemoryType, (uintptr_t)params->srcHost, params->srcDevice, params->srcXInBytes, params->srcY,
        params->srcZ,          params->srcPitch,           params->srcHeight};
    if (params->srcLOD != 0 || params->dstLOD != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = copy_resolve(&to, params, out_to);
    return result == CUDA_SUCCESS ? copy_resolve(&from, params, out_from) : result;
}

static bool copy_is_empty(const CUDA_MEMCPY3D *params)
{
    return params->WidthInBytes == 0 || params->Height == 0 || params->Depth == 0;
}

enum { STAGED_AT_MOST = 1 << 20 }; /* as observed: 4 MiB wait for the stream */

static size_t copy_size(const struct copy *copy)
{
    return copy->width * copy->height * copy->depth;
}

/* Copies the source's bytes, so that the caller may reuse the memory when the call returns. */
static bool copy_stage(struct copy *copy)
{
    char *staged = malloc(copy_size(copy));
    if (staged == NULL)
        return false;
    char *at = staged;
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++, at += copy->width)
            memcpy(at, copy->from + z * copy->from_slice + y * copy->from_pitch, copy->width);
    copy->from_pitch = copy->width;
    copy->from_slice = copy->width * copy->height;
    copy->staged = staged;
    return true;
}

CUresult work_from_copy(const CUDA_MEMCPY3D *params, struct work **out_work)
{
    struct side to, from;
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!copy_is_empty(params)) {
        CUresult result = copy_resolve_both(params, &to, &from);
        if (result != CUDA_SUCCESS)
            return result;
    }
    struct work *work = work_new(WORK_COPY);
    if (work == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->params.copy = *params;
    if (!copy_is_empty(params))
        work->copy = (struct copy){.to = to.start,
                                   .from = from.start,
                                   .to_pitch = to.pitch,
                                   .from_pitch = from.pitch,
                                   .to_slice = to.slice,
                                   .from_slice = from.slice,
                                   .width = params->WidthInBytes,
                                   .height = params->Height,
                                   .depth = params->Depth};
    *out_work = work;
    return CUDA_SUCCESS;
}

CUresult copy_default_stream(struct stream **out_stream)
{
    CUresult result = stream_default(out_stream);
    return result == CUDA_SUCCESS ? capture_implicit(*out_stream, true) : result;
}

enum copy_when {
    COPY_NOW,   /* the call returns when the copy is complete, if it is from or to host memory */
    COPY_ASYNC, /* returns as soon as the memory permits it: pageable host memory is not used after the call */
    COPY_ORDER  /* never waits: from device to device */
};

/* Submits a copy; `params` must stay unchanged only during the call. */
static CUresult copy_submit(const CUDA_MEMCPY3D *params, CUstream handle, enum copy_when when)
{
    struct stream *stream = NULL;
    struct work *work = NULL;
    CUresult result = when == COPY_NOW || handle == NULL ? stream_default(&stream) : stream_find(handle, &stream);
    if (result == CUDA_SUCCESS)
        result = work_from_copy(params, &work);
    if (result != CUDA_SUCCESS)
        return result;
    if (copy_is_empty(params) && stream->capture != NULL) { /* becomes no node */
        work_unref(work);
        return CUDA_SUCCESS;
    }
    if (when == COPY_NOW) {
        result = copy_default_stream(&stream);
        if (result != CUDA_SUCCESS) {
            work_unref(work);
            return result;
        }
    }
    struct side to = {NULL, 0, 0, false, false}, from = to;
    if (!copy_is_empty(params))
        (void)copy_resolve_both(params, &to, &from);
    bool is_pageable = when == COPY_ASYNC && stream->capture == NULL && (to.is_pageable || from.is_pageable);
    bool is_staged = is_pageable && !to.is_pageable && copy_size(&work->copy) <= STAGED_AT_MOST;
    bool waits = when == COPY_NOW ? to.is_host || from.is_host : is_pageable && !is_staged;
    if (is_staged && !copy_stage(&work->copy)) {
        work_unref(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return queue_submit_and_wait(stream, work, waits);
}

/* One row of bytes. */
static CUDA_MEMCPY3D copy_row(CUmemorytype to_type, uint64_t to, CUmemorytype from_type, uint64_t from, size_t bytes)
{
    CUDA_MEMCPY3D params;
    memset(&params, 0, sizeof params);
    params.dstMemoryType = to_type;
    params.dstHost = (void *)(uintptr_t)to;
    params.dstDevice = (CUdeviceptr)to;
    params.srcMemoryType = from_type;
    params.srcHost = (const void *)(uintptr_t)from;
    params.srcDevice = (CUdeviceptr)from;
    params.WidthInBytes = bytes;
    params.Height = params.Depth = 1;
    return params;
}

#define HOST CU_MEMORYTYPE_HOST
#define DEVICE CU_MEMORYTYPE_DEVICE
#define UNIFIED CU_MEMORYTYPE_UNIFIED

static CUresult copy_linear(CUmemorytype to_type, uint64_t to, CUmemorytype from_type, uint64_t from, size_t bytes,
                            CUstream stream, enum copy_when when)
{
    CUDA_MEMCPY3D params = copy_row(to_type, to, from_type, from, bytes);
    return copy_submit(&params, stream, when);
}

CUresult soft_Memcpy_v1(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return copy_linear(UNIFIED, dst, UNIFIED, src, ByteCount, NULL, COPY_NOW);
}

CUresult soft_MemcpyAsync_v1(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return copy_linear(UNIFIED, dst, UNIFIED, src, ByteCount, hStream, COPY_ASYNC);
}

CUresult soft_MemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return copy_linear(DEVICE, dstDevice, HOST, (uintptr_t)srcHost, ByteCount, NULL, COPY_NOW);
}

CUresult soft_MemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    return copy_linear(DEVICE, dstDevice, HOST, (uintptr_t)srcHost, ByteCount, hStream, COPY_ASYNC);
}

CUresult soft_MemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_linear(HOST, (uintptr_t)dstHost, DEVICE, srcDevice, ByteCount, NULL, COPY_NOW);
}

CUresult soft_MemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return copy_linear(HOST, (uintptr_t)dstHost, DEVICE, srcDevice, ByteCount, hStream, COPY_ASYNC);
}

CUresult soft_MemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_linear(DEVICE, dstDevice, DEVICE, srcDevice, ByteCount, NULL, COPY_NOW);
}

CUresult soft_MemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return copy_linear(DEVICE, dstDevice, DEVICE, srcDevice, ByteCount, hStream, COPY_ORDER);
}

static CUresult peer_contexts(CUcontext to, CUcontext from)
{
    bool valid = handle_find(OBJECT_CONTEXT, to) != NULL && handle_find(OBJECT_CONTEXT, from) != NULL;
    return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult soft_MemcpyPeer_v1(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                            size_t ByteCount)
{
    CUresult result = peer_contexts(dstContext, srcContext);
    return result == CUDA_SUCCESS ? soft_MemcpyDtoD_v2(dstDevice, srcDevice, ByteCount) : result;
}

CUresult soft_MemcpyPeerAsync_v1(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                                 CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
    CUresult result = peer_contexts(dstContext, srcContext);
    return result == CUDA_SUCCESS ? soft_MemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, hStream) : result;
}

/* A copy of rows is a copy of a single slice. */
static CUDA_MEMCPY3D from_2d(const CUDA_MEMCPY2D *copy)
{
    CUDA_MEMCPY3D params;
    memset(&params, 0, sizeof params);
    params.srcXInBytes = copy->srcXInBytes;
    params.srcY = copy->srcY;
    params.srcMemoryType = copy->srcMemoryType;
    params.srcHost = copy->srcHost;
    params.srcDevice = copy->srcDevice;
    params.srcArray = copy->srcArray;
    params.srcPitch = copy->srcPitch;
    params.dstXInBytes = copy->dstXInBytes;
    params.dstY = copy->dstY;
    params.dstMemoryType = copy->dstMemoryType;
    params.dstHost = copy->dstHost;
    params.dstDevice = copy->dstDevice;
    params.dstArray = copy->dstArray;
    params.dstPitch = copy->dstPitch;
    params.WidthInBytes = copy->WidthInBytes;
    params.Height = copy->Height;
    params.Depth = 1;
    return params;
}

CUresult soft_Memcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
    if (pCopy == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D params = from_2d(pCopy);
    return copy_submit(&params, NULL, COPY_NOW);
}

CUresult soft_Memcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return soft_Memcpy2D_v2(pCopy);
}

CUresult soft_Memcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    if (pCopy == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D params = from_2d(pCopy);
    return copy_submit(&params, hStream, COPY_ASYNC);
}

CUresult soft_Memcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
    return pCopy == NULL ? CUDA_ERROR_INVALID_VALUE : copy_submit(pCopy, NULL, COPY_NOW);
}

CUresult soft_Memcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return pCopy == NULL ? CUDA_ERROR_INVALID_VALUE : copy_submit(pCopy, hStream, COPY_ASYNC);
}
