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
    return result;
}

/* A new stream, which joins the capture of `origin`. */
static CUstream stream_forked(CUstream origin)
{
    CUstream side = stream_new();
    require("fork", make_wait(origin, side));
    return side;
}

CHECK(fork_join, "join.fork-join", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream side = stream_new();
    CUgraph graph = NULL;
    size_t roots = 99;
    CUstream origin = stream_capturing();
    require("work", add_work(origin));
    expect("fork", make_wait(origin, side), CUDA_SUCCESS);
    expect_text("side-status", capture_status(side), "active");
    expect("side-work", add_work(side), CUDA_SUCCESS);
    expect("origin-work", add_work(origin), CUDA_SUCCESS);
    expect("join", make_wait(side, origin), CUDA_SUCCESS);
    expect("joined-work", add_work(origin), CUDA_SUCCESS);
    expect("end", capture_end_with(origin, &graph), CUDA_SUCCESS);
    expect_text("side-status-after", capture_status(side), "none");
    require("roots", cu->GraphGetRootNodes_v1(graph, NULL, &roots));
    expect_number("nodes", graph_nodes(graph), 4);
    expect_number("edges", graph_edges(graph), 4);
    expect_number("roots", (long long)roots, 1);
    expect("side-usable", cu->StreamSynchronize_v1(side), CUDA_SUCCESS);
}

