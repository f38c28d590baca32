/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Replaces <ffnvcodec/dynlink_cuda.h> of nv-codec-headers: the driver's types, and a function type for each entry
 * point, such as tcuMemAlloc_v2. The types are those of <cuda.h> if that was included before, otherwise cushim's own.
 */
#ifndef CUSHIM_COMPAT_DYNLINK_CUDA_H
#define CUSHIM_COMPAT_DYNLINK_CUDA_H

#if !defined(CUSHIM_OWN_TYPES) && !defined(CUDA_VERSION)
#    define CUSHIM_OWN_TYPES 1
#endif
#include "cushim/abi/cuda_abi.h"

#if CUSHIM_OWN_TYPES
#    include "cushim/abi/egl.h" /* the loader's interface has a frame that is passed by value */
/* These definitions refuse the original, whose names this header provides. Like the original, it reports a version, so
 * that <cuda.h> is not included again; its program is written for that version. */
#    undef tcuInit
#    undef FFNV_DYNLINK_CUDA_H
#    ifndef CUDA_VERSION
#        define CUDA_VERSION 7050
#    endif

/* Names of the original that <cuda.h> does not have. */
#    define CU_EGL_FRAME_MAX_PLANES 3
typedef unsigned int GLenum;
typedef unsigned int GLuint;
typedef int32_t ffnv_EGLint;
typedef void *ffnv_EGLStreamKHR;

/* The original's CUstreamCallback is a function, where that of <cuda.h> is a pointer to one. As the type of a
 * parameter, which is its only use in the headers of cushim, both mean the pointer. */
typedef void CUDA_CB cushim_ffnv_stream_callback(CUstream hStream, CUresult status, void *userdata);
#    define CUstreamCallback cushim_ffnv_stream_callback
#endif

/* The name of a function type, from the function and its ABI version. */
#define CUSHIM_TYPE_v1(function) tcu##function
#define CUSHIM_TYPE_v2(function) tcu##function##_v2
#define CUSHIM_TYPE_v3(function) tcu##function##_v3
#define CUSHIM_TYPE_v4(function) tcu##function##_v4
#define CUSHIM_ENTRY(function, abi, since, params, args) typedef CUresult CUDAAPI CUSHIM_TYPE_##abi(function) params;
/* Function types of the original that are not the first version of the function. */
#define tcuArrayCreate tcuArrayCreate_v1
#define tcuArray3DCreate tcuArray3DCreate_v1
#define tcuModuleGetGlobal tcuModuleGetGlobal_v1
#define tcuGraphicsResourceGetMappedPointer tcuGraphicsResourceGetMappedPointer_v1
/* And those with objects of Direct3D, which are void pointers in the original. */
#define tcuD3D11GetDevice tcuD3D11GetDevice_v1
#define tcuD3D11GetDevices tcuD3D11GetDevices_v1
#define tcuGraphicsD3D11RegisterResource tcuGraphicsD3D11RegisterResource_v1
#include "cushim/entry_points.h"
#undef tcuArrayCreate
#undef tcuArray3DCreate
#undef tcuModuleGetGlobal
#undef tcuGraphicsResourceGetMappedPointer
#undef tcuD3D11GetDevice
#undef tcuD3D11GetDevices
#undef tcuGraphicsD3D11RegisterResource

typedef tcuArrayCreate_v2 tcuArrayCreate;
typedef tcuArray3DCreate_v2 tcuArray3DCreate;
typedef tcuModuleGetGlobal_v2 tcuModuleGetGlobal;
typedef tcuGraphicsResourceGetMappedPointer_v2 tcuGraphicsResourceGetMappedPointer;
typedef CUresult CUDAAPI tcuD3D11GetDevice(CUdevice *device, void *adapter);
typedef CUresult CUDAAPI tcuD3D11GetDevices(unsigned int *out_count, CUdevice *devices, unsigned int count,
                                            void *d3d11_device, unsigned int list);
typedef CUresult CUDAAPI tcuGraphicsD3D11RegisterResource(CUgraphicsResource *out_resource, void *d3d11_resource,
                                                          unsigned int flags);

#endif
