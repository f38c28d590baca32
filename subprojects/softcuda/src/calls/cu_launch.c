/* SPDX-License-Identifier: MIT */
/* Launches of kernels and host functions, and status callbacks. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

/* The buffer that `extra` describes, if any: pairs of a key and a value, up to the end key. */
static CUresult arguments_read_extra(void **extra, const void **out_buffer, size_t *out_size)
{
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *out_buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *out_size = *(const size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return *out_buffer == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Copies the arguments: the array of pointers first, then the values. */
static CUresult arguments_pack(const struct function *function, void **params, void **extra, void ***out_arguments)
{
    const void *buffer = NULL;
    size_t size = 0;
    if (params != NULL && extra != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (params == NULL && extra == NULL && function->count > 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra != NULL) {
        CUresult result = arguments_read_extra(extra, &buffer, &size);
        if (result != CUDA_SUCCESS)
            return result;
        if (size < function->buffer_size)
            return CUDA_ERROR_INVALID_VALUE;
    }
    size_t head = (function->count + 1) * sizeof(void *);
    head = (head + MAX_ARGUMENT_ALIGNMENT - 1) / MAX_ARGUMENT_ALIGNMENT * MAX_ARGUMENT_ALIGNMENT;
    void **arguments = malloc(head + function->buffer_size);
    if (arguments == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < function->count; i++) {
        arguments[i] = (char *)arguments + head + function->offsets[i];
        const void *from = params != NULL ? params[i] : (const char *)buffer + function->offsets[i];
        if (from == NULL) {
            free(arguments);
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(arguments[i], from, function->sizes[i]);
    }
    *out_arguments = arguments;
    return CUDA_SUCCESS;
}

CUresult work_from_kernel(const CUDA_KERNEL_NODE_PARAMS_v2 *params, struct work **out_work)
{
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const void *handle = params->func != NULL ? (const void *)params->func : (const void *)params->kern;
    struct function *function = handle_find(OBJECT_FUNCTION, handle);
    if (function == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    const unsigned block[3] = {params->blockDimX, params->blockDimY, params->blockDimZ};
    const unsigned grid[3] = {params->gridDimX, params->gridDimY, params->gridDimZ};
    bool empty = false;
    for (int i = 0; i < 3; i++)
        empty = empty || grid[i] == 0 || block[i] == 0;
    if (empty || (uint64_t)block[0] * block[1] > MAX_THREADS || (uint64_t)block[0] * block[1] * block[2] > MAX_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    void **arguments = NULL;
    CUresult result = arguments_pack(function, params->kernelParams, params->extra, &arguments);
    if (result != CUDA_SUCCESS)
        return result;
    struct work *work = work_new(WORK_KERNEL);
    if (work == NULL) {
        free(arguments);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    object_ref(function);
    work->kernel.function = function;
    work->kernel.arguments = arguments;
    work->kernel.shared = params->sharedMemBytes;
    memcpy(work->kernel.grid, grid, sizeof grid);
    memcpy(work->kernel.block, block, sizeof block);
    *out_work = work;
    return CUDA_SUCCESS;
}

static CUresult kernel_launch(const CUDA_KERNEL_NODE_PARAMS_v2 *params, CUstream hStream)
{
    struct stream *stream = NULL;
    struct work *work = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = work_from_kernel(params, &work);
    return result == CUDA_SUCCESS ? queue_submit(stream, work) : result;
}

CUresult soft_LaunchKernel_v1(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                              unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                              unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
    const CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = f,
                                               .gridDimX = gridDimX,
                                               .gridDimY = gridDimY,
                                               .gridDimZ = gridDimZ,
                                               .blockDimX = blockDimX,
                                               .blockDimY = blockDimY,
                                               .blockDimZ = blockDimZ,
                                               .sharedMemBytes = sharedMemBytes,
                                               .kernelParams = kernelParams,
                                               .extra = extra};
    return kernel_launch(&params, hStream);
}

CUresult soft_LaunchCooperativeKernel_v1(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                         unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                         unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                         void **kernelParams)
{
    return soft_LaunchKernel_v1(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
                                hStream, kernelParams, NULL);
}

/* Attributes are hints for the scheduler of a GPU. They have no effect here. */
CUresult soft_LaunchKernelEx_v1(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    if (config == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return soft_LaunchKernel_v1(f, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                                config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream,
                                kernelParams, extra);
}

CUresult work_from_host(CUhostFn function, void *data, struct work **out_work)
{
    if (function == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct work *work = work_new(WORK_HOST);
    if (work == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->host.function = function;
    work->host.data = data;
    *out_work = work;
    return CUDA_SUCCESS;
}

CUresult soft_LaunchHostFunc_v1(CUstream hStream, CUhostFn fn, void *userData)
{
    struct stream *stream = NULL;
    struct work *work = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = work_from_host(fn, userData, &work);
    return result == CUDA_SUCCESS ? queue_submit(stream, work) : result;
}

CUresult soft_StreamAddCallback_v1(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (callback == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = capture_forbid(stream); /* unlike a host function, it cannot be captured */
    if (result != CUDA_SUCCESS)
        return result;
    struct work *work = work_new(WORK_STATUS);
    if (work != NULL) {
        work->status.function = callback;
        work->status.data = userData;
        work->status.stream = hStream;
    }
    return queue_submit(stream, work);
}
