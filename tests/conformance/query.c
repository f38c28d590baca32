/* SPDX-License-Identifier: MIT */
/* Querying and waiting: cuStreamQuery, cuStreamSynchronize, cuCtxSynchronize, and what the special streams wait for. */
#include "fixture.h"

static void idle(void)
{
    CUstream stream = stream_new();
    rule("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    rule("query-zero", cu->StreamQuery_v1(NULL), CUDA_SUCCESS);
    rule("query-legacy", cu->StreamQuery_v1(CU_STREAM_LEGACY), CUDA_SUCCESS);
    rule("query-per-thread", cu->StreamQuery_v1(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    rule("synchronize-zero", cu->StreamSynchronize_v1(NULL), CUDA_SUCCESS);
    rule("synchronize-legacy", cu->StreamSynchronize_v1(CU_STREAM_LEGACY), CUDA_SUCCESS);
    rule("synchronize-per-thread", cu->StreamSynchronize_v1(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    stream_end(stream);
}

static void pending(void)
{
    struct gate gate;
    CUstream stream = stream_new();
    CUstream other = stream_new();
    if (!gate_close(&gate, stream))
        return;
    rule("query", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    rule("query-again", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    rule("other", cu->StreamQuery_v1(other), CUDA_SUCCESS);
    rule("other-synchronize", cu->StreamSynchronize_v1(other), CUDA_SUCCESS);
    gate_open(&gate);
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    rule_number("synchronize-waited", atomic_load(&gate.passed), 1);
    rule("query-after", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    stream_end(stream);
    stream_end(other);
}

static void no_context(void)
{
    struct gate gate;
    CUstream stream = stream_new();
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("query", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    if (gate_close(&gate, stream)) {
        rule("query-pending", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        rule("synchronize-pending", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    }
    rule("query-zero", cu->StreamQuery_v1(NULL), CUDA_ERROR_INVALID_CONTEXT);
    rule("query-legacy", cu->StreamQuery_v1(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_CONTEXT);
    rule("query-per-thread", cu->StreamQuery_v1(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_CONTEXT);
    rule("synchronize-zero", cu->StreamSynchronize_v1(NULL), CUDA_ERROR_INVALID_CONTEXT);
    rule("synchronize-legacy", cu->StreamSynchronize_v1(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_CONTEXT);
    rule("context-synchronize", cu->CtxSynchronize_v1(), CUDA_ERROR_INVALID_CONTEXT);
    rule("destroy", cu->StreamDestroy_v2(stream), CUDA_SUCCESS);
}

static void context_synchronize(void)
{
    struct gate gate;
    CUstream stream = stream_new();
    atomic_int called = 0;
    if (!gate_close(&gate, stream))
        return;
    need("callback", cu->StreamAddCallback_v1(stream, count_callback, &called, 0));
    gate_open(&gate);
    rule("code", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    rule_number("waited", atomic_load(&called), 1);
    rule("query-after", cu->StreamQuery_v1(stream), CUDA_SUCCESS);
    stream_end(stream);
}

/* Which special stream is busy while `stream` is. */
static void query_special(const char *key)
{
    saw(key_of(key, "zero", NULL), cu->StreamQuery_v1(NULL));
    saw(key_of(key, "legacy", NULL), cu->StreamQuery_v1(CU_STREAM_LEGACY));
    saw(key_of(key, "per-thread", NULL), cu->StreamQuery_v1(CU_STREAM_PER_THREAD));
}

static void special_beside_pending(void)
{
    struct gate gate;
    CUstream blocking = stream_blocking();
    CUstream free_running = stream_new();
    CUstream streams[] = {blocking, free_running, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    const char *names[] = {"blocking", "non-blocking", "legacy", "per-thread"};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        if (!gate_close(&gate, streams[i]))
            return;
        query_special(names[i]);
        saw(key_of(names[i], "a-blocking-stream", NULL), cu->StreamQuery_v1(blocking));
        saw(key_of(names[i], "a-non-blocking-stream", NULL), cu->StreamQuery_v1(free_running));
        gate_open(&gate);
        need("synchronize", cu->CtxSynchronize_v1());
    }
    stream_end(blocking);
    stream_end(free_running);
}

/*
 * The implicit joins: work in the legacy stream waits for all blocking streams, and they wait for it. The check uses
 * memory operations, because a driver may run the callbacks of several streams one at a time.
 */
static void legacy_joins(void)
{
    struct gate gate;
    CUdeviceptr memory = memory_new(64, 0);
    CUstream gated = stream_blocking();
    CUstream blocking = stream_blocking();
    CUstream free_running = stream_new();
    if (!gate_close(&gate, gated))
        return;
    need("memset", cu->MemsetD8Async_v1(memory, 1, 16, CU_STREAM_LEGACY));
    rule("legacy-waits-for-blocking", cu->StreamQuery_v1(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
    need("memset", cu->MemsetD8Async_v1(memory + 16, 2, 16, blocking));
    rule("blocking-waits-for-legacy", cu->StreamQuery_v1(blocking), CUDA_ERROR_NOT_READY);
    need("memset", cu->MemsetD8Async_v1(memory + 32, 3, 16, free_running));
    rule("non-blocking-goes-on", cu->StreamSynchronize_v1(free_running), CUDA_SUCCESS);
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    gate_open(&gate);
    rule("synchronize", cu->StreamSynchronize_v1(blocking), CUDA_SUCCESS);
    rule_number("joined", atomic_load(&gate.passed), 1);
    stream_end(gated);
    stream_end(blocking);
    stream_end(free_running);
    need("free", cu->MemFree_v2(memory));
}

/* Work in one blocking stream does not wait for another blocking stream. */
static void blocking_independent(void)
{
    struct gate gate;
    CUdeviceptr memory = memory_new(64, 0);
    CUstream gated = stream_blocking();
    CUstream other = stream_blocking();
    if (!gate_close(&gate, gated))
        return;
    need("memset", cu->MemsetD8Async_v1(memory, 1, 16, other));
    rule("synchronize", cu->StreamSynchronize_v1(other), CUDA_SUCCESS);
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    gate_open(&gate);
    stream_end(gated);
    stream_end(other);
    need("free", cu->MemFree_v2(memory));
}

static void zero_is_which(void)
{
    struct gate gate;
    if (!gate_close(&gate, NULL))
        return;
    rule("legacy", cu->StreamQuery_v1(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
    saw("per-thread", cu->StreamQuery_v1(CU_STREAM_PER_THREAD));
    gate_open(&gate);
    rule("synchronize", cu->StreamSynchronize_v1(NULL), CUDA_SUCCESS);
    rule_number("waited", atomic_load(&gate.passed), 1);
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
static void per_thread_of_another(void)
{
    struct gate gate;
    struct elsewhere elsewhere = {CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN};
    if (!gate_close(&gate, CU_STREAM_PER_THREAD))
        return;
    on_thread(query_there, &elsewhere);
    rule("here", cu->StreamQuery_v1(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
    saw("there", elsewhere.per_thread);
    saw("legacy-there", elsewhere.legacy);
    gate_open(&gate);
    rule("synchronize", cu->StreamSynchronize_v1(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
}

static const struct check checks[] = {
    {"query.idle", idle, 0, {S(StreamQuery_v1), S(DevicePrimaryCtxRetain_v1)}},
    {"query.pending", pending, 0, {S(StreamQuery_v1)}},
    {"query.no-context", no_context, 0, {S(StreamQuery_v1)}},
    {"query.context-synchronize", context_synchronize, 0, {S(CtxSynchronize_v1)}},
    {"query.special-beside", special_beside_pending, 0, {S(StreamQuery_v1)}},
    {"query.legacy-joins", legacy_joins, 0, {S(StreamQuery_v1)}},
    {"query.blocking-independent", blocking_independent, 0, {S(StreamQuery_v1)}},
    {"query.zero-is", zero_is_which, 0, {S(StreamQuery_v1)}},
    {"query.per-thread-of-another", per_thread_of_another, 0, {S(StreamQuery_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_query = {"query", checks};
