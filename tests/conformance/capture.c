/* SPDX-License-Identifier: MIT */
/* Capture on one stream: begin, end, status, what is captured, and what invalidates the capture. */
#include <stdio.h>

#include "kernels.h"

#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

CHECK(begin_end, "capture.begin-end", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream stream = stream_new();
    CUgraph graph = NULL;
    size_t count = 99;
    expect_text("status-before", capture_status(stream), "none");
    expect("begin", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_SUCCESS);
    expect_text("status-during", capture_status(stream), "active");
    expect("begin-again", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_ERROR_ILLEGAL_STATE);
    expect_text("status-after-begin-again", capture_status(stream), "active");
    expect("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    expect_text("status-after", capture_status(stream), "none");
    expect_true("graph-there", graph != NULL);
    expect("nodes", cu->GraphGetNodes_v1(graph, NULL, &count), CUDA_SUCCESS);
    expect_number("empty", (long long)count, 0);
    expect("graph-destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
}

CHECK(arguments, "capture.argument", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream stream = stream_new();
    CUgraph graph = UNTOUCHED_HANDLE;
    CUstreamCaptureStatus status;
    expect("mode-3", cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)3), CUDA_ERROR_INVALID_VALUE);
    expect("mode-negative", cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)-1), CUDA_ERROR_INVALID_VALUE);
    expect("end-idle", cu->StreamEndCapture_v1(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    expect_text("end-idle-graph", graph == NULL ? "null" : graph == UNTOUCHED_HANDLE ? "untouched" : "other", "null");
    expect("end-idle-null", cu->StreamEndCapture_v1(stream, NULL), CUDA_ERROR_ILLEGAL_STATE);
    expect("is-capturing-null", cu->StreamIsCapturing_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 3; i++)
        expect(key_format("is-capturing-%s", specials[i].name), cu->StreamIsCapturing_v1(specials[i].stream, &status),
               CUDA_SUCCESS);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("is-capturing-no-context", cu->StreamIsCapturing_v1(stream, &status), CUDA_SUCCESS);
    expect("is-capturing-no-context-zero", cu->StreamIsCapturing_v1(NULL, &status), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(idle_status, "capture.idle-status", .needs = {S(StreamIsCapturing_v1)})
{
    CUstream stream = stream_new();
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    expect("code", cu->StreamIsCapturing_v1(stream, &status), CUDA_SUCCESS);
    expect_number("none", (long long)status, CU_STREAM_CAPTURE_STATUS_NONE);
    expect("zero", cu->StreamIsCapturing_v1(NULL, &status), CUDA_SUCCESS);
    expect("null", cu->StreamIsCapturing_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
}

CHECK(end_null, "capture.end-null", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream stream = stream_capturing();
    expect("code", cu->StreamEndCapture_v1(stream, NULL), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "none");
    expect("end-again", capture_end(stream), CUDA_ERROR_ILLEGAL_STATE);
}

CHECK(special, "capture.special", .needs = {S(StreamBeginCapture_v2)})
{
    expect("legacy", cu->StreamBeginCapture_v2(CU_STREAM_LEGACY, RELAXED), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CUresult result = cu->StreamBeginCapture_v2(NULL, RELAXED);
    expect("zero", result,
           cu_kind == CUSHIM_DEFAULT_STREAM_PER_THREAD ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (result == CUDA_SUCCESS)
        expect("zero-end", capture_end(NULL), CUDA_SUCCESS);
    expect("per-thread", cu->StreamBeginCapture_v2(CU_STREAM_PER_THREAD, RELAXED), CUDA_SUCCESS);
    expect_text("per-thread-status", capture_status(CU_STREAM_PER_THREAD), "active");
    expect("per-thread-end", capture_end(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
}

CHECK(no_context, "capture.no-context", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream stream = stream_new();
    atomic_int calls = 0;
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("begin", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_SUCCESS);
    expect("work", cu->LaunchHostFunc_v1(stream, count_host_function, &calls), CUDA_SUCCESS);
    expect("end", capture_end(stream), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        observe(key_format("begin-%s", specials[i].name), cu->StreamBeginCapture_v2(specials[i].stream, RELAXED));
}

/* Captured work does not run, and each kind of work becomes a node of its kind. */
static const char *node_types(CUgraph graph)
{
    static const char *const names[] = {"kernel",    "memcpy",     "memset", "host",       "graph",
                                        "empty",     "wait-event", "record", "sem-signal", "sem-wait",
                                        "mem-alloc", "mem-free",   "batch",  "conditional"};
    static char text[256];
    CUgraphNode nodes[32];
    size_t count = 32;
    int length = 0;
    text[0] = '\0';
    require("nodes", cu->GraphGetNodes_v1(graph, nodes, &count));
    for (size_t i = 0; i < count && length < 200; i++) {
        CUgraphNodeType type = (CUgraphNodeType)99;
        require("node-type", cu->GraphNodeGetType_v1(nodes[i], &type));
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s", i > 0 ? " " : "",
                           (unsigned)type < 14 ? names[type] : "unknown");
    }
    return text;
}

static CUgraph end_with_nodes(CUstream stream)
{
    CUgraph graph = NULL;
    expect("end", capture_end_with(stream, &graph), CUDA_SUCCESS);
    observe_text("nodes", graph != NULL ? node_types(graph) : "none");
    return graph;
}

CHECK(kinds, "capture.kind", .needs = {S(StreamBeginCapture_v2)})
{
    CUdeviceptr memory = memory_new(64, 0);
    unsigned char *pinned = host_new(64, NULL);
    atomic_int calls = 0;
    unsigned char byte = 99;
    CUstream stream = stream_capturing();
    expect("memset", cu->MemsetD8Async_v1(memory, 9, 64, stream), CUDA_SUCCESS);
    expect("copy-up", cu->MemcpyHtoDAsync_v2(memory, pinned, 64, stream), CUDA_SUCCESS);
    expect("copy-between", cu->MemcpyDtoDAsync_v2(memory + 32, memory, 32, stream), CUDA_SUCCESS);
    expect("copy-down", cu->MemcpyDtoHAsync_v2(pinned, memory, 64, stream), CUDA_SUCCESS);
    expect("host-function", cu->LaunchHostFunc_v1(stream, count_host_function, &calls), CUDA_SUCCESS);
    expect("empty-memset", cu->MemsetD8Async_v1(memory, 9, 0, stream), CUDA_SUCCESS);
    expect("empty-copy", cu->MemcpyHtoDAsync_v2(memory, pinned, 0, stream), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "active");
    expect_number("edges", graph_edges(end_with_nodes(stream)), 4);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    require("copy", cu->MemcpyDtoH_v2(&byte, memory, 1));
    expect_number("memory-unchanged", byte, 0);
    expect_number("not-called", atomic_load(&calls), 0);
}

CHECK(kind_kernel, "capture.kind-kernel", .needs = {S(StreamBeginCapture_v2)})
{
    CUfunction function = kernel_new("conformance_nothing");
    CUstream stream = stream_capturing();
    expect("launch", kernel_launch(function, stream, NULL), CUDA_SUCCESS);
    end_with_nodes(stream);
}

CHECK(kind_memory, "capture.kind-memory",
      .needs = {S(StreamBeginCapture_v2), S(MemAllocAsync_v1), S(GraphAddMemAllocNode_v1)})
{
    CUdeviceptr memory = 0;
    CUstream stream = stream_capturing();
    expect("alloc", cu->MemAllocAsync_v1(&memory, 64, stream), CUDA_SUCCESS);
    expect_true("address", memory != 0);
    expect("use", cu->MemsetD8Async_v1(memory, 1, 64, stream), CUDA_SUCCESS);
    expect("free", cu->MemFreeAsync_v1(memory, stream), CUDA_SUCCESS);
    end_with_nodes(stream);
}

CHECK(kind_event, "capture.kind-event", .needs = {S(StreamBeginCapture_v2), S(EventRecordWithFlags_v1)})
{
    CUevent event = event_new();
    CUstream stream = stream_capturing();
    expect("record-external", cu->EventRecordWithFlags_v1(event, stream, CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
    expect("wait-external", cu->StreamWaitEvent_v1(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
    expect("record", cu->EventRecordWithFlags_v1(event, stream, 0), CUDA_SUCCESS);
    end_with_nodes(stream);
}

CHECK(kind_value, "capture.kind-value", .needs = {S(StreamBeginCapture_v2), S(StreamWriteValue32_v2)})
{
    CUdeviceptr memory = memory_new(64, 0);
    CUstream stream = stream_capturing();
    expect("write", cu->StreamWriteValue32_v2(stream, memory, 1, 0), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "active");
    expect("wait", cu->StreamWaitValue32_v2(stream, memory, 1, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
    end_with_nodes(stream);
}

/* A copy from pageable memory is partly synchronous, so its capture needs a check of its own. */
CHECK(pageable_copy, "capture.pageable-copy", .needs = {S(StreamBeginCapture_v2)})
{
    static unsigned char plain[64];
    CUdeviceptr memory = memory_new(64, 0);
    CUstream stream = stream_capturing();
    expect("up", cu->MemcpyHtoDAsync_v2(memory, plain, 64, stream), CUDA_SUCCESS);
    expect("down", cu->MemcpyDtoHAsync_v2(plain, memory, 64, stream), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "active");
    expect("end", capture_end(stream), CUDA_SUCCESS);
}

/* Work that was pending before the capture is not part of the capture, and the capture does not wait for it. */
CHECK(beside_pending_work, "capture.beside-pending-work", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream stream = stream_new();
    struct gate *gate = gate_new(stream);
    expect("begin", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_SUCCESS);
    expect("work", add_work(stream), CUDA_SUCCESS);
    expect("end", capture_end(stream), CUDA_SUCCESS);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    expect("query", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    gate_open(gate);
}

CHECK(invalidated, "capture.invalidated", .needs = {S(StreamBeginCapture_v2)})
{
    CUgraph graph = UNTOUCHED_HANDLE;
    unsigned flags = 0;
    CUstream stream = stream_capturing();
    expect("query", cu->StreamQuery_v1(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    observe_text("status", capture_status(stream));
    observe("work", add_work(stream));
    observe("query-again", cu->StreamQuery_v1(stream));
    observe("synchronize", cu->StreamSynchronize_v1(stream));
    observe("flags", cu->StreamGetFlags_v1(stream, &flags));
    observe("begin-again", cu->StreamBeginCapture_v2(stream, RELAXED));
    observe("end", cu->StreamEndCapture_v1(stream, &graph));
    expect_true("graph-is-null", graph == NULL);
    observe_text("status-after", capture_status(stream));
    expect("end-again", cu->StreamEndCapture_v1(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    expect("usable", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect("capture-again", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_SUCCESS);
    expect("end-second", capture_end(stream), CUDA_SUCCESS);
}

CHECK(callback, "capture.callback", .needs = {S(StreamBeginCapture_v2)})
{
    atomic_int calls = 0;
    CUstream stream = stream_capturing();
    expect("code", cu->StreamAddCallback_v1(stream, count_callback, &calls, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_text("status", capture_status(stream), "invalidated");
    expect("end", capture_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    stream_end(stream);
    expect_number("never-called", atomic_load(&calls), 0);
}

CHECK(destroy_capturing, "capture.destroy-capturing", .flags = CHECK_ALONE,
      .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUdeviceptr memory = 0;
    require("begin", cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    require("work", add_work(stream));
    expect("code", cu->StreamDestroy_v2(disown(stream)), CUDA_SUCCESS);
    expect("other-query", cu->StreamQuery_v1(other), CUDA_SUCCESS);
    expect("alloc", cu->MemAlloc_v2(&memory, 64), CUDA_SUCCESS);
    expect("context-synchronize", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    expect("begin-other", cu->StreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    expect("end-other", capture_end(other), CUDA_SUCCESS);
}

/* Reports a call during a capture, the status after it, and the end. */
static void observe_and_end(const char *key, CUstream stream, CUresult result)
{
    observe(key, result);
    observe_text(key_format("%s-status", key), capture_status(stream));
    observe(key_format("%s-end", key), capture_end(stream));
}

/* The legacy stream beside the capture of a blocking stream. */
CHECK(legacy_beside, "capture.legacy-beside", .needs = {S(StreamBeginCapture_v2)})
{
    CUstream stream = stream_blocking();
    CUstreamCaptureStatus status;
    CUdeviceptr memory = memory_new(16, 0);
    capture_begin(stream);
    observe("is-capturing", cu->StreamIsCapturing_v1(CU_STREAM_LEGACY, &status));
    observe_text("status-1", capture_status(stream));
    observe("query", cu->StreamQuery_v1(CU_STREAM_LEGACY));
    observe_text("status-2", capture_status(stream));
    require("end", capture_end(stream) == CUDA_ERROR_UNKNOWN ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
    capture_begin(stream);
    observe_and_end("memset", stream, cu->MemsetD8Async_v1(memory, 1, 16, CU_STREAM_LEGACY));
    capture_begin(stream);
    observe_and_end("plain-memset", stream, cu->MemsetD8_v2(memory, 1, 16));
    require("settle", cu->CtxSynchronize_v1());
    capture_begin(stream);
    observe_and_end("per-thread", stream, cu->StreamQuery_v1(CU_STREAM_PER_THREAD));
    stream_end(stream);
    CUstream free_running = stream_capturing();
    expect("beside-non-blocking", cu->StreamIsCapturing_v1(CU_STREAM_LEGACY, &status), CUDA_SUCCESS);
    observe("beside-non-blocking-memset", cu->MemsetD8Async_v1(memory, 1, 16, CU_STREAM_LEGACY));
    observe_text("beside-non-blocking-status", capture_status(free_running));
    observe("beside-non-blocking-end", capture_end(free_running));
}

/* The first entry point, of CUDA 10.0, has no mode argument. This check finds out which mode it uses. */
CHECK(first_abi, "capture.first-abi", .needs = {S(StreamBeginCapture_v1)})
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUdeviceptr memory = 0;
    expect("begin", cu->StreamBeginCapture_v1(stream), CUDA_SUCCESS);
    expect("other-query", cu->StreamQuery_v1(other), CUDA_SUCCESS);
    expect("alloc", cu->MemAlloc_v2(&memory, 64), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "active");
    expect("end", capture_end(stream), CUDA_SUCCESS);
    expect("legacy", cu->StreamBeginCapture_v1(CU_STREAM_LEGACY), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}
