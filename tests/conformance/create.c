/* SPDX-License-Identifier: MIT */
/* Creating and destroying streams: cuStreamCreate, cuStreamCreateWithPriority, cuStreamDestroy. */
#include "fixture.h"

static void plain(void)
{
    CUstream stream = UNTOUCHED_HANDLE;
    rule("code", cu->StreamCreate_v1(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    rule_fact("handle-written", stream != UNTOUCHED_HANDLE);
    rule_fact("handle-not-special", stream != NULL && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD);
    rule("destroy", cu->StreamDestroy_v2(stream), CUDA_SUCCESS);
}

static void arguments(void)
{
    CUstream stream = UNTOUCHED_HANDLE;
    rule("null", cu->StreamCreate_v1(NULL, CU_STREAM_DEFAULT), CUDA_ERROR_INVALID_VALUE);
    rule("flag-2", cu->StreamCreate_v1(&stream, 2), CUDA_ERROR_INVALID_VALUE);
    rule("flag-3", cu->StreamCreate_v1(&stream, 3), CUDA_ERROR_INVALID_VALUE);
    rule("flag-high", cu->StreamCreate_v1(&stream, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    saw_fact("untouched-on-failure", stream == UNTOUCHED_HANDLE);
    rule("non-blocking", cu->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    rule("destroy", cu->StreamDestroy_v2(stream), CUDA_SUCCESS);
}

static void no_context(void)
{
    CUstream stream = UNTOUCHED_HANDLE;
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("code", cu->StreamCreate_v1(&stream, CU_STREAM_DEFAULT), CUDA_ERROR_INVALID_CONTEXT);
    saw_fact("untouched", stream == UNTOUCHED_HANDLE);
    saw("null", cu->StreamCreate_v1(NULL, CU_STREAM_DEFAULT));
    saw("unknown-flag", cu->StreamCreate_v1(&stream, 2));
    if (have("priority", S(StreamCreateWithPriority_v1)))
        rule("priority", cu->StreamCreateWithPriority_v1(&stream, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_CONTEXT);
}

static void priority_range(void)
{
    int least = 99;
    int greatest = 99;
    rule("code", cu->CtxGetStreamPriorityRange_v1(&least, &greatest), CUDA_SUCCESS);
    saw_number("least", least);
    saw_number("greatest", greatest);
    rule_fact("lower-number-is-higher", greatest <= least);
    rule("without-least", cu->CtxGetStreamPriorityRange_v1(NULL, &greatest), CUDA_SUCCESS);
    rule("without-greatest", cu->CtxGetStreamPriorityRange_v1(&least, NULL), CUDA_SUCCESS);
    rule("without-both", cu->CtxGetStreamPriorityRange_v1(NULL, NULL), CUDA_SUCCESS);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("no-context", cu->CtxGetStreamPriorityRange_v1(&least, &greatest), CUDA_ERROR_INVALID_CONTEXT);
}

static void one_priority(const char *key, int wanted)
{
    CUstream stream = NULL;
    int priority = 99;
    rule(key_of(key, "code", NULL), cu->StreamCreateWithPriority_v1(&stream, CU_STREAM_NON_BLOCKING, wanted),
         CUDA_SUCCESS);
    need("priority", cu->StreamGetPriority_v1(stream, &priority));
    saw_number(key_of(key, "is", NULL), priority);
    stream_end(stream);
}

static void priority(void)
{
    CUstream stream = UNTOUCHED_HANDLE;
    int value = 99;
    one_priority("default", 0);
    one_priority("below-least", 100);
    one_priority("one", 1);
    one_priority("minus-one", -1);
    one_priority("minus-five", -5);
    one_priority("above-greatest", -100);
    rule("null", cu->StreamCreateWithPriority_v1(NULL, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
    rule("unknown-flag", cu->StreamCreateWithPriority_v1(&stream, 2, 0), CUDA_ERROR_INVALID_VALUE);
    saw_fact("untouched", stream == UNTOUCHED_HANDLE);
    need("plain", cu->StreamCreate_v1(&stream, CU_STREAM_DEFAULT));
    need("priority", cu->StreamGetPriority_v1(stream, &value));
    rule_number("of-plain-create", value, 0);
    stream_end(stream);
}

static void destroy_special(void)
{
    rule("zero", cu->StreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    rule("legacy", cu->StreamDestroy_v2(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_HANDLE);
    rule("per-thread", cu->StreamDestroy_v2(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    saw("zero-without-context", cu->StreamDestroy_v2(NULL));
    saw("legacy-without-context", cu->StreamDestroy_v2(CU_STREAM_LEGACY));
}

static void destroy_first(void)
{
    CUstream stream = stream_new();
    rule("code", cu->StreamDestroy_v1(stream), CUDA_SUCCESS);
    rule("zero", cu->StreamDestroy_v1(NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* "The function will return immediately": the work continues after the handle is destroyed. */
static void destroy_pending(void)
{
    struct gate gate;
    CUdeviceptr address = 0;
    CUstream stream = stream_new();
    atomic_int called = 0;
    volatile unsigned char *host = host_new(64, &address);
    if (host == NULL || !gate_close(&gate, stream))
        return;
    need("callback", cu->StreamAddCallback_v1(stream, count_callback, &called, 0));
    need("memset", cu->MemsetD8Async_v1(address, 7, 64, stream));
    rule("code", cu->StreamDestroy_v2(stream), CUDA_SUCCESS);
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    gate_open(&gate);
    rule("context-synchronize", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    rule_number("callback-came", atomic_load(&called), 1);
    rule_number("memory-was-set", host[63], 7);
    host_free((void *)host);
}

static void handle_reuse(void)
{
    CUstream first = stream_new();
    need("destroy", cu->StreamDestroy_v2(first));
    CUstream second = stream_new();
    saw_fact("same-handle", first == second);
    CUstream third = stream_new();
    rule_fact("live-ones-differ", second != third);
    stream_end(second);
    stream_end(third);
}

struct remote {
    CUstream stream;
    CUresult create;
    CUresult destroy;
};

static void create_there(void *user)
{
    struct remote *remote = user;
    remote->create = cu->StreamCreate_v1(&remote->stream, CU_STREAM_NON_BLOCKING);
}

static void destroy_there(void *user)
{
    struct remote *remote = user;
    remote->destroy = cu->StreamDestroy_v2(remote->stream);
}

static void threads(void)
{
    struct remote remote = {NULL, CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN};
    on_thread(create_there, &remote);
    rule("create-on-another", remote.create, CUDA_SUCCESS);
    rule("use-here", cu->StreamQuery_v1(remote.stream), CUDA_SUCCESS);
    on_bare_thread(destroy_there, &remote);
    rule("destroy-without-context", remote.destroy, CUDA_SUCCESS);
    on_bare_thread(create_there, &remote);
    rule("create-without-context", remote.create, CUDA_ERROR_INVALID_CONTEXT);
}

static void many(void)
{
    enum { COUNT = 500 };
    static CUstream streams[COUNT];
    int created = 0;
    int destroyed = 0;
    for (int i = 0; i < COUNT; i++)
        created += cu->StreamCreate_v1(&streams[i], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    rule_number("created", created, COUNT);
    for (int i = 0; i < created; i++)
        destroyed += cu->StreamDestroy_v2(streams[i]) == CUDA_SUCCESS;
    rule_number("destroyed", destroyed, COUNT);
}

static const struct check checks[] = {
    {"create.plain", plain, 0, {S(StreamCreate_v1)}},
    {"create.argument", arguments, 0, {S(StreamCreate_v1)}},
    {"create.no-context", no_context, 0, {S(StreamCreate_v1)}},
    {"create.priority-range", priority_range, 0, {S(CtxGetStreamPriorityRange_v1)}},
    {"create.priority", priority, 0, {S(StreamCreateWithPriority_v1), S(StreamGetPriority_v1)}},
    {"create.handle-reuse", handle_reuse, 0, {S(StreamCreate_v1)}},
    {"create.thread", threads, 0, {S(StreamCreate_v1)}},
    {"create.many", many, 0, {S(StreamCreate_v1)}},
    {"destroy.special", destroy_special, 0, {S(StreamDestroy_v2)}},
    {"destroy.first-abi", destroy_first, 0, {S(StreamDestroy_v1)}},
    {"destroy.pending", destroy_pending, 0, {S(StreamDestroy_v2), S(StreamAddCallback_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_create = {"create", checks};