CHECK(unjoined, "join.unjoined", .needs = {S(StreamBeginCapture_v2)})
{
    CUgraph graph = UNTOUCHED_HANDLE;
    CUstream origin = stream_capturing();
    CUstream side = stream_forked(origin);
    require("work", add_work(side));
    expect("end", cu->StreamEndCapture_v1(origin, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    expect_true("graph-is-null", graph == NULL);
    expect_text("origin-status", capture_status(origin), "none");
    expect_text("side-status", capture_status(side), "none");
    expect("side-usable", cu->StreamSynchronize_v1(side), CUDA_SUCCESS);
}

/* A fork without any work has nothing to join. */
CHECK(unjoined_empty, "join.unjoined-empty", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream origin = stream_capturing();
    require("work", add_work(origin));
    CUstream side = stream_forked(origin);
    expect("end", capture_end(origin), CUDA_SUCCESS);
    expect_text("side-status", capture_status(side), "none");
}

/* The stream was joined, but more work was added to it afterwards. */
CHECK(unjoined_after_join, "join.unjoined-after-join", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream origin = stream_capturing();
    CUstream side = stream_forked(origin);
    require("work", add_work(side));
    require("join", make_wait(side, origin));
    require("work", add_work(side));
    expect("end", capture_end(origin), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

CHECK(end_on_side, "join.end-on-side", .needs = {S(StreamBeginCapture_v2)})
{
    CUgraph graph = NULL;
    CUstream origin = stream_capturing();
    CUstream side = stream_forked(origin);
    expect("end-side", cu->StreamEndCapture_v1(side, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    expect_text("origin-status", capture_status(origin), "invalidated");
    expect("begin-side", cu->StreamBeginCapture_v2(side, RELAXED), CUDA_ERROR_ILLEGAL_STATE);
    expect_text("origin-status-then", capture_status(origin), "invalidated");
    expect("end", capture_end(origin), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

CHECK(two_captures, "join.two-captures", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream second = stream_new();
    CUevent event = event_new();
    CUstream first = stream_capturing();
    expect("begin-second", cu->StreamBeginCapture_v2(second, RELAXED), CUDA_SUCCESS);
    require("record", cu->EventRecord_v1(event, first));
    expect("merge", cu->StreamWaitEvent_v1(second, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    expect_text("first-status", capture_status(first), "invalidated");
    expect_text("second-status", capture_status(second), "invalidated");
    expect("end-second", capture_end(second), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect("end-first", capture_end(first), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

CHECK(outside_event, "join.outside-event", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream other = stream_new();
    CUevent event = event_new();
    CUevent unrecorded = event_new();
    require("record", cu->EventRecord_v1(event, other));
    CUstream stream = stream_capturing();
    expect("unrecorded", cu->StreamWaitEvent_v1(stream, unrecorded, 0), CUDA_SUCCESS);
    expect_text("unrecorded-status", capture_status(stream), "active");
    expect("recorded", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    expect_text("status", capture_status(stream), "invalidated");
    expect("end", capture_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* The allowed queries of an event that was recorded in a capture. */
CHECK(captured_event, "join.captured-event", .needs = {S(StreamBeginCapture_v2)})
{
    CUevent event = event_new();
    CUevent timed = event_timed();
    float time = 0;
    CUstream stream = stream_capturing();
    require("record", cu->EventRecord_v1(event, stream));
    expect("query", cu->EventQuery_v1(event), CUDA_ERROR_CAPTURED_EVENT);
    expect_text("query-status", capture_status(stream), "invalidated");
    (void)capture_end(stream);
    capture_begin(stream);
    require("record", cu->EventRecord_v1(event, stream));
    expect("synchronize", cu->EventSynchronize_v1(event), CUDA_ERROR_CAPTURED_EVENT);
    expect_text("synchronize-status", capture_status(stream), "invalidated");
    (void)capture_end(stream);
    capture_begin(stream);
    require("record", cu->EventRecord_v1(timed, stream));
    expect("elapsed", cu->EventElapsedTime_v1(&time, timed, timed), CUDA_ERROR_CAPTURED_EVENT);
    expect_text("elapsed-status", capture_status(stream), "active");
    expect("end", capture_end(stream), CUDA_SUCCESS);
    expect("query-after", cu->EventQuery_v1(event), CUDA_ERROR_INVALID_VALUE);
    expect("synchronize-after", cu->EventSynchronize_v1(event), CUDA_ERROR_INVALID_VALUE);
    expect("wait-after", cu->StreamWaitEvent_v1(stream, event, 0), CUDA_ERROR_INVALID_VALUE);
    expect("record-after", cu->EventRecord_v1(event, stream), CUDA_SUCCESS);
    expect("query-recorded-again", cu->EventSynchronize_v1(event), CUDA_SUCCESS);
    capture_begin(stream);
    require("record", cu->EventRecord_v1(event, stream));
    expect("destroy", cu->EventDestroy_v2(disown(event)), CUDA_SUCCESS);
    expect_text("destroy-status", capture_status(stream), "active");
    expect("destroy-end", capture_end(stream), CUDA_SUCCESS);
}

/* A stream with pending work can join a capture. The pending work is not part of the capture. */
CHECK(busy_side, "join.busy-side", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream side = stream_new();
    struct gate *gate = gate_new(side);
    CUstream origin = stream_capturing();
    expect("fork", make_wait(origin, side), CUDA_SUCCESS);
    expect_text("side-status", capture_status(side), "active");
    expect("join", make_wait(side, origin), CUDA_SUCCESS);
    expect("end", capture_end(origin), CUDA_SUCCESS);
    expect("query", cu->StreamQuery_v1(side), CUDA_ERROR_NOT_READY);
    gate_open(gate);
}

CHECK(legacy_in_capture, "join.legacy", .needs = {S(StreamBeginCapture_v2)})
{
    CUevent event = event_new();
    CUstream origin = stream_capturing();
    require("record", cu->EventRecord_v1(event, origin));
    expect("legacy-waits", cu->StreamWaitEvent_v1(CU_STREAM_LEGACY, event, 0), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    expect_text("status", capture_status(origin), "invalidated");
    expect("end", capture_end(origin), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void destroy_forked(bool joined)
{
    CUstream origin = stream_capturing();
    CUstream side = stream_forked(origin);
    require("work", add_work(side));
    if (joined)
        require("join", make_wait(side, origin));
    observe("code", cu->StreamDestroy_v2(disown(side)));
    observe_text("status", capture_status(origin));
    observe("end", capture_end(origin));
}

CHECK(destroy_side, "join.destroy-side", .needs = {S(StreamBeginCapture_v2)})
{
    destroy_forked(true);
}

CHECK(destroy_side_unjoined, "join.destroy-side-unjoined", .needs = {S(StreamBeginCapture_v2)})
{
    destroy_forked(false);
}

/* The same work twice: captured and launched, and enqueued directly. */
CHECK(same_result, "join.same-result", .needs = {S(StreamBeginCapture_v2), S(GraphInstantiateWithFlags_v1)})
{
    CUdeviceptr memory = memory_new(32, 0);
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    unsigned char bytes[32] = {0};
    CUstream origin = stream_capturing();
    require("memset", cu->MemsetD8Async_v1(memory, 1, 32, origin));
    CUstream side = stream_forked(origin);
    require("memset", cu->MemsetD8Async_v1(memory, 2, 8, side));
    require("memset", cu->MemsetD8Async_v1(memory + 8, 3, 8, origin));
    require("join", make_wait(side, origin));
    require("copy", cu->MemcpyDtoDAsync_v2(memory + 16, memory, 16, origin));
    expect("end", capture_end_with(origin, &graph), CUDA_SUCCESS);
    expect("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    expect("launch", cu->GraphLaunch_v1(executable, origin), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(origin), CUDA_SUCCESS);
    require("copy", cu->MemcpyDtoH_v2(bytes, memory, 32));
    expect_number("from-side", bytes[16], 2);
    expect_number("from-origin", bytes[24], 3);
    require("destroy", cu->GraphExecDestroy_v1(executable));
}
