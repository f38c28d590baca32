/* SPDX-License-Identifier: MIT */
/* cuStreamWaitEvent: order between streams. */
#include "fixture.h"

static void arguments(void)
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    rule("unrecorded", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_SUCCESS);
    rule("null-event", cu->StreamWaitEvent_v1(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    saw("external-flag", cu->StreamWaitEvent_v1(stream, event, CU_EVENT_WAIT_EXTERNAL));
    rule("flag-2", cu->StreamWaitEvent_v1(stream, event, 2), CUDA_ERROR_INVALID_VALUE);
    rule("flag-9", cu->StreamWaitEvent_v1(stream, event, 9), CUDA_ERROR_INVALID_VALUE);
    saw("null-event-flag", cu->StreamWaitEvent_v1(stream, NULL, 2));
    rule("zero", cu->StreamWaitEvent_v1(NULL, event, 0), CUDA_SUCCESS);
    rule("legacy", cu->StreamWaitEvent_v1(CU_STREAM_LEGACY, event, 0), CUDA_SUCCESS);
    rule("per-thread", cu->StreamWaitEvent_v1(CU_STREAM_PER_THREAD, event, 0), CUDA_SUCCESS);
    need("record", cu->EventRecord_v1(event, stream));
    rule("own-stream", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_SUCCESS);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    saw("no-context-zero", cu->StreamWaitEvent_v1(NULL, event, 0));
    need("destroy", cu->EventDestroy_v2(event));
    stream_end(stream);
}

static void order(void)
{
    struct gate gate;
    CUstream first = stream_new();
    CUstream second = stream_new();
    CUevent event = event_new();
    CUdeviceptr memory = memory_new(16, 0);
    unsigned char bytes[16] = {0};
    if (!gate_close(&gate, first))
        return;
    need("memset", cu->MemsetD8Async_v1(memory, 1, 16, first));
    need("record", cu->EventRecord_v1(event, first));
    rule("code", cu->StreamWaitEvent_v1(second, event, 0), CUDA_SUCCESS);
    need("memset", cu->MemsetD8Async_v1(memory, 2, 8, second));
    rule("waiter-pending", cu->StreamQuery_v1(second), CUDA_ERROR_NOT_READY);
    rule("event-may-go", cu->EventDestroy_v2(event), CUDA_SUCCESS);
    rule("still-pending", cu->StreamQuery_v1(second), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    rule("synchronize", cu->StreamSynchronize_v1(second), CUDA_SUCCESS);
    rule_number("waited", atomic_load(&gate.passed), 1);
    need("copy", cu->MemcpyDtoH_v2(bytes, memory, 16));
    rule_number("later-write-wins", bytes[0], 2);
    rule_number("earlier-write-stays", bytes[15], 1);
    stream_end(first);
    stream_end(second);
    need("free", cu->MemFree_v2(memory));
}

/* The wait is for the latest record at the time of the call. */
static void most_recent_record(void)
{
    struct gate gate;
    CUstream first = stream_new();
    CUstream second = stream_new();
    CUevent event = event_new();
    need("record", cu->EventRecord_v1(event, first));
    need("wait", cu->StreamWaitEvent_v1(second, event, 0));
    if (!gate_close(&gate, first))
        return;
    need("record", cu->EventRecord_v1(event, first));
    rule("later-record-ignored", cu->StreamSynchronize_v1(second), CUDA_SUCCESS);
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    need("wait", cu->StreamWaitEvent_v1(second, event, 0));
    rule("new-record-waited-for", cu->StreamQuery_v1(second), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    stream_end(second);
    stream_end(first);
    need("destroy", cu->EventDestroy_v2(event));
}

/* "If hStream is 0 any future work submitted in any stream will wait": only blocking streams do, through the legacy
 * stream. */
static void legacy_barrier(void)
{
    struct gate gate;
    CUstream gated = stream_new();
    CUstream blocking = stream_blocking();
    CUstream free_running = stream_new();
    CUevent event = event_new();
    CUdeviceptr memory = memory_new(16, 0);
    if (!gate_close(&gate, gated))
        return;
    need("record", cu->EventRecord_v1(event, gated));
    rule("code", cu->StreamWaitEvent_v1(CU_STREAM_LEGACY, event, 0), CUDA_SUCCESS);
    need("memset", cu->MemsetD8Async_v1(memory, 1, 8, blocking));
    saw("blocking", cu->StreamQuery_v1(blocking));
    need("memset", cu->MemsetD8Async_v1(memory + 8, 1, 8, free_running));
    rule("non-blocking", cu->StreamSynchronize_v1(free_running), CUDA_SUCCESS);
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    gate_open(&gate);
    stream_end(gated);
    stream_end(blocking);
    stream_end(free_running);
    need("destroy", cu->EventDestroy_v2(event));
    need("free", cu->MemFree_v2(memory));
}

static void other_context(void)
{
    struct gate gate;
    CUcontext second = NULL;
    CUcontext popped = NULL;
    CUstream here = stream_new();
    if (!need("context", cu->CtxCreate_v2(&second, 0, the_device)))
        return;
    CUstream there = stream_new();
    CUevent event = event_new();
    if (!gate_close(&gate, there))
        return;
    need("record", cu->EventRecord_v1(event, there));
    need("pop", cu->CtxPopCurrent_v2(&popped));
    rule("code", cu->StreamWaitEvent_v1(here, event, 0), CUDA_SUCCESS);
    rule("pending", cu->StreamQuery_v1(here), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    rule("synchronize", cu->StreamSynchronize_v1(here), CUDA_SUCCESS);
    rule_number("waited", atomic_load(&gate.passed), 1);
    need("destroy", cu->EventDestroy_v2(event));
    stream_end(there);
    stream_end(here);
    need("context-destroy", cu->CtxDestroy_v2(second));
}

/* A chain over many streams keeps its order. */
static void chain(void)
{
    enum { LENGTH = 16 };
    CUstream streams[LENGTH];
    CUdeviceptr memory = memory_new(LENGTH, 0);
    unsigned char bytes[LENGTH] = {0};
    bool ordered = true;
    for (int i = 0; i < LENGTH; i++)
        streams[i] = stream_new();
    for (int i = 0; i < LENGTH; i++) {
        CUevent event = event_new();
        need("memset", cu->MemsetD8Async_v1(memory, (unsigned char)(i + 1), (size_t)(LENGTH - i), streams[i]));
        need("record", cu->EventRecord_v1(event, streams[i]));
        if (i + 1 < LENGTH)
            need("wait", cu->StreamWaitEvent_v1(streams[i + 1], event, 0));
        need("destroy", cu->EventDestroy_v2(event));
    }
    rule("synchronize-last", cu->StreamSynchronize_v1(streams[LENGTH - 1]), CUDA_SUCCESS);
    need("copy", cu->MemcpyDtoH_v2(bytes, memory, LENGTH));
    for (int i = 0; i < LENGTH; i++)
        ordered = ordered && bytes[i] == LENGTH - i;
    rule_fact("ordered", ordered);
    for (int i = 0; i < LENGTH; i++)
        stream_end(streams[i]);
    need("free", cu->MemFree_v2(memory));
}

static const struct check checks[] = {
    {"wait.argument", arguments, 0, {S(StreamWaitEvent_v1)}},
    {"wait.order", order, 0, {S(StreamWaitEvent_v1)}},
    {"wait.most-recent-record", most_recent_record, 0, {S(StreamWaitEvent_v1)}},
    {"wait.legacy-barrier", legacy_barrier, 0, {S(StreamWaitEvent_v1)}},
    {"wait.other-context", other_context, 0, {S(StreamWaitEvent_v1)}},
    {"wait.chain", chain, 0, {S(StreamWaitEvent_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_wait = {"wait", checks};
