/* SPDX-License-Identifier: MIT */
/* cuStreamWaitEvent: order between streams. */
#include "fixture.h"

CHECK(arguments, "wait.argument", .needs = {S(StreamWaitEvent_v1)})
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    expect("unrecorded", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_SUCCESS);
    expect("null-event", cu->StreamWaitEvent_v1(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    expect("external-flag", cu->StreamWaitEvent_v1(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
    expect("flag-2", cu->StreamWaitEvent_v1(stream, event, 2), CUDA_ERROR_INVALID_VALUE);
    expect("flag-9", cu->StreamWaitEvent_v1(stream, event, 9), CUDA_ERROR_INVALID_VALUE);
    expect("null-event-flag", cu->StreamWaitEvent_v1(stream, NULL, 2), CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 3; i++)
        expect(specials[i].name, cu->StreamWaitEvent_v1(specials[i].stream, event, 0), CUDA_SUCCESS);
    require("record", cu->EventRecord_v1(event, stream));
    expect("own-stream", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_SUCCESS);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context-zero", cu->StreamWaitEvent_v1(NULL, event, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(order, "wait.order", .needs = {S(StreamWaitEvent_v1)})
{
    CUstream first = stream_new();
    CUstream second = stream_new();
    CUevent event = event_new();
    CUdeviceptr memory = memory_new(16, 0);
    unsigned char bytes[16] = {0};
    struct gate *gate = gate_new(first);
    require("memset", cu->MemsetD8Async_v1(memory, 1, 16, first));
    require("record", cu->EventRecord_v1(event, first));
    expect("code", cu->StreamWaitEvent_v1(second, event, 0), CUDA_SUCCESS);
    require("memset", cu->MemsetD8Async_v1(memory, 2, 8, second));
    expect("waiter-pending", cu->StreamQuery_v1(second), CUDA_ERROR_NOT_READY);
    expect("event-may-go", cu->EventDestroy_v2(disown(event)), CUDA_SUCCESS);
    expect("still-pending", cu->StreamQuery_v1(second), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(second), CUDA_SUCCESS);
    expect_number("waited", gate_passed(gate), 1);
    require("copy", cu->MemcpyDtoH_v2(bytes, memory, 16));
    expect_number("later-write-wins", bytes[0], 2);
    expect_number("earlier-write-stays", bytes[15], 1);
}

/* The wait is for the latest record at the time of the call. */
CHECK(most_recent_record, "wait.most-recent-record", .needs = {S(StreamWaitEvent_v1)})
{
    CUstream first = stream_new();
    CUstream second = stream_new();
    CUevent event = event_new();
    require("record", cu->EventRecord_v1(event, first));
    require("wait", cu->StreamWaitEvent_v1(second, event, 0));
    struct gate *gate = gate_new(first);
    require("record", cu->EventRecord_v1(event, first));
    expect("later-record-ignored", cu->StreamSynchronize_v1(second), CUDA_SUCCESS);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    require("wait", cu->StreamWaitEvent_v1(second, event, 0));
    expect("new-record-waited-for", cu->StreamQuery_v1(second), CUDA_ERROR_NOT_READY);
    gate_open(gate);
}

/* "If hStream is 0 any future work submitted in any stream will wait": only blocking streams do, through the legacy
 * stream. */
CHECK(legacy_barrier, "wait.legacy-barrier", .needs = {S(StreamWaitEvent_v1)})
{
    CUstream gated = stream_new();
    CUstream blocking = stream_blocking();
    CUstream free_running = stream_new();
    CUevent event = event_new();
    CUdeviceptr memory = memory_new(16, 0);
    struct gate *gate = gate_new(gated);
    require("record", cu->EventRecord_v1(event, gated));
    expect("code", cu->StreamWaitEvent_v1(CU_STREAM_LEGACY, event, 0), CUDA_SUCCESS);
    require("memset", cu->MemsetD8Async_v1(memory, 1, 8, blocking));
    expect("blocking", cu->StreamQuery_v1(blocking), CUDA_ERROR_NOT_READY);
    require("memset", cu->MemsetD8Async_v1(memory + 8, 1, 8, free_running));
    expect("non-blocking", cu->StreamSynchronize_v1(free_running), CUDA_SUCCESS);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    gate_open(gate);
}

CHECK(other_context, "wait.other-context", .needs = {S(StreamWaitEvent_v1)})
{
    CUcontext popped = NULL;
    CUstream here = stream_new();
    (void)context_second();
    CUstream there = stream_new();
    CUevent event = event_new();
    struct gate *gate = gate_new(there);
    require("record", cu->EventRecord_v1(event, there));
    require("pop", cu->CtxPopCurrent_v2(&popped));
    expect("code", cu->StreamWaitEvent_v1(here, event, 0), CUDA_SUCCESS);
    expect("pending", cu->StreamQuery_v1(here), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(here), CUDA_SUCCESS);
    expect_number("waited", gate_passed(gate), 1);
}

/* A chain over many streams keeps its order. */
CHECK(chain, "wait.chain", .needs = {S(StreamWaitEvent_v1)})
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
        require("memset", cu->MemsetD8Async_v1(memory, (unsigned char)(i + 1), (size_t)(LENGTH - i), streams[i]));
        require("record", cu->EventRecord_v1(event, streams[i]));
        if (i + 1 < LENGTH)
            require("wait", cu->StreamWaitEvent_v1(streams[i + 1], event, 0));
        require("destroy", cu->EventDestroy_v2(disown(event)));
    }
    expect("synchronize-last", cu->StreamSynchronize_v1(streams[LENGTH - 1]), CUDA_SUCCESS);
    require("copy", cu->MemcpyDtoH_v2(bytes, memory, LENGTH));
    for (int i = 0; i < LENGTH; i++)
        ordered = ordered && bytes[i] == LENGTH - i;
    expect_true("ordered", ordered);
}
