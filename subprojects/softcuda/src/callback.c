/* SPDX-License-Identifier: MIT */
/* Host functions and status callbacks. */
#include "callback.h"

#include "capture.h"
#include "queue.h"
#include "stream.h"

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
