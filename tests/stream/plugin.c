/* SPDX-License-Identifier: MIT */
/* A plug-in with its own copy of cushim. It leaves a callback pending in the driver. */
#include "plugin.h"

static void do_nothing(CUresult status, void *user)
{
}

static CUresult complete_twice(struct cushim_stream *stream)
{
    struct cushim_completion *waited = NULL, *detached = NULL;
    CUresult result = cushim_completion_create(stream, 0, &waited);
    if (result == CUDA_SUCCESS)
        result = cushim_completion_wait(waited, CUSHIM_FOREVER, NULL);
    cushim_completion_destroy(&waited);
    if (result == CUDA_SUCCESS)
        result = cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &detached);
    if (result == CUDA_SUCCESS)
        result = cushim_completion_set_inline_callback(detached, do_nothing, NULL, NULL);
    cushim_completion_detach(&detached);
    return result;
}

/* The driver explains the failure to this copy of cushim, also if the copy was unloaded before. */
static CUresult fail_with_message(void)
{
    CUdeviceptr memory;
    CUresult result = CUSHIM_CALL(MemAlloc_v2, &memory, 0);
    return result == CUDA_ERROR_INVALID_VALUE && cushim_error_last()->driver_message != NULL ? CUDA_SUCCESS
                                                                                             : CUDA_ERROR_UNKNOWN;
}

__attribute__((visibility("default"))) CUresult plugin_use(const struct cushim_diagnosis **out_diagnosis)
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    CUresult result = cushim_context_create_primary(0, &context);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream);
    if (result == CUDA_SUCCESS)
        result = complete_twice(stream);
    if (result == CUDA_SUCCESS)
        result = fail_with_message();
    cushim_stream_destroy(&stream);
    cushim_context_destroy(&context);
    *out_diagnosis = cushim_diagnosis_get();
    return result;
}
