/* SPDX-License-Identifier: MIT */
/* Creating and destroying streams: cuStreamCreate, cuStreamCreateWithPriority, cuStreamDestroy. */
#include "fixture.h"

CHECK(plain, "create.plain", .needs = {S(StreamCreate_v1)})
{
    CUstream stream = UNTOUCHED_HANDLE;
    expect("code", cu->StreamCreate_v1(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    expect_true("handle-written", stream != UNTOUCHED_HANDLE);
    expect_true("handle-not-special", stream != NULL && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD);
    expect("destroy", cu->StreamDestroy_v2(stream), CUDA_SUCCESS);
}

CHECK(arguments, "create.argument", .needs = {S(StreamCreate_v1)})
{
    CUstream stream = UNTOUCHED_HANDLE;
    expect("null", cu->StreamCreate_v1(NULL, CU_STREAM_DEFAULT), CUDA_ERROR_INVALID_VALUE);
    expect("flag-2", cu->StreamCreate_v1(&stream, 2), CUDA_ERROR_INVALID_VALUE);
    expect("flag-3", cu->StreamCreate_v1(&stream, 3), CUDA_ERROR_INVALID_VALUE);
    expect("flag-high", cu->StreamCreate_v1(&stream, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched-on-failure", stream == UNTOUCHED_HANDLE);
    expect("non-blocking", cu->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    expect("destroy", cu->StreamDestroy_v2(stream), CUDA_SUCCESS);
}

CHECK(no_context, "create.no-context", .needs = {S(StreamCreate_v1)})
{
    CUstream stream = UNTOUCHED_HANDLE;
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("code", cu->StreamCreate_v1(&stream, CU_STREAM_DEFAULT), CUDA_ERROR_INVALID_CONTEXT);
    observe_bool("untouched", stream == UNTOUCHED_HANDLE);
    expect("null", cu->StreamCreate_v1(NULL, CU_STREAM_DEFAULT), CUDA_ERROR_INVALID_VALUE);
    expect("unknown-flag", cu->StreamCreate_v1(&stream, 2), CUDA_ERROR_INVALID_VALUE);
    if (require_slot("priority", S(StreamCreateWithPriority_v1)))
        expect("priority", cu->StreamCreateWithPriority_v1(&stream, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(priority_range, "create.priority-range", .needs = {S(CtxGetStreamPriorityRange_v1)})
{
    int least = 99;
    int greatest = 99;
    expect("code", cu->CtxGetStreamPriorityRange_v1(&least, &greatest), CUDA_SUCCESS);
    expect_number("least", least, 0);
    expect_number("greatest", greatest, -5);
    expect_true("lower-number-is-higher", greatest <= least);
    expect("without-least", cu->CtxGetStreamPriorityRange_v1(NULL, &greatest), CUDA_SUCCESS);
    expect("without-greatest", cu->CtxGetStreamPriorityRange_v1(&least, NULL), CUDA_SUCCESS);
    expect("without-both", cu->CtxGetStreamPriorityRange_v1(NULL, NULL), CUDA_SUCCESS);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->CtxGetStreamPriorityRange_v1(&least, &greatest), CUDA_ERROR_INVALID_CONTEXT);
}

static void one_priority(const char *key, int wanted)
{
    CUstream stream = NULL;
    int priority = 99;
    expect(key_of(key, "code", NULL), cu->StreamCreateWithPriority_v1(&stream, CU_STREAM_NON_BLOCKING, wanted),
           CUDA_SUCCESS);
    require("priority", cu->StreamGetPriority_v1(stream, &priority));
    observe_number(key_of(key, "is", NULL), priority);
    stream_end(stream);
}

CHECK(priority, "create.priority", .needs = {S(StreamCreateWithPriority_v1), S(StreamGetPriority_v1)})
{
    CUstream stream = UNTOUCHED_HANDLE;
    int value = 99;
    one_priority("default", 0);
    one_priority("below-least", 100);
    one_priority("one", 1);
    one_priority("minus-one", -1);
    one_priority("minus-five", -5);
    one_priority("above-greatest", -100);
    expect("null", cu->StreamCreateWithPriority_v1(NULL, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
    expect("unknown-flag", cu->StreamCreateWithPriority_v1(&stream, 2, 0), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", stream == UNTOUCHED_HANDLE);
    require("plain", cu->StreamCreate_v1(&stream, CU_STREAM_DEFAULT));
    require("priority", cu->StreamGetPriority_v1(stream, &value));
    expect_number("of-plain-create", value, 0);
    stream_end(stream);
}

CHECK(destroy_special, "destroy.special", .needs = {S(StreamDestroy_v2)})
{
    for (int i = 0; i < 3; i++)
        expect(specials[i].name, cu->StreamDestroy_v2(specials[i].stream), CUDA_ERROR_INVALID_HANDLE);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("zero-without-context", cu->StreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    expect("legacy-without-context", cu->StreamDestroy_v2(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(destroy_first, "destroy.first-abi", .needs = {S(StreamDestroy_v1)})
{
    CUstream stream = stream_new();
    expect("code", cu->StreamDestroy_v1(disown(stream)), CUDA_SUCCESS);
    expect("zero", cu->StreamDestroy_v1(NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* "The function will return immediately": the work continues after the handle is destroyed. */
CHECK(destroy_pending, "destroy.pending", .needs = {S(StreamDestroy_v2), S(StreamAddCallback_v1)})
{
    CUdeviceptr address = 0;
    CUstream stream = stream_new();
    atomic_int called = 0;
    volatile unsigned char *host = host_new(64, &address);
    struct gate *gate = gate_new(stream);
    require("callback", cu->StreamAddCallback_v1(stream, count_callback, &called, 0));
    require("memset", cu->MemsetD8Async_v1(address, 7, 64, stream));
    expect("code", cu->StreamDestroy_v2(disown(stream)), CUDA_SUCCESS);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    gate_open(gate);
    expect("context-synchronize", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    expect_number("callback-came", atomic_load(&called), 1);
    expect_number("memory-was-set", host[63], 7);
}

CHECK(handle_reuse, "create.handle-reuse", .needs = {S(StreamCreate_v1)})
{
    CUstream first = stream_new();
    require("destroy", cu->StreamDestroy_v2(disown(first)));
    CUstream second = stream_new();
    expect_true("same-handle", first == second);
    CUstream third = stream_new();
    expect_true("live-ones-differ", second != third);
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

CHECK(threads, "create.thread", .needs = {S(StreamCreate_v1)})
{
    struct remote remote = {NULL, CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN};
    on_thread(create_there, &remote);
    expect("create-on-another", remote.create, CUDA_SUCCESS);
    expect("use-here", cu->StreamQuery_v1(remote.stream), CUDA_SUCCESS);
    on_bare_thread(destroy_there, &remote);
    expect("destroy-without-context", remote.destroy, CUDA_SUCCESS);
    on_bare_thread(create_there, &remote);
    expect("create-without-context", remote.create, CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(many, "create.many", .needs = {S(StreamCreate_v1)})
{
    enum { COUNT = 500 };
    static CUstream streams[COUNT];
    int created = 0;
    int destroyed = 0;
    for (int i = 0; i < COUNT; i++)
        created += cu->StreamCreate_v1(&streams[i], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    expect_number("created", created, COUNT);
    for (int i = 0; i < created; i++)
        destroyed += cu->StreamDestroy_v2(streams[i]) == CUDA_SUCCESS;
    expect_number("destroyed", destroyed, COUNT);
}
