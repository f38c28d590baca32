/* SPDX-License-Identifier: MIT */
#include "copy.h"

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "context.h"
#include "graph.h"
#include "memory.h"
#include "queue.h"
#include "stream.h"

/* One side of a copy, resolved. */
struct side {
    char *start;
    size_t pitch, slice;
    bool pageable; /* host memory that is not registered */
};

struct place {
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

static CUresult copy_resolve(const struct place *place, const CUDA_MEMCPY3D *params, struct side *out_side)
{
    if (place->type == CU_MEMORYTYPE_ARRAY)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (place->type < CU_MEMORYTYPE_HOST || place->type > CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t base = place->type == CU_MEMORYTYPE_HOST ? place->host : place->device;
    size_t width = place->x + params->WidthInBytes, rows = place->y + params->Height;
    size_t pitch = place->pitch == 0 ? width : place->pitch;
    size_t height = place->height == 0 ? rows : place->height;
    bool flat = params->Height <= 1 && params->Depth <= 1;
    if (base == 0 || (!flat && pitch < width) || (params->Depth > 1 && height < rows))
        return CUDA_ERROR_INVALID_VALUE;
    size_t slice, before, first, last, deep;
    if (!size_multiply(pitch, height, &slice) || !size_multiply(slice, place->z, &before)
        || !size_multiply(pitch, place->y, &first) || !size_multiply(pitch, params->Height - 1, &last)
        || !size_multiply(slice, params->Depth - 1, &deep))
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t start = base + before + first + place->x;
    size_t extent = deep + last + params->WidthInBytes;
    bool known = block_find(start) != NULL;
    if (known && !block_has(start, extent))
        return CUDA_ERROR_INVALID_VALUE;
    if (!known && place->type == CU_MEMORYTYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    *out_side = (struct side){(char *)(uintptr_t)start, pitch, slice, !known};
    return CUDA_SUCCESS;
}

static CUresult copy_resolve_both(const CUDA_MEMCPY3D *params, struct side *out_to, struct side *out_from)
{
    const struct place to = {
        params->dstMemoryType, (uintptr_t)params->dstHost, params->dstDevice, params->dstXInBytes, params->dstY,
        params->dstZ,          params->dstPitch,           params->dstHeight};
    const struct place from = {
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

/* Copies the source's bytes, so that the caller may reuse the memory when the call returns. */
static bool copy_stage(struct copy *copy)
{
    char *staged = malloc(copy->width * copy->height * copy->depth);
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

CUresult copy_submit(const CUDA_MEMCPY3D *params, CUstream handle, enum copy_when when)
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
    struct side to = {NULL, 0, 0, false}, from = to;
    if (!copy_is_empty(params))
        (void)copy_resolve_both(params, &to, &from);
    bool captured = stream->capture != NULL;
    if (when == COPY_ASYNC && from.pageable && !captured && !copy_stage(&work->copy)) {
        work_unref(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    object_ref(stream);
    result = queue_submit(stream, work);
    if (result == CUDA_SUCCESS && (when == COPY_NOW || (when == COPY_ASYNC && to.pageable && !captured))) {
        op_wait(stream->last);
        result = context_state(stream->context, stream->life);
    }
    object_unref(stream);
    return result;
}

CUDA_MEMCPY3D copy_row(CUmemorytype to_type, uint64_t to, CUmemorytype from_type, uint64_t from, size_t bytes)
{
    CUDA_MEMCPY3D params;
    memset(&params, 0, sizeof(params));
    params.dstMemoryType = to_type;
    params.dstHost = (void *)(uintptr_t)to;
    params.dstDevice = to;
    params.srcMemoryType = from_type;
    params.srcHost = (const void *)(uintptr_t)from;
    params.srcDevice = from;
    params.WidthInBytes = bytes;
    params.Height = params.Depth = 1;
    return params;
}
