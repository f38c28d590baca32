/* SPDX-License-Identifier: MIT */
/* A correct program that contains cushim, and uses its stream layer. */
#include <stdint.h>

#include "cushim/cushim.h"

enum { SIZE = 1 << 16 };

static CUresult run(struct cushim_stream *stream, struct cushim_stream *other, CUdeviceptr memory)
{
    CUresult result = CUDA_SUCCESS, status;
    for (unsigned i = 0; result == CUDA_SUCCESS && i < 40; i++) {
        struct cushim_completion *completion;
        result = CUSHIM_CALL(MemsetD8Async_v1, memory, 'a', SIZE, cushim_stream_handle(stream));
        if (result == CUDA_SUCCESS)
            result = cushim_stream_wait_for(other, stream);
        if (result == CUDA_SUCCESS)
            result = CUSHIM_CALL(MemsetD8Async_v1, memory, 'b', SIZE, cushim_stream_handle(other));
        if (result == CUDA_SUCCESS)
            result = cushim_completion_create(other, i % 2 == 0 ? 0 : CUSHIM_COMPLETION_NOTIFYING, &completion);
        if (result != CUDA_SUCCESS)
            break;
        result = cushim_completion_wait(completion, UINT64_MAX, &status);
        cushim_completion_destroy(&completion);
    }
    return result;
}

int main(void)
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL, *other = NULL;
    CUdeviceptr memory = 0;
    CUresult result = cushim_init();
    if (result == CUDA_SUCCESS)
        result = cushim_context_create(0, 0, &context);
    if (result == CUDA_SUCCESS)
        result = CUSHIM_CALL(CtxSetCurrent_v1, cushim_context_handle(context));
    if (result == CUDA_SUCCESS)
        result = CUSHIM_CALL(MemAlloc_v2, &memory, SIZE);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &other);
    if (result == CUDA_SUCCESS)
        result = run(stream, other, memory);
    cushim_stream_destroy(&stream);
    cushim_stream_destroy(&other);
    if (memory != 0)
        CUSHIM_CALL(MemFree_v2, memory);
    cushim_context_destroy(&context);
    return result == CUDA_SUCCESS ? 0 : 1;
}
