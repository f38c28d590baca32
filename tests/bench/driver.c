/* SPDX-License-Identifier: MIT */
/* The smallest libcuda.so.1 that cushim accepts, with one function to call: call_count runs on it. */
#include "cushim/abi/cuda_abi.h"

CUresult CUDAAPI cuInit(unsigned int flags);
CUresult CUDAAPI cuDriverGetVersion(int *out_version);
CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out_status);

CUresult CUDAAPI cuInit(unsigned int flags)
{
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuDriverGetVersion(int *out_version)
{
    *out_version = 10000;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out_status)
{
    (void)stream;
    *out_status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
