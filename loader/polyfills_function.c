/* SPDX-License-Identifier: MIT */
/*
 * Polyfills: the number of parameters of a function and of a kernel (13.2). The older entry point describes one
 * parameter and returns CUDA_ERROR_INVALID_VALUE after the last one. It returns that for a wrong handle, too, so the
 * name is asked first.
 */
#include "polyfill.h"

CUresult CUDAAPI POLYFILL(FuncGetParamCount_v1)(CUfunction func, size_t *paramCount)
{
    size_t count = 0;
    size_t offset;
    size_t size;
    const char *name;
    if (func == NULL || paramCount == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = TABLE->FuncGetName_v1(&name, func);
    if (result != CUDA_SUCCESS)
        return result;
    while ((result = TABLE->FuncGetParamInfo_v1(func, count, &offset, &size)) == CUDA_SUCCESS)
        count++;
    if (result != CUDA_ERROR_INVALID_VALUE)
        return result;
    *paramCount = count;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI POLYFILL(KernelGetParamCount_v1)(CUkernel kernel, size_t *paramCount)
{
    size_t count = 0;
    size_t offset;
    size_t size;
    const char *name;
    if (kernel == NULL || paramCount == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = TABLE->KernelGetName_v1(&name, kernel);
    if (result != CUDA_SUCCESS)
        return result;
    while ((result = TABLE->KernelGetParamInfo_v1(kernel, count, &offset, &size)) == CUDA_SUCCESS)
        count++;
    if (result != CUDA_ERROR_INVALID_VALUE)
        return result;
    *paramCount = count;
    return CUDA_SUCCESS;
}
