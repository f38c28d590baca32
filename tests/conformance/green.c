/* SPDX-License-Identifier: MIT */
/* Streams and green contexts. */
#include <string.h>

#include "fixture.h"

static void stream(void)
{
    CUgreenCtx green = green_new();
    CUgreenCtx found = NULL;
    CUcontext context = NULL;
    CUcontext of_green = NULL;
    CUstream stream = NULL;
    CUdevice device = -1;
    unsigned flags = 99;
    if (green == NULL)
        return;
    saw("blocking", cu->GreenCtxStreamCreate_v1(&stream, green, CU_STREAM_DEFAULT, 0));
    saw("unknown-flag", cu->GreenCtxStreamCreate_v1(&stream, green, 3, 0));
    saw("null-green", cu->GreenCtxStreamCreate_v1(&stream, NULL, CU_STREAM_NON_BLOCKING, 0));
    saw("null-out", cu->GreenCtxStreamCreate_v1(NULL, green, CU_STREAM_NON_BLOCKING, 0));
    if (rule("code", cu->GreenCtxStreamCreate_v1(&stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS)
        != CUDA_SUCCESS)
        return;
    rule("green-of-stream", cu->StreamGetGreenCtx_v1(stream, &found), CUDA_SUCCESS);
    rule_fact("green-is", found == green);
    saw("context-v1", cu->StreamGetCtx_v1(stream, &context));
    need("context-of-green", cu->CtxFromGreenCtx_v1(&of_green, green));
    saw_text("context-v1-is", context == the_context ? "primary" : context == of_green ? "green" : "other");
    found = NULL;
    rule("context-v2", cu->StreamGetCtx_v2(stream, &context, &found), CUDA_SUCCESS);
    saw_text("context-v2-is", context == the_context ? "primary" : context == of_green ? "green" : "other");
    rule_fact("context-v2-green-is", found == green);
    saw("context-v2-green-only", cu->StreamGetCtx_v2(stream, NULL, &found));
    const CUcontext currents[] = {the_context, NULL, of_green};
    static const char *const names[] = {"primary", "none", "green"};
    for (int i = 0; i < 3; i++) {
        need("set", cu->CtxSetCurrent_v1(currents[i]));
        saw_stream(key_of("while-current", names[i], NULL), stream);
    }
    need("set", cu->CtxSetCurrent_v1(the_context));
    rule("device-of-green", cu->CtxGetDevice_v2(&device, of_green), CUDA_SUCCESS);
    rule("synchronize-green", cu->CtxSynchronize_v2(of_green), CUDA_SUCCESS);
    rule_fact("current-stays", strcmp(current_word(), "primary") == 0);
    saw("device", cu->StreamGetDevice_v1(stream, &device));
    rule("flags", cu->StreamGetFlags_v1(stream, &flags), CUDA_SUCCESS);
    saw_number("flags-are", flags);
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    stream_end(stream);
    need("green-destroy", cu->GreenCtxDestroy_v1(green));
}

static void of_plain_stream(void)
{
    CUstream stream = stream_new();
    CUgreenCtx found = UNTOUCHED_HANDLE;
    rule("code", cu->StreamGetGreenCtx_v1(stream, &found), CUDA_SUCCESS);
    rule_fact("is-null", found == NULL);
    saw("null", cu->StreamGetGreenCtx_v1(stream, NULL));
    saw("zero", cu->StreamGetGreenCtx_v1(NULL, &found));
    stream_end(stream);
}

/* The manuals: "Specifying the per-thread stream while a green context is current returns INVALID_HANDLE". */
static void current(void)
{
    CUgreenCtx green = green_new();
    CUgreenCtx found = NULL;
    CUcontext of_green = NULL;
    CUcontext context = NULL;
    CUdevice device = -1;
    unsigned long long id = 0;
    CUstream plain = stream_new();
    if (green == NULL)
        return;
    need("context-of-green", cu->CtxFromGreenCtx_v1(&of_green, green));
    rule("set", cu->CtxSetCurrent_v1(of_green), CUDA_SUCCESS);
    saw("per-thread-green", cu->StreamGetGreenCtx_v1(CU_STREAM_PER_THREAD, &found));
    saw("zero-green", cu->StreamGetGreenCtx_v1(NULL, &found));
    if (have("per-thread-context", S(StreamGetCtx_v2))) {
        saw("per-thread-context", cu->StreamGetCtx_v2(CU_STREAM_PER_THREAD, &context, &found));
        saw("zero-context", cu->StreamGetCtx_v2(NULL, &context, &found));
    }
    saw("zero-context-v1", cu->StreamGetCtx_v1(NULL, &context));
    saw("per-thread-context-v1", cu->StreamGetCtx_v1(CU_STREAM_PER_THREAD, &context));
    saw("per-thread-device", cu->StreamGetDevice_v1(CU_STREAM_PER_THREAD, &device));
    saw("zero-device", cu->StreamGetDevice_v1(NULL, &device));
    saw("device-of-current", cu->CtxGetDevice_v2(&device, NULL));
    saw("synchronize-current", cu->CtxSynchronize_v2(NULL));
    saw_stream("plain", plain);
    saw_stream("zero", NULL);
    saw("per-thread-query", cu->StreamQuery_v1(CU_STREAM_PER_THREAD));
    saw("zero-query", cu->StreamQuery_v1(NULL));
    saw("per-thread-id", cu->StreamGetId_v1(CU_STREAM_PER_THREAD, &id));
    CUstream stream = NULL;
    saw("plain-create", cu->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING));
    if (stream != NULL)
        stream_end(stream);
    stream_end(plain);
    need("back", cu->CtxSetCurrent_v1(the_context));
    need("green-destroy", cu->GreenCtxDestroy_v1(green));
}

static const struct check checks[] = {
    {"green.stream", stream, 0, {S(GreenCtxStreamCreate_v1), S(StreamGetCtx_v2)}},
    {"green.of-plain-stream", of_plain_stream, 0, {S(StreamGetGreenCtx_v1)}},
    {"green.current", current, 0, {S(GreenCtxCreate_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_green = {"green", checks};
