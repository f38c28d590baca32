/* SPDX-License-Identifier: MIT */
/* Properties of a stream: flags, priority, id, device, context. */
#include "fixture.h"

static void flags(void)
{
    CUstream blocking = stream_blocking();
    CUstream other = stream_new();
    unsigned value = 99;
    rule("blocking", cu->StreamGetFlags_v1(blocking, &value), CUDA_SUCCESS);
    rule_number("blocking-is", value, CU_STREAM_DEFAULT);
    rule("non-blocking", cu->StreamGetFlags_v1(other, &value), CUDA_SUCCESS);
    rule_number("non-blocking-is", value, CU_STREAM_NON_BLOCKING);
    rule("null", cu->StreamGetFlags_v1(other, NULL), CUDA_ERROR_INVALID_VALUE);
    value = 99;
    saw("zero", cu->StreamGetFlags_v1(NULL, &value));
    saw_number("zero-is", value);
    value = 99;
    saw("legacy", cu->StreamGetFlags_v1(CU_STREAM_LEGACY, &value));
    saw_number("legacy-is", value);
    value = 99;
    saw("per-thread", cu->StreamGetFlags_v1(CU_STREAM_PER_THREAD, &value));
    saw_number("per-thread-is", value);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->StreamGetFlags_v1(other, &value), CUDA_SUCCESS);
    saw("no-context-zero", cu->StreamGetFlags_v1(NULL, &value));
    saw("no-context-legacy", cu->StreamGetFlags_v1(CU_STREAM_LEGACY, &value));
    saw("no-context-per-thread", cu->StreamGetFlags_v1(CU_STREAM_PER_THREAD, &value));
    stream_end(blocking);
    stream_end(other);
}

static void priority(void)
{
    CUstream stream = stream_new();
    int value = 99;
    rule("code", cu->StreamGetPriority_v1(stream, &value), CUDA_SUCCESS);
    rule_number("is", value, 0);
    rule("null", cu->StreamGetPriority_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    value = 99;
    saw("zero", cu->StreamGetPriority_v1(NULL, &value));
    saw_number("zero-is", value);
    value = 99;
    saw("legacy", cu->StreamGetPriority_v1(CU_STREAM_LEGACY, &value));
    saw_number("legacy-is", value);
    value = 99;
    saw("per-thread", cu->StreamGetPriority_v1(CU_STREAM_PER_THREAD, &value));
    saw_number("per-thread-is", value);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->StreamGetPriority_v1(stream, &value), CUDA_SUCCESS);
    saw("no-context-zero", cu->StreamGetPriority_v1(NULL, &value));
    saw("no-context-legacy", cu->StreamGetPriority_v1(CU_STREAM_LEGACY, &value));
    stream_end(stream);
}

struct remote_id {
    unsigned long long per_thread;
};

static void query_id_there(void *user)
{
    struct remote_id *remote = user;
    need("id", cu->StreamGetId_v1(CU_STREAM_PER_THREAD, &remote->per_thread));
}

static void id(void)
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    unsigned long long first = 0;
    unsigned long long second = 0;
    rule("code", cu->StreamGetId_v1(stream, &first), CUDA_SUCCESS);
    rule("other", cu->StreamGetId_v1(other, &second), CUDA_SUCCESS);
    rule_fact("differ", first != second);
    saw_fact("grow", second > first);
    saw_number("step", (long long)(second - first));
    rule("again", cu->StreamGetId_v1(stream, &second), CUDA_SUCCESS);
    rule_fact("stays", first == second);
    rule("null", cu->StreamGetId_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    stream_end(stream);
    CUstream reused = stream_new();
    need("id", cu->StreamGetId_v1(reused, &second));
    rule_fact("new-for-new-stream", first != second);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->StreamGetId_v1(reused, &second), CUDA_SUCCESS);
    saw("no-context-zero", cu->StreamGetId_v1(NULL, &second));
    stream_end(reused);
    stream_end(other);
}

static void id_special(void)
{
    unsigned long long zero = 0;
    unsigned long long legacy = 0;
    unsigned long long here = 0;
    struct remote_id there = {0};
    rule("zero", cu->StreamGetId_v1(NULL, &zero), CUDA_SUCCESS);
    rule("legacy", cu->StreamGetId_v1(CU_STREAM_LEGACY, &legacy), CUDA_SUCCESS);
    rule("per-thread", cu->StreamGetId_v1(CU_STREAM_PER_THREAD, &here), CUDA_SUCCESS);
    saw_fact("zero-is-legacy", zero == legacy);
    saw_fact("zero-is-per-thread", zero == here);
    on_thread(query_id_there, &there);
    saw_fact("per-thread-differs-by-thread", here != there.per_thread);
}

static void device(void)
{
    CUstream stream = stream_new();
    CUdevice device = -1;
    rule("code", cu->StreamGetDevice_v1(stream, &device), CUDA_SUCCESS);
    rule_fact("is", device == the_device);
    rule("null", cu->StreamGetDevice_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    rule("zero", cu->StreamGetDevice_v1(NULL, &device), CUDA_SUCCESS);
    rule("legacy", cu->StreamGetDevice_v1(CU_STREAM_LEGACY, &device), CUDA_SUCCESS);
    rule("per-thread", cu->StreamGetDevice_v1(CU_STREAM_PER_THREAD, &device), CUDA_SUCCESS);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->StreamGetDevice_v1(stream, &device), CUDA_SUCCESS);
    rule("no-context-zero", cu->StreamGetDevice_v1(NULL, &device), CUDA_ERROR_INVALID_CONTEXT);
    rule("no-context-legacy", cu->StreamGetDevice_v1(CU_STREAM_LEGACY, &device), CUDA_ERROR_INVALID_CONTEXT);
    CUcontext current = the_context;
    need("current", cu->CtxGetCurrent_v1(&current));
    rule_fact("no-context-left", current == NULL);
    stream_end(stream);
}

