/* SPDX-License-Identifier: MIT */
/* The driver's copy functions: each makes a description for copy_submit(). */
#include "copy.h"

#include <string.h>

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
    memset(&params, 0, sizeof(params));
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
