/* SPDX-License-Identifier: MIT */
/* Querying and waiting: cuStreamQuery, cuStreamSynchronize, cuCtxSynchronize, and what the special streams wait for. */
#include "fixture.h"

CHECK(idle, "query.idle", .needs = {S(StreamQuery_v1), S(DevicePrimaryCtxRetain_v1)})
{
    CUstream stream = stream_new();
    expect("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        expect(key_format("query-%s", specials[i].name), cu->StreamQuery_v1(specials[i].stream), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        expect(key_format("synchronize-%s", specials[i].name), cu->StreamSynchronize_v1(specials[i].stream),
               CUDA_SUCCESS);
}

CHECK(pending, "query.pending", .needs = {S(StreamQuery_v1)})
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    struct gate *gate = gate_new(stream);
    expect("query", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    expect("query-again", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    expect("other", cu->StreamQuery_v1(other), CUDA_SUCCESS);
    expect("other-synchronize", cu->StreamSynchronize_v1(other), CUDA_SUCCESS);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect_number("synchronize-waited", gate_passed(gate), 1);
    expect("query-after", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
}

CHECK(no_context, "query.no-context", .needs = {S(StreamQuery_v1)})
{
    CUstream stream = stream_new();
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    struct gate *gate = gate_new(stream);
    expect("query-pending", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect("synchronize-pending", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        expect(key_format("query-%s", specials[i].name), cu->StreamQuery_v1(specials[i].stream),
               CUDA_ERROR_INVALID_CONTEXT);
    expect("synchronize-zero", cu->StreamSynchronize_v1(NULL), CUDA_ERROR_INVALID_CONTEXT);
    expect("synchronize-legacy", cu->StreamSynchronize_v1(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_CONTEXT);
    expect("context-synchronize", cu->CtxSynchronize_v1(), CUDA_ERROR_INVALID_CONTEXT);
    expect("destroy", cu->StreamDestroy_v2(disown(stream)), CUDA_SUCCESS);
}

CHECK(context_synchronize, "query.context-synchronize", .needs = {S(CtxSynchronize_v1)})
{
    CUstream stream = stream_new();
    atomic_int called = 0;
    struct gate *gate = gate_new(stream);
    require("callback", cu->StreamAddCallback_v1(stream, count_callback, &called, 0));
    gate_open(gate);
    expect("code", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    expect_number("waited", atomic_load(&called), 1);
    expect("query-after", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
}

/* Which special stream is busy while `stream` is. */
static void query_special(const char *key)
{
    for (int i = 0; i < 3; i++)
        observe(key_of(key, specials[i].name, NULL), cu->StreamQuery_v1(specials[i].stream));
}

CHECK(special_beside_pending, "query.special-beside", .needs = {S(StreamQuery_v1)})
{
    CUstream blocking = stream_blocking();
    CUstream free_running = stream_new();
    CUstream streams[] = {blocking, free_running, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    const char *names[] = {"blocking", "non-blocking", "legacy", "per-thread"};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        struct gate *gate = gate_new(streams[i]);
        query_special(names[i]);
        observe(key_of(names[i], "a-blocking-stream", NULL), cu->StreamQuery_v1(blocking));
        observe(key_of(names[i], "a-non-blocking-stream", NULL), cu->StreamQuery_v1(free_running));
        gate_open(gate);
        require("synchronize", cu->CtxSynchronize_v1());
    }
}

/*
 * The implicit joins: work in the legacy stream waits for all blocking streams, and they wait for it. The check uses
 * memory operations, because a driver may run the callbacks of several streams one at a time.
 */
CHECK(legacy_joins, "query.legacy-joins", .needs = {S(StreamQuery_v1)})
{
    CUdeviceptr memory = memory_new(64, 0);
    CUstream gated = stream_blocking();
    CUstream blocking = stream_blocking();
    CUstream free_running = stream_new();
    struct gate *gate = gate_new(gated);
    require("memset", cu->MemsetD8Async_v1(memory, 1, 16, CU_STREAM_LEGACY));
    expect("legacy-waits-for-blocking", cu->StreamQuery_v1(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
    require("memset", cu->MemsetD8Async_v1(memory + 16, 2, 16, blocking));
    expect("blocking-waits-for-legacy", cu->StreamQuery_v1(blocking), CUDA_ERROR_NOT_READY);
    require("memset", cu->MemsetD8Async_v1(memory + 32, 3, 16, free_running));
    expect("non-blocking-goes-on", cu->StreamSynchronize_v1(free_running), CUDA_SUCCESS);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(blocking), CUDA_SUCCESS);
    expect_number("joined", gate_passed(gate), 1);
}

/* Work in one blocking stream does not wait for another blocking stream. */
CHECK(blocking_independent, "query.blocking-independent", .needs = {S(StreamQuery_v1)})
{
    CUdeviceptr memory = memory_new(64, 0);
    CUstream gated = stream_blocking();
    CUstream other = stream_blocking();
    struct gate *gate = gate_new(gated);
    require("memset", cu->MemsetD8Async_v1(memory, 1, 16, other));
    expect("synchronize", cu->StreamSynchronize_v1(other), CUDA_SUCCESS);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    gate_open(gate);
}

CHECK(zero_is_which, "query.zero-is", .needs = {S(StreamQuery_v1)})
{
    struct gate *gate = gate_new(NULL);
    expect("legacy", cu->StreamQuery_v1(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
    expect("per-thread", cu->StreamQuery_v1(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(NULL), CUDA_SUCCESS);
    expect_number("waited", gate_passed(gate), 1);
}

struct elsewhere {
    CUresult per_thread;
    CUresult legacy;
};

static void query_there(void *user)
{
    struct elsewhere *elsewhere = user;
    elsewhere->per_thread = cu->StreamQuery_v1(CU_STREAM_PER_THREAD);
    elsewhere->legacy = cu->StreamQuery_v1(CU_STREAM_LEGACY);
}

/* Each thread has its own per-thread default stream. */
CHECK(per_thread_of_another, "query.per-thread-of-another", .needs = {S(StreamQuery_v1)})
{
    struct elsewhere elsewhere = {CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN};
    struct gate *gate = gate_new(CU_STREAM_PER_THREAD);
    on_thread(query_there, &elsewhere);
    expect("here", cu->StreamQuery_v1(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
    expect("there", elsewhere.per_thread, CUDA_SUCCESS);
    expect("legacy-there", elsewhere.legacy, CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
}
