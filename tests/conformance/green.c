/* SPDX-License-Identifier: MIT */
/* Streams and green contexts. */
#include <string.h>

#include "fixture.h"

CHECK(stream, "green.stream", .needs = {S(GreenCtxStreamCreate_v1), S(StreamGetCtx_v2)})
{
    CUgreenCtx green = green_new();
    CUgreenCtx found = NULL;
    CUcontext context = NULL;
    CUcontext of_green = NULL;
    CUstream stream = NULL;
    CUdevice device = -1;
    unsigned flags = 99;
    expect("blocking", cu->GreenCtxStreamCreate_v1(&stream, green, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
    expect("unknown-flag", cu->GreenCtxStreamCreate_v1(&stream, green, 3, 0), CUDA_ERROR_INVALID_VALUE);
    expect("null-green", cu->GreenCtxStreamCreate_v1(&stream, NULL, CU_STREAM_NON_BLOCKING, 0),
           CUDA_ERROR_INVALID_CONTEXT);
    expect("null-out", cu->GreenCtxStreamCreate_v1(NULL, green, CU_STREAM_NON_BLOCKING, 0), CUDA_ERROR_INVALID_VALUE);
    if (expect("code", cu->GreenCtxStreamCreate_v1(&stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS)
        != CUDA_SUCCESS)
        return;
    expect("green-of-stream", cu->StreamGetGreenCtx_v1(stream, &found), CUDA_SUCCESS);
    expect_true("green-is", found == green);
    expect("context-v1", cu->StreamGetCtx_v1(stream, &context), CUDA_SUCCESS);
    require("context-of-green", cu->CtxFromGreenCtx_v1(&of_green, green));
    expect_text("context-v1-is", context == the_context ? "primary" : context == of_green ? "green" : "other", "green");
    found = NULL;
    expect("context-v2", cu->StreamGetCtx_v2(stream, &context, &found), CUDA_SUCCESS);
    expect_text("context-v2-is",
                context == the_context ? "primary"
                : context == of_green  ? "green"
                                       : "other",
                "primary");
    expect_true("context-v2-green-is", found == green);
    expect("context-v2-green-only", cu->StreamGetCtx_v2(stream, NULL, &found), CUDA_SUCCESS);
    const CUcontext currents[] = {the_context, NULL, of_green};
    static const char *const names[] = {"primary", "none", "green"};
    for (int i = 0; i < 3; i++) {
        require("set", cu->CtxSetCurrent_v1(currents[i]));
        observe_stream(key_of("while-current", names[i], NULL), stream);
    }
    require("set", cu->CtxSetCurrent_v1(the_context));
    expect("device-of-green", cu->CtxGetDevice_v2(&device, of_green), CUDA_SUCCESS);
    expect("synchronize-green", cu->CtxSynchronize_v2(of_green), CUDA_SUCCESS);
    expect_true("current-stays", strcmp(current_word(), "primary") == 0);
    expect("device", cu->StreamGetDevice_v1(stream, &device), CUDA_SUCCESS);
    expect("flags", cu->StreamGetFlags_v1(stream, &flags), CUDA_SUCCESS);
    expect_number("flags-are", flags, 1);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    stream_end(stream);
}

CHECK(of_plain_stream, "green.of-plain-stream", .needs = {S(StreamGetGreenCtx_v1)})
{
    CUstream stream = stream_new();
    CUgreenCtx found = UNTOUCHED_HANDLE;
    expect("code", cu->StreamGetGreenCtx_v1(stream, &found), CUDA_SUCCESS);
    expect_true("is-null", found == NULL);
    expect("null", cu->StreamGetGreenCtx_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    expect("zero", cu->StreamGetGreenCtx_v1(NULL, &found), CUDA_SUCCESS);
}

/* The manuals: "Specifying the per-thread stream while a green context is current returns INVALID_HANDLE". */
CHECK(current, "green.current", .needs = {S(GreenCtxCreate_v1)})
{
    CUgreenCtx green = green_new();
    CUgreenCtx found = NULL;
    CUcontext of_green = NULL;
    CUcontext context = NULL;
    CUdevice device = -1;
    unsigned long long id = 0;
    CUstream plain = stream_new();
    require("context-of-green", cu->CtxFromGreenCtx_v1(&of_green, green));
    expect("set", cu->CtxSetCurrent_v1(of_green), CUDA_SUCCESS);
    expect("per-thread-green", cu->StreamGetGreenCtx_v1(CU_STREAM_PER_THREAD, &found), CUDA_ERROR_INVALID_HANDLE);
    expect("zero-green", cu->StreamGetGreenCtx_v1(NULL, &found), CUDA_SUCCESS);
    if (require_slot("per-thread-context", S(StreamGetCtx_v2))) {
        expect("per-thread-context", cu->StreamGetCtx_v2(CU_STREAM_PER_THREAD, &context, &found),
               CUDA_ERROR_INVALID_HANDLE);
        expect("zero-context", cu->StreamGetCtx_v2(NULL, &context, &found), CUDA_SUCCESS);
    }
    expect("zero-context-v1", cu->StreamGetCtx_v1(NULL, &context), CUDA_SUCCESS);
    expect("per-thread-context-v1", cu->StreamGetCtx_v1(CU_STREAM_PER_THREAD, &context), CUDA_ERROR_INVALID_HANDLE);
    expect("per-thread-device", cu->StreamGetDevice_v1(CU_STREAM_PER_THREAD, &device), CUDA_ERROR_INVALID_HANDLE);
    expect("zero-device", cu->StreamGetDevice_v1(NULL, &device), CUDA_SUCCESS);
    expect("device-of-current", cu->CtxGetDevice_v2(&device, NULL), CUDA_SUCCESS);
    expect("synchronize-current", cu->CtxSynchronize_v2(NULL), CUDA_SUCCESS);
    observe_stream("plain", plain);
    observe_stream("zero", NULL);
    expect("per-thread-query", cu->StreamQuery_v1(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE);
    expect("zero-query", cu->StreamQuery_v1(NULL), CUDA_SUCCESS);
    expect("per-thread-id", cu->StreamGetId_v1(CU_STREAM_PER_THREAD, &id), CUDA_ERROR_INVALID_HANDLE);
    CUstream stream = NULL;
    expect("plain-create", cu->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    if (stream != NULL)
        stream_end(stream);
}
