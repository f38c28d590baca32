/* SPDX-License-Identifier: MIT */
/* Captures over several streams: fork, join, and all errors in doing so. */
#include "fixture.h"

#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

/* Makes all later work in `to` wait for the work that is now in `from`. */
static CUresult make_wait(CUstream from, CUstream to)
{
    CUevent event = event_new();
    CUresult result = cu->EventRecord_v1(event, from);
    if (result == CUDA_SUCCESS)
        result = cu->StreamWaitEvent_v1(to, event, 0);
    need("event-destroy", cu->EventDestroy_v2(event));
    return result;
}

static void fork_join(void)
{
    CUstream origin = stream_new();
    CUstream side = stream_new();
    CUgraph graph = NULL;
    size_t nodes = 99;
    size_t edges = 99;
    size_t roots = 99;
    capture_begin(origin);
    need("work", add_work(origin));
    rule("fork", make_wait(origin, side), CUDA_SUCCESS);
    saw_text("side-status", capture_status(side));
    rule("side-work", add_work(side), CUDA_SUCCESS);
    rule("origin-work", add_work(origin), CUDA_SUCCESS);
    rule("join", make_wait(side, origin), CUDA_SUCCESS);
    rule("joined-work", add_work(origin), CUDA_SUCCESS);
    rule("end", cu->StreamEndCapture_v1(origin, &graph), CUDA_SUCCESS);
    saw_text("side-status-after", capture_status(side));
    need("nodes", cu->GraphGetNodes_v1(graph, NULL, &nodes));
    need("edges", cu->GraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
    need("roots", cu->GraphGetRootNodes_v1(graph, NULL, &roots));
    rule_number("nodes", (long long)nodes, 4);
    rule_number("edges", (long long)edges, 4);
    rule_number("roots", (long long)roots, 1);
    rule("side-usable", cu->StreamSynchronize_v1(side), CUDA_SUCCESS);
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(side);
    stream_end(origin);
}

static void unjoined(void)
{
    CUstream origin = stream_new();
    CUstream side = stream_new();
    CUgraph graph = UNTOUCHED_HANDLE;
    capture_begin(origin);
    need("fork", make_wait(origin, side));
    need("work", add_work(side));
    rule("end", cu->StreamEndCapture_v1(origin, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    rule_fact("graph-is-null", graph == NULL);
    saw_text("origin-status", capture_status(origin));
    saw_text("side-status", capture_status(side));
    rule("side-usable", cu->StreamSynchronize_v1(side), CUDA_SUCCESS);
    stream_end(side);
    stream_end(origin);
}

/* A fork without any work has nothing to join. */
static void unjoined_empty(void)
{
    CUstream origin = stream_new();
    CUstream side = stream_new();
    capture_begin(origin);
    need("work", add_work(origin));
    need("fork", make_wait(origin, side));
    saw("end", capture_end(origin));
    saw_text("side-status", capture_status(side));
    stream_end(side);
    stream_end(origin);
}

/* The stream was joined, but more work was added to it afterwards. */
static void unjoined_after_join(void)
{
    CUstream origin = stream_new();
    CUstream side = stream_new();
    capture_begin(origin);
    need("fork", make_wait(origin, side));
    need("work", add_work(side));
    need("join", make_wait(side, origin));
    need("work", add_work(side));
    rule("end", capture_end(origin), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    stream_end(side);
    stream_end(origin);
}

static void end_on_side(void)
{
    CUstream origin = stream_new();
    CUstream side = stream_new();
    CUgraph graph = NULL;
    capture_begin(origin);
    need("fork", make_wait(origin, side));
    rule("end-side", cu->StreamEndCapture_v1(side, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    saw_text("origin-status", capture_status(origin));
    saw("begin-side", cu->StreamBeginCapture_v2(side, RELAXED));
    saw_text("origin-status-then", capture_status(origin));
    saw("end", capture_end(origin));
    stream_end(side);
    stream_end(origin);
}

static void two_captures(void)
{
    CUstream first = stream_new();
    CUstream second = stream_new();
    CUevent event = event_new();
    capture_begin(first);
    rule("begin-second", cu->StreamBeginCapture_v2(second, RELAXED), CUDA_SUCCESS);
    need("record", cu->EventRecord_v1(event, first));
    rule("merge", cu->StreamWaitEvent_v1(second, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    saw_text("first-status", capture_status(first));
    saw_text("second-status", capture_status(second));
    saw("end-second", capture_end(second));
    saw("end-first", capture_end(first));
    need("destroy", cu->EventDestroy_v2(event));
    stream_end(first);
    stream_end(second);
}

static void outside_event(void)
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUevent event = event_new();
    CUevent unrecorded = event_new();
    need("record", cu->EventRecord_v1(event, other));
    capture_begin(stream);
    saw("unrecorded", cu->StreamWaitEvent_v1(stream, unrecorded, 0));
    saw_text("unrecorded-status", capture_status(stream));
    rule("recorded", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    saw_text("status", capture_status(stream));
    rule("end", capture_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    need("destroy", cu->EventDestroy_v2(event));
    need("destroy", cu->EventDestroy_v2(unrecorded));
    stream_end(stream);
    stream_end(other);
}

/* The allowed queries of an event that was recorded in a capture. */
static void captured_event(void)
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    CUevent timed = NULL;
    float time = 0;
    need("event", cu->EventCreate_v1(&timed, CU_EVENT_DEFAULT));
    capture_begin(stream);
    need("record", cu->EventRecord_v1(event, stream));
    rule("query", cu->EventQuery_v1(event), CUDA_ERROR_CAPTURED_EVENT);
    saw_text("query-status", capture_status(stream));
    (void)capture_end(stream);
    capture_begin(stream);
    need("record", cu->EventRecord_v1(event, stream));
    rule("synchronize", cu->EventSynchronize_v1(event), CUDA_ERROR_CAPTURED_EVENT);
    saw_text("synchronize-status", capture_status(stream));
    (void)capture_end(stream);
    capture_begin(stream);
    need("record", cu->EventRecord_v1(timed, stream));
    saw("elapsed", cu->EventElapsedTime_v1(&time, timed, timed));
    saw_text("elapsed-status", capture_status(stream));
    saw("end", capture_end(stream));
    saw("query-after", cu->EventQuery_v1(event));
    saw("synchronize-after", cu->EventSynchronize_v1(event));
    saw("wait-after", cu->StreamWaitEvent_v1(stream, event, 0));
    rule("record-after", cu->EventRecord_v1(event, stream), CUDA_SUCCESS);
    rule("query-recorded-again", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    capture_begin(stream);
    need("record", cu->EventRecord_v1(event, stream));
    saw("destroy", cu->EventDestroy_v2(event));
    saw_text("destroy-status", capture_status(stream));
    rule("destroy-end", capture_end(stream), CUDA_SUCCESS);
    need("destroy", cu->EventDestroy_v2(timed));
    stream_end(stream);
}

/* A stream with pending work can join a capture. The pending work is not part of the capture. */
static void busy_side(void)
{
    struct gate gate;
    CUstream origin = stream_new();
    CUstream side = stream_new();
    if (!gate_close(&gate, side))
        return;
    capture_begin(origin);
    saw("fork", make_wait(origin, side));
    saw_text("side-status", capture_status(side));
    saw("join", make_wait(side, origin));
    saw("end", capture_end(origin));
    saw("query", cu->StreamQuery_v1(side));
    gate_open(&gate);
    stream_end(side);
    stream_end(origin);
}

static void legacy_in_capture(void)
{
    CUstream origin = stream_new();
    CUevent event = event_new();
    capture_begin(origin);
    need("record", cu->EventRecord_v1(event, origin));
    saw("legacy-waits", cu->StreamWaitEvent_v1(CU_STREAM_LEGACY, event, 0));
    saw_text("status", capture_status(origin));
    saw("end", capture_end(origin));
    need("destroy", cu->EventDestroy_v2(event));
    stream_end(origin);
}

static void destroy_side(void)
{
    CUstream origin = stream_new();
    CUstream side = stream_new();
    capture_begin(origin);
    need("fork", make_wait(origin, side));
    need("work", add_work(side));
    need("join", make_wait(side, origin));
    saw("code", cu->StreamDestroy_v2(side));
    saw_text("status", capture_status(origin));
    saw("end", capture_end(origin));
    stream_end(origin);
}

static void destroy_side_unjoined(void)
{
    CUstream origin = stream_new();
    CUstream side = stream_new();
    capture_begin(origin);
    need("fork", make_wait(origin, side));
    need("work", add_work(side));
    saw("code", cu->StreamDestroy_v2(side));
    saw_text("status", capture_status(origin));
    saw("end", capture_end(origin));
    stream_end(origin);
}

/* The same work twice: captured and launched, and enqueued directly. */
static void same_result(void)
{
    CUstream origin = stream_new();
    CUstream side = stream_new();
    CUdeviceptr memory = memory_new(32, 0);
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    unsigned char bytes[32] = {0};
    capture_begin(origin);
    need("memset", cu->MemsetD8Async_v1(memory, 1, 32, origin));
    need("fork", make_wait(origin, side));
    need("memset", cu->MemsetD8Async_v1(memory, 2, 8, side));
    need("memset", cu->MemsetD8Async_v1(memory + 8, 3, 8, origin));
    need("join", make_wait(side, origin));
    need("copy", cu->MemcpyDtoDAsync_v2(memory + 16, memory, 16, origin));
    rule("end", cu->StreamEndCapture_v1(origin, &graph), CUDA_SUCCESS);
    rule("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    rule("launch", cu->GraphLaunch_v1(executable, origin), CUDA_SUCCESS);
    rule("synchronize", cu->StreamSynchronize_v1(origin), CUDA_SUCCESS);
    need("copy", cu->MemcpyDtoH_v2(bytes, memory, 32));
    rule_number("from-side", bytes[16], 2);
    rule_number("from-origin", bytes[24], 3);
    need("destroy", cu->GraphExecDestroy_v1(executable));
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(side);
    stream_end(origin);
    need("free", cu->MemFree_v2(memory));
}

static const struct check checks[] = {
    {"join.fork-join", fork_join, 0, {S(StreamBeginCapture_v2)}},
    {"join.unjoined", unjoined, 0, {S(StreamBeginCapture_v2)}},
    {"join.unjoined-empty", unjoined_empty, 0, {S(StreamBeginCapture_v2)}},
    {"join.unjoined-after-join", unjoined_after_join, 0, {S(StreamBeginCapture_v2)}},
    {"join.end-on-side", end_on_side, 0, {S(StreamBeginCapture_v2)}},
    {"join.two-captures", two_captures, 0, {S(StreamBeginCapture_v2)}},
    {"join.outside-event", outside_event, 0, {S(StreamBeginCapture_v2)}},
    {"join.captured-event", captured_event, 0, {S(StreamBeginCapture_v2)}},
    {"join.busy-side", busy_side, 0, {S(StreamBeginCapture_v2)}},
    {"join.legacy", legacy_in_capture, 0, {S(StreamBeginCapture_v2)}},
    {"join.destroy-side", destroy_side, 0, {S(StreamBeginCapture_v2)}},
    {"join.destroy-side-unjoined", destroy_side_unjoined, 0, {S(StreamBeginCapture_v2)}},
    {"join.same-result", same_result, 0, {S(StreamBeginCapture_v2), S(GraphInstantiateWithFlags_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_join = {"join", checks};
