/* SPDX-License-Identifier: MIT */
/* Properties of a stream: flags, priority, id, device, context. */
#include "fixture.h"

/* A property that is a number: of each special stream, and without a current context, where the first `count` special
 * streams are queried. */
static void special_numbers(CUresult (*get)(CUstream, int *), CUstream stream, int count)
{
    int value = 99;
    for (int i = 0; i < 3; i++) {
        value = 99;
        expect(specials[i].name, get(specials[i].stream, &value), CUDA_SUCCESS);
        expect_number(key_format("%s-is", specials[i].name), value, 0);
    }
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", get(stream, &value), CUDA_SUCCESS);
    for (int i = 0; i < count; i++)
        expect(key_format("no-context-%s", specials[i].name), get(specials[i].stream, &value),
               CUDA_ERROR_INVALID_CONTEXT);
}

static CUresult get_flags(CUstream stream, int *out_value)
{
    unsigned flags = (unsigned)*out_value;
    CUresult result = cu->StreamGetFlags_v1(stream, &flags);
    *out_value = (int)flags;
    return result;
}

CHECK(flags, "property.flags", .needs = {S(StreamGetFlags_v1)})
{
    CUstream stream = stream_new();
    unsigned value = 99;
    expect("blocking", cu->StreamGetFlags_v1(stream_blocking(), &value), CUDA_SUCCESS);
    expect_number("blocking-is", value, CU_STREAM_DEFAULT);
    expect("non-blocking", cu->StreamGetFlags_v1(stream, &value), CUDA_SUCCESS);
    expect_number("non-blocking-is", value, CU_STREAM_NON_BLOCKING);
    expect("null", cu->StreamGetFlags_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    special_numbers(get_flags, stream, 3);
}

CHECK(priority, "property.priority", .needs = {S(StreamGetPriority_v1)})
{
    CUstream stream = stream_new();
    int value = 99;
    expect("code", cu->StreamGetPriority_v1(stream, &value), CUDA_SUCCESS);
    expect_number("is", value, 0);
    expect("null", cu->StreamGetPriority_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    special_numbers(cu->StreamGetPriority_v1, stream, 2);
}

struct remote_id {
    unsigned long long per_thread;
};

static void query_id_there(void *user)
{
    struct remote_id *remote = user;
    require("id", cu->StreamGetId_v1(CU_STREAM_PER_THREAD, &remote->per_thread));
}

CHECK(id, "property.id", .needs = {S(StreamGetId_v1)})
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    unsigned long long first = 0;
    unsigned long long second = 0;
    expect("code", cu->StreamGetId_v1(stream, &first), CUDA_SUCCESS);
    expect("other", cu->StreamGetId_v1(other, &second), CUDA_SUCCESS);
    expect_true("differ", first != second);
    expect_true("grow", second > first);
    expect_number("step", (long long)(second - first), 1);
    expect("again", cu->StreamGetId_v1(stream, &second), CUDA_SUCCESS);
    expect_true("stays", first == second);
    expect("null", cu->StreamGetId_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    stream_end(stream);
    CUstream reused = stream_new();
    require("id", cu->StreamGetId_v1(reused, &second));
    expect_true("new-for-new-stream", first != second);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->StreamGetId_v1(reused, &second), CUDA_SUCCESS);
    expect("no-context-zero", cu->StreamGetId_v1(NULL, &second), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(id_special, "property.id-special", .needs = {S(StreamGetId_v1)})
{
    unsigned long long zero = 0;
    unsigned long long legacy = 0;
    unsigned long long here = 0;
    struct remote_id there = {0};
    expect("zero", cu->StreamGetId_v1(NULL, &zero), CUDA_SUCCESS);
    expect("legacy", cu->StreamGetId_v1(CU_STREAM_LEGACY, &legacy), CUDA_SUCCESS);
    expect("per-thread", cu->StreamGetId_v1(CU_STREAM_PER_THREAD, &here), CUDA_SUCCESS);
    expect_true("zero-is-legacy", zero == legacy);
    observe_bool("zero-is-per-thread", zero == here);
    on_thread(query_id_there, &there);
    expect_true("per-thread-differs-by-thread", here != there.per_thread);
}

CHECK(device, "property.device", .needs = {S(StreamGetDevice_v1)})
{
    CUstream stream = stream_new();
    CUdevice device = -1;
    expect("code", cu->StreamGetDevice_v1(stream, &device), CUDA_SUCCESS);
    expect_true("is", device == the_device);
    expect("null", cu->StreamGetDevice_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 3; i++)
        expect(specials[i].name, cu->StreamGetDevice_v1(specials[i].stream, &device), CUDA_SUCCESS);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->StreamGetDevice_v1(stream, &device), CUDA_SUCCESS);
    expect("no-context-zero", cu->StreamGetDevice_v1(NULL, &device), CUDA_ERROR_INVALID_CONTEXT);
    expect("no-context-legacy", cu->StreamGetDevice_v1(CU_STREAM_LEGACY, &device), CUDA_ERROR_INVALID_CONTEXT);
    CUcontext current = the_context;
    require("current", cu->CtxGetCurrent_v1(&current));
    expect_true("no-context-left", current == NULL);
}

CHECK(context, "property.context", .needs = {S(StreamGetCtx_v1)})
{
    CUstream stream = stream_new();
    CUcontext context = NULL;
    expect("code", cu->StreamGetCtx_v1(stream, &context), CUDA_SUCCESS);
    expect_true("is", context == the_context);
    expect("null", cu->StreamGetCtx_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    context = NULL;
    expect("zero", cu->StreamGetCtx_v1(NULL, &context), CUDA_SUCCESS);
    expect_true("zero-is-current", context == the_context);
    expect("legacy", cu->StreamGetCtx_v1(CU_STREAM_LEGACY, &context), CUDA_SUCCESS);
    expect("per-thread", cu->StreamGetCtx_v1(CU_STREAM_PER_THREAD, &context), CUDA_SUCCESS);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->StreamGetCtx_v1(stream, &context), CUDA_SUCCESS);
    expect("no-context-zero", cu->StreamGetCtx_v1(NULL, &context), CUDA_ERROR_INVALID_CONTEXT);
    expect("no-context-per-thread", cu->StreamGetCtx_v1(CU_STREAM_PER_THREAD, &context), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(context_and_green, "property.context-v2", .needs = {S(StreamGetCtx_v2)})
{
    CUstream stream = stream_new();
    CUcontext context = NULL;
    CUgreenCtx green = UNTOUCHED_HANDLE;
    expect("code", cu->StreamGetCtx_v2(stream, &context, &green), CUDA_SUCCESS);
    expect_true("is", context == the_context);
    expect_true("green-is-null", green == NULL);
    context = NULL;
    green = UNTOUCHED_HANDLE;
    expect("without-green", cu->StreamGetCtx_v2(stream, &context, NULL), CUDA_SUCCESS);
    expect_true("without-green-is", context == the_context);
    expect("without-context", cu->StreamGetCtx_v2(stream, NULL, &green), CUDA_SUCCESS);
    expect_true("without-context-is-null", green == NULL);
    expect("without-both", cu->StreamGetCtx_v2(stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    expect("zero", cu->StreamGetCtx_v2(NULL, &context, &green), CUDA_SUCCESS);
    expect("legacy", cu->StreamGetCtx_v2(CU_STREAM_LEGACY, &context, &green), CUDA_SUCCESS);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->StreamGetCtx_v2(stream, &context, &green), CUDA_SUCCESS);
    expect("no-context-zero", cu->StreamGetCtx_v2(NULL, &context, &green), CUDA_ERROR_INVALID_CONTEXT);
}

/* A stream of a context that is not current. */
CHECK(other_context, "property.other-context", .needs = {S(CtxCreate_v2)})
{
    CUcontext found = NULL;
    CUstream stream = NULL;
    unsigned flags = 99;
    CUcontext second = context_second();
    stream = stream_new();
    require("pop", cu->CtxPopCurrent_v2(&found));
    expect("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    expect("flags", cu->StreamGetFlags_v1(stream, &flags), CUDA_SUCCESS);
    if (require_slot("context", S(StreamGetCtx_v1))) {
        expect("context", cu->StreamGetCtx_v1(stream, &found), CUDA_SUCCESS);
        expect_true("context-is-its-own", found == second);
    }
    require("current", cu->CtxGetCurrent_v1(&found));
    expect_true("current-stays", found == the_context);
}

/* Queries each kind of stream while each context is current. */
CHECK(of_each, "property.of-each", .needs = {S(StreamGetDevice_v1), S(StreamGetCtx_v2)})
{
    static const char *const names[] = {"created", "blocking", "zero", "legacy", "per-thread"};
    CUstream streams[] = {stream_new(), stream_blocking(), NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    CUcontext contexts[CONTEXT_COUNT];
    contexts_new(contexts);
    for (int i = 0; i < 5 * CONTEXT_COUNT; i++) {
        require("set", cu->CtxSetCurrent_v1(contexts[i / 5]));
        observe_stream(key_of(context_names[i / 5], names[i % 5], NULL), streams[i % 5]);
    }
}
