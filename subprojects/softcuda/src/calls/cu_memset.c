/* SPDX-License-Identifier: MIT */
/* Setting memory to a value. */
#include "calls.h"

CUresult work_from_set(const CUDA_MEMSET_NODE_PARAMS *params, struct work **out_work)
{
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    size_t size = params->elementSize;
    bool sized = size == 1 || size == 2 || size == 4;
    if (!sized || params->dst % size != 0 || params->width > SIZE_MAX / 4)
        return CUDA_ERROR_INVALID_VALUE;
    bool empty = params->width == 0 || params->height == 0;
    size_t width = params->width * size;
    if (!empty && params->height > 1) {
        bool fits =
            params->pitch >= width && params->pitch % size == 0 && params->height - 1 <= SIZE_MAX / params->pitch;
        if (!fits || !block_has(params->dst, (params->height - 1) * params->pitch + width))
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!empty && !block_has(params->dst, width))
        return CUDA_ERROR_INVALID_VALUE;
    struct work *work = work_new(WORK_SET);
    if (work == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->params.set = *params;
    work->set = (struct set){.to = (char *)(uintptr_t)params->dst,
                             .pitch = params->pitch,
                             .width = params->width,
                             .height = empty ? 0 : params->height,
                             .value = params->value,
                             .element_size = params->elementSize};
    *out_work = work;
    return CUDA_SUCCESS;
}

/* Only the synchronous forms wait, and only for host memory. The forms differ, too, in the captures that they
 * invalidate. */
static CUresult memset_fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned size, size_t width, size_t height,
                            CUstream handle, bool synchronous)
{
    const CUDA_MEMSET_NODE_PARAMS params = {to, pitch, value, size, width, height};
    struct stream *stream = NULL;
    struct work *work = NULL;
    CUresult result = stream_find(handle, &stream);
    if (result == CUDA_SUCCESS)
        result = work_from_set(&params, &work);
    if (result == CUDA_SUCCESS && synchronous)
        result = copy_default_stream(&stream);
    if (result != CUDA_SUCCESS) {
        work_unref(work);
        return result;
    }
    if (work->set.height == 0 && stream->capture != NULL) { /* becomes no node */
        work_unref(work);
        return CUDA_SUCCESS;
    }
    const struct block *block = block_find_for_graph(to);
    return queue_submit_and_wait(stream, work, synchronous && block != NULL && block_is_host(block));
}

CUresult soft_MemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    return memset_fill(dstDevice, 0, uc, 1, N, 1, NULL, true);
}

CUresult soft_MemsetD8Async_v1(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
    return memset_fill(dstDevice, 0, uc, 1, N, 1, hStream, false);
}

CUresult soft_MemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
    return memset_fill(dstDevice, dstPitch, uc, 1, Width, Height, NULL, true);
}

CUresult soft_MemsetD2D8Async_v1(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                                 CUstream hStream)
{
    return memset_fill(dstDevice, dstPitch, uc, 1, Width, Height, hStream, false);
}

CUresult soft_MemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    return memset_fill(dstDevice, 0, us, 2, N, 1, NULL, true);
}

CUresult soft_MemsetD16Async_v1(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
    return memset_fill(dstDevice, 0, us, 2, N, 1, hStream, false);
}

CUresult soft_MemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
    return memset_fill(dstDevice, dstPitch, us, 2, Width, Height, NULL, true);
}

CUresult soft_MemsetD2D16Async_v1(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                  size_t Height, CUstream hStream)
{
    return memset_fill(dstDevice, dstPitch, us, 2, Width, Height, hStream, false);
}

CUresult soft_MemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    return memset_fill(dstDevice, 0, ui, 4, N, 1, NULL, true);
}

CUresult soft_MemsetD32Async_v1(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
    return memset_fill(dstDevice, 0, ui, 4, N, 1, hStream, false);
}

CUresult soft_MemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
    return memset_fill(dstDevice, dstPitch, ui, 4, Width, Height, NULL, true);
}

CUresult soft_MemsetD2D32Async_v1(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                                  CUstream hStream)
{
    return memset_fill(dstDevice, dstPitch, ui, 4, Width, Height, hStream, false);
}
