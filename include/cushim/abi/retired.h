/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types in ABI versions from before CUDA 3.2, with 32-bit addresses and sizes.
 *
 * cuda_abi.h includes this header and describes where the declarations come from. <cuda.h> also has these types, but
 * hides them unless __CUDA_API_VERSION_INTERNAL is defined.
 */
#ifndef CUSHIM_ABI_RETIRED_H
#define CUSHIM_ABI_RETIRED_H

#include "cushim/abi/mode.h"
#include "cushim/abi/handles.h"
#include "cushim/abi/memory.h"

#if CUSHIM_CUDA_HEADER_VERSION == 0 || !defined(__CUDA_API_VERSION_INTERNAL)
typedef unsigned int CUdeviceptr_v1;

/* As CUDA_MEMCPY2D. */
typedef struct CUDA_MEMCPY2D_v1_st {
    unsigned int srcXInBytes;
    unsigned int srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr_v1 srcDevice;
    CUarray srcArray;
    unsigned int srcPitch;
    unsigned int dstXInBytes;
    unsigned int dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr_v1 dstDevice;
    CUarray dstArray;
    unsigned int dstPitch;
    unsigned int WidthInBytes;
    unsigned int Height;
} CUDA_MEMCPY2D_v1;

/* As CUDA_MEMCPY3D. */
typedef struct CUDA_MEMCPY3D_v1_st {
    unsigned int srcXInBytes;
    unsigned int srcY;
    unsigned int srcZ;
    unsigned int srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr_v1 srcDevice;
    CUarray srcArray;
    void *reserved0;
    unsigned int srcPitch;
    unsigned int srcHeight;
    unsigned int dstXInBytes;
    unsigned int dstY;
    unsigned int dstZ;
    unsigned int dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr_v1 dstDevice;
    CUarray dstArray;
    void *reserved1;
    unsigned int dstPitch;
    unsigned int dstHeight;
    unsigned int WidthInBytes;
    unsigned int Height;
    unsigned int Depth;
} CUDA_MEMCPY3D_v1;

/* As CUDA_ARRAY_DESCRIPTOR. */
typedef struct CUDA_ARRAY_DESCRIPTOR_v1_st {
    unsigned int Width;
    unsigned int Height;
    CUarray_format Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR_v1;

/* As CUDA_ARRAY3D_DESCRIPTOR. */
typedef struct CUDA_ARRAY3D_DESCRIPTOR_v1_st {
    unsigned int Width;
    unsigned int Height;
    unsigned int Depth;
    CUarray_format Format;
    unsigned int NumChannels;
    unsigned int Flags;
} CUDA_ARRAY3D_DESCRIPTOR_v1;
#endif

#endif