static void context(void)
{
    CUstream stream = stream_new();
    CUcontext context = NULL;
    rule("code", cu->StreamGetCtx_v1(stream, &context), CUDA_SUCCESS);
    rule_fact("is", context == the_context);
    rule("null", cu->StreamGetCtx_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    context = NULL;
    rule("zero", cu->StreamGetCtx_v1(NULL, &context), CUDA_SUCCESS);
    rule_fact("zero-is-current", context == the_context);
    rule("legacy", cu->StreamGetCtx_v1(CU_STREAM_LEGACY, &context), CUDA_SUCCESS);
    rule("per-thread", cu->StreamGetCtx_v1(CU_STREAM_PER_THREAD, &context), CUDA_SUCCESS);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->StreamGetCtx_v1(stream, &context), CUDA_SUCCESS);
    rule("no-context-zero", cu->StreamGetCtx_v1(NULL, &context), CUDA_ERROR_INVALID_CONTEXT);
    rule("no-context-per-thread", cu->StreamGetCtx_v1(CU_STREAM_PER_THREAD, &context), CUDA_ERROR_INVALID_CONTEXT);
    stream_end(stream);
}

static void context_second(void)
{
    CUstream stream = stream_new();
    CUcontext context = NULL;
    CUgreenCtx green = UNTOUCHED_HANDLE;
    rule("code", cu->StreamGetCtx_v2(stream, &context, &green), CUDA_SUCCESS);
    rule_fact("is", context == the_context);
    rule_fact("green-is-null", green == NULL);
    context = NULL;
    green = UNTOUCHED_HANDLE;
    saw("without-green", cu->StreamGetCtx_v2(stream, &context, NULL));
    saw_fact("without-green-is", context == the_context);
    saw("without-context", cu->StreamGetCtx_v2(stream, NULL, &green));
    saw_fact("without-context-is-null", green == NULL);
    saw("without-both", cu->StreamGetCtx_v2(stream, NULL, NULL));
    rule("zero", cu->StreamGetCtx_v2(NULL, &context, &green), CUDA_SUCCESS);
    rule("legacy", cu->StreamGetCtx_v2(CU_STREAM_LEGACY, &context, &green), CUDA_SUCCESS);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->StreamGetCtx_v2(stream, &context, &green), CUDA_SUCCESS);
    rule("no-context-zero", cu->StreamGetCtx_v2(NULL, &context, &green), CUDA_ERROR_INVALID_CONTEXT);
    stream_end(stream);
}

/* A stream of a context that is not current. */
static void other_context(void)
{
    CUcontext second = NULL;
    CUcontext found = NULL;
    CUstream stream = NULL;
    unsigned flags = 99;
    if (!need("context", cu->CtxCreate_v2(&second, 0, the_device)))
        return;
    stream = stream_new();
    need("pop", cu->CtxPopCurrent_v2(&found));
    rule("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    rule("flags", cu->StreamGetFlags_v1(stream, &flags), CUDA_SUCCESS);
    if (have("context", S(StreamGetCtx_v1))) {
        rule("context", cu->StreamGetCtx_v1(stream, &found), CUDA_SUCCESS);
        rule_fact("context-is-its-own", found == second);
    }
    need("current", cu->CtxGetCurrent_v1(&found));
    rule_fact("current-stays", found == the_context);
    stream_end(stream);
    need("context-destroy", cu->CtxDestroy_v2(second));
}

/* Queries each kind of stream while each context is current. */
static void of_each(void)
{
    static const char *const names[] = {"created", "blocking", "zero", "legacy", "per-thread"};
    CUstream streams[] = {stream_new(), stream_blocking(), NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    CUcontext contexts[CONTEXT_COUNT];
    if (!contexts_new(contexts))
        return;
    for (int i = 0; i < 5 * CONTEXT_COUNT; i++) {
        need("set", cu->CtxSetCurrent_v1(contexts[i / 5]));
        saw_stream(key_of(context_names[i / 5], names[i % 5], NULL), streams[i % 5]);
    }
    need("context-destroy", cu->CtxDestroy_v2(contexts[CONTEXT_SECOND]));
    stream_end(streams[0]);
    stream_end(streams[1]);
}

static const struct check checks[] = {
    {"property.flags", flags, 0, {S(StreamGetFlags_v1)}},
    {"property.priority", priority, 0, {S(StreamGetPriority_v1)}},
    {"property.id", id, 0, {S(StreamGetId_v1)}},
    {"property.id-special", id_special, 0, {S(StreamGetId_v1)}},
    {"property.device", device, 0, {S(StreamGetDevice_v1)}},
    {"property.context", context, 0, {S(StreamGetCtx_v1)}},
    {"property.context-v2", context_second, 0, {S(StreamGetCtx_v2)}},
    {"property.other-context", other_context, 0, {S(CtxCreate_v2)}},
    {"property.of-each", of_each, 0, {S(StreamGetDevice_v1), S(StreamGetCtx_v2)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_property = {"property", checks};
