/* SPDX-License-Identifier: MIT */
/* cuda.h - for machines without a Toolkit: the declarations of <cuda.h> that program.cpp needs, with its renaming. */
#ifndef CUSHIM_TEST_MINIMAL_CUDA_H
#define CUSHIM_TEST_MINIMAL_CUDA_H

#define CUSHIM_OWN_TYPES 1
#include "cushim/abi/cuda_abi.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#    define PTSZ(name) name##_ptsz
#else
#    define PTSZ(name) name
#endif
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuEventRecord PTSZ(cuEventRecord)
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemcpyDtoHAsync PTSZ(cuMemcpyDtoHAsync_v2)
#define cuMemcpyHtoDAsync PTSZ(cuMemcpyHtoDAsync_v2)
#define cuStreamDestroy cuStreamDestroy_v2
#define cuStreamQuery PTSZ(cuStreamQuery)
#define cuStreamSynchronize PTSZ(cuStreamSynchronize)

extern "C" {
CUresult CUDAAPI cuInit(unsigned Flags);
CUresult CUDAAPI cuGetErrorName(CUresult error, const char **pStr);
CUresult CUDAAPI cuDeviceGetCount(int *count);
CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal);
CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev);
CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice dev);
CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx);
CUresult CUDAAPI cuMemAlloc(CUdeviceptr *dptr, size_t bytesize);
CUresult CUDAAPI cuMemFree(CUdeviceptr dptr);
CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream);
CUresult CUDAAPI cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream);
CUresult CUDAAPI cuStreamCreate(CUstream *phStream, unsigned Flags);
CUresult CUDAAPI cuStreamDestroy(CUstream hStream);
CUresult CUDAAPI cuStreamQuery(CUstream hStream);
CUresult CUDAAPI cuStreamSynchronize(CUstream hStream);
CUresult CUDAAPI cuEventCreate(CUevent *phEvent, unsigned Flags);
CUresult CUDAAPI cuEventDestroy(CUevent hEvent);
CUresult CUDAAPI cuEventRecord(CUevent hEvent, CUstream hStream);
CUresult CUDAAPI cuEventSynchronize(CUevent hEvent);
}

#endif
