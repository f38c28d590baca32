/* SPDX-License-Identifier: MIT */
/* Capture on one stream: begin, end, status, what is captured, and what invalidates the capture. */
#include <stdio.h>

#include "kernels.h"

#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static void begin_end(void)
{
    CUstream stream = stream_new();
    CUgraph graph = NULL;
    size_t count = 99;
    saw_text("status-before", capture_status(stream));
    rule("begin", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_SUCCESS);
    saw_text("status-during", capture_status(stream));
    rule("begin-again", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_ERROR_ILLEGAL_STATE);
    saw_text("status-after-begin-again", capture_status(stream));
    rule("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    saw_text("status-after", capture_status(stream));
    rule_fact("graph-there", graph != NULL);
    rule("nodes", cu->GraphGetNodes_v1(graph, NULL, &count), CUDA_SUCCESS);
    rule_number("empty", (long long)count, 0);
    rule("graph-destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
    stream_end(stream);
}

static void arguments(void)
{
    CUstream stream = stream_new();
    CUgraph graph = UNTOUCHED_HANDLE;
    CUstreamCaptureStatus status;
    rule("mode-3", cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)3), CUDA_ERROR_INVALID_VALUE);
    rule("mode-negative", cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)-1), CUDA_ERROR_INVALID_VALUE);
    rule("end-idle", cu->StreamEndCapture_v1(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    saw_text("end-idle-graph", graph == NULL ? "null" : graph == UNTOUCHED_HANDLE ? "untouched" : "other");
    saw("end-idle-null", cu->StreamEndCapture_v1(stream, NULL));
    rule("is-capturing-null", cu->StreamIsCapturing_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    rule("is-capturing-zero", cu->StreamIsCapturing_v1(NULL, &status), CUDA_SUCCESS);
    rule("is-capturing-legacy", cu->StreamIsCapturing_v1(CU_STREAM_LEGACY, &status), CUDA_SUCCESS);
    rule("is-capturing-per-thread", cu->StreamIsCapturing_v1(CU_STREAM_PER_THREAD, &status), CUDA_SUCCESS);
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("is-capturing-no-context", cu->StreamIsCapturing_v1(stream, &status), CUDA_SUCCESS);
    saw("is-capturing-no-context-zero", cu->StreamIsCapturing_v1(NULL, &status));
    stream_end(stream);
}

static void idle_status(void)
{
    CUstream stream = stream_new();
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    rule("code", cu->StreamIsCapturing_v1(stream, &status), CUDA_SUCCESS);
    rule_number("none", (long long)status, CU_STREAM_CAPTURE_STATUS_NONE);
    rule("zero", cu->StreamIsCapturing_v1(NULL, &status), CUDA_SUCCESS);
    rule("null", cu->StreamIsCapturing_v1(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    stream_end(stream);
}

static void end_null(void)
{
    CUstream stream = stream_new();
    capture_begin(stream);
    saw("code", cu->StreamEndCapture_v1(stream, NULL));
    saw_text("status", capture_status(stream));
    saw("end-again", capture_end(stream));
    stream_end(stream);
}

static void special(void)
{
    rule("legacy", cu->StreamBeginCapture_v2(CU_STREAM_LEGACY, RELAXED), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CUresult result = cu->StreamBeginCapture_v2(NULL, RELAXED);
    rule("zero", result,
         cu_kind == CUSHIM_DEFAULT_STREAM_PER_THREAD ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (result == CUDA_SUCCESS)
        rule("zero-end", capture_end(NULL), CUDA_SUCCESS);
    rule("per-thread", cu->StreamBeginCapture_v2(CU_STREAM_PER_THREAD, RELAXED), CUDA_SUCCESS);
    saw_text("per-thread-status", capture_status(CU_STREAM_PER_THREAD));
    rule("per-thread-end", capture_end(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
}

static void no_context(void)
{
    CUstream stream = stream_new();
    atomic_int calls = 0;
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    rule("begin", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_SUCCESS);
    rule("work", cu->LaunchHostFunc_v1(stream, count_host_function, &calls), CUDA_SUCCESS);
    rule("end", capture_end(stream), CUDA_SUCCESS);
    saw("begin-zero", cu->StreamBeginCapture_v2(NULL, RELAXED));
    saw("begin-legacy", cu->StreamBeginCapture_v2(CU_STREAM_LEGACY, RELAXED));
    saw("begin-per-thread", cu->StreamBeginCapture_v2(CU_STREAM_PER_THREAD, RELAXED));
    stream_end(stream);
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
    need("nodes", cu->GraphGetNodes_v1(graph, nodes, &count));
    for (size_t i = 0; i < count && length < 200; i++) {
        CUgraphNodeType type = (CUgraphNodeType)99;
        need("node-type", cu->GraphNodeGetType_v1(nodes[i], &type));
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s", i > 0 ? " " : "",
                           (unsigned)type < 14 ? names[type] : "unknown");
    }
    return text;
}

static void kinds(void)
{
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(64, 0);
    unsigned char *pinned = host_new(64, NULL);
    atomic_int calls = 0;
    CUgraph graph = NULL;
    unsigned char byte = 99;
    if (pinned == NULL)
        return;
    capture_begin(stream);
    rule("memset", cu->MemsetD8Async_v1(memory, 9, 64, stream), CUDA_SUCCESS);
    rule("copy-up", cu->MemcpyHtoDAsync_v2(memory, pinned, 64, stream), CUDA_SUCCESS);
    rule("copy-between", cu->MemcpyDtoDAsync_v2(memory + 32, memory, 32, stream), CUDA_SUCCESS);
    rule("copy-down", cu->MemcpyDtoHAsync_v2(pinned, memory, 64, stream), CUDA_SUCCESS);
    rule("host-function", cu->LaunchHostFunc_v1(stream, count_host_function, &calls), CUDA_SUCCESS);
    saw("empty-memset", cu->MemsetD8Async_v1(memory, 9, 0, stream));
    saw("empty-copy", cu->MemcpyHtoDAsync_v2(memory, pinned, 0, stream));
    saw_text("status", capture_status(stream));
    rule("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    saw_text("nodes", graph != NULL ? node_types(graph) : "none");
    size_t edges = 99;
    need("edges", cu->GraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
    saw_number("edges", (long long)edges);
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    need("copy", cu->MemcpyDtoH_v2(&byte, memory, 1));
    rule_number("memory-unchanged", byte, 0);
    rule_number("not-called", atomic_load(&calls), 0);
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
    need("free", cu->MemFree_v2(memory));
    host_free(pinned);
}

static void kind_kernel(void)
{
    CUfunction function = NULL;
    CUstream stream = stream_new();
    CUgraph graph = NULL;
    if (!need("kernel", kernel_get("conformance_nothing", &function)))
        return;
    capture_begin(stream);
    rule("launch", kernel_launch(function, stream, NULL), CUDA_SUCCESS);
    rule("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    saw_text("nodes", graph != NULL ? node_types(graph) : "none");
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
}

static void kind_memory(void)
{
    CUstream stream = stream_new();
    CUdeviceptr memory = 0;
    CUgraph graph = NULL;
    capture_begin(stream);
    rule("alloc", cu->MemAllocAsync_v1(&memory, 64, stream), CUDA_SUCCESS);
    rule_fact("address", memory != 0);
    rule("use", cu->MemsetD8Async_v1(memory, 1, 64, stream), CUDA_SUCCESS);
    rule("free", cu->MemFreeAsync_v1(memory, stream), CUDA_SUCCESS);
    rule("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    saw_text("nodes", graph != NULL ? node_types(graph) : "none");
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
}

static void kind_event(void)
{
    CUstream stream = stream_new();
    CUevent event = event_new();
    CUgraph graph = NULL;
    capture_begin(stream);
    rule("record-external", cu->EventRecordWithFlags_v1(event, stream, CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
    rule("wait-external", cu->StreamWaitEvent_v1(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
    rule("record", cu->EventRecordWithFlags_v1(event, stream, 0), CUDA_SUCCESS);
    rule("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_SUCCESS);
    saw_text("nodes", graph != NULL ? node_types(graph) : "none");
    need("destroy", cu->GraphDestroy_v1(graph));
    need("event-destroy", cu->EventDestroy_v2(event));
    stream_end(stream);
}

static void kind_value(void)
{
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(64, 0);
    CUgraph graph = NULL;
    capture_begin(stream);
    saw("write", cu->StreamWriteValue32_v2(stream, memory, 1, 0));
    saw_text("status", capture_status(stream));
    saw("wait", cu->StreamWaitValue32_v2(stream, memory, 1, CU_STREAM_WAIT_VALUE_GEQ));
    saw("end", cu->StreamEndCapture_v1(stream, &graph));
    saw_text("nodes", graph != NULL ? node_types(graph) : "none");
    if (graph != NULL)
        need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
    need("free", cu->MemFree_v2(memory));
}

/* A copy from pageable memory is partly synchronous, so its capture needs a check of its own. */
static void pageable_copy(void)
{
    static unsigned char plain[64];
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(64, 0);
    capture_begin(stream);
    saw("up", cu->MemcpyHtoDAsync_v2(memory, plain, 64, stream));
    saw("down", cu->MemcpyDtoHAsync_v2(plain, memory, 64, stream));
    saw_text("status", capture_status(stream));
    saw("end", capture_end(stream));
    stream_end(stream);
    need("free", cu->MemFree_v2(memory));
}

/* Work that was pending before the capture is not part of the capture, and the capture does not wait for it. */
static void beside_pending_work(void)
{
    struct gate gate;
    CUstream stream = stream_new();
    if (!gate_close(&gate, stream))
        return;
    rule("begin", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_SUCCESS);
    rule("work", add_work(stream), CUDA_SUCCESS);
    rule("end", capture_end(stream), CUDA_SUCCESS);
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    rule("query", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    stream_end(stream);
}

static void invalidated(void)
{
    CUstream stream = stream_new();
    CUgraph graph = UNTOUCHED_HANDLE;
    unsigned flags = 0;
    capture_begin(stream);
    rule("query", cu->StreamQuery_v1(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    saw_text("status", capture_status(stream));
    saw("work", add_work(stream));
    saw("query-again", cu->StreamQuery_v1(stream));
    saw("synchronize", cu->StreamSynchronize_v1(stream));
    saw("flags", cu->StreamGetFlags_v1(stream, &flags));
    saw("begin-again", cu->StreamBeginCapture_v2(stream, RELAXED));
    rule("end", cu->StreamEndCapture_v1(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    rule_fact("graph-is-null", graph == NULL);
    saw_text("status-after", capture_status(stream));
    rule("end-again", cu->StreamEndCapture_v1(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    rule("usable", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    rule("capture-again", cu->StreamBeginCapture_v2(stream, RELAXED), CUDA_SUCCESS);
    rule("end-second", capture_end(stream), CUDA_SUCCESS);
    stream_end(stream);
}

static void callback(void)
{
    CUstream stream = stream_new();
    atomic_int calls = 0;
    capture_begin(stream);
    rule("code", cu->StreamAddCallback_v1(stream, count_callback, &calls, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    saw_text("status", capture_status(stream));
    rule("end", capture_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    stream_end(stream);
    rule_number("never-called", atomic_load(&calls), 0);
}

static void destroy_capturing(void)
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUdeviceptr memory = 0;
    need("begin", cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    need("work", add_work(stream));
    rule("code", cu->StreamDestroy_v2(stream), CUDA_SUCCESS);
    saw("other-query", cu->StreamQuery_v1(other));
    saw("alloc", cu->MemAlloc_v2(&memory, 64));
    saw("context-synchronize", cu->CtxSynchronize_v1());
    saw("begin-other", cu->StreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_GLOBAL));
    saw("end-other", capture_end(other));
}

/* The legacy stream beside the capture of a blocking stream. */
static void legacy_beside(void)
{
    CUstream stream = stream_blocking();
    CUstreamCaptureStatus status;
    CUdeviceptr memory = memory_new(16, 0);
    capture_begin(stream);
    rule("is-capturing", cu->StreamIsCapturing_v1(CU_STREAM_LEGACY, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    saw_text("status-1", capture_status(stream));
    saw("query", cu->StreamQuery_v1(CU_STREAM_LEGACY));
    saw_text("status-2", capture_status(stream));
    need("end", capture_end(stream) == CUDA_ERROR_UNKNOWN ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
    capture_begin(stream);
    saw("memset", cu->MemsetD8Async_v1(memory, 1, 16, CU_STREAM_LEGACY));
    saw_text("memset-status", capture_status(stream));
    saw("memset-end", capture_end(stream));
    capture_begin(stream);
    saw("plain-memset", cu->MemsetD8_v2(memory, 1, 16));
    saw_text("plain-memset-status", capture_status(stream));
    saw("plain-memset-end", capture_end(stream));
    need("settle", cu->CtxSynchronize_v1());
    capture_begin(stream);
    saw("per-thread", cu->StreamQuery_v1(CU_STREAM_PER_THREAD));
    saw_text("per-thread-status", capture_status(stream));
    saw("per-thread-end", capture_end(stream));
    stream_end(stream);
    CUstream free_running = stream_new();
    capture_begin(free_running);
    rule("beside-non-blocking", cu->StreamIsCapturing_v1(CU_STREAM_LEGACY, &status), CUDA_SUCCESS);
    saw("beside-non-blocking-memset", cu->MemsetD8Async_v1(memory, 1, 16, CU_STREAM_LEGACY));
    saw_text("beside-non-blocking-status", capture_status(free_running));
    saw("beside-non-blocking-end", capture_end(free_running));
    stream_end(free_running);
    need("free", cu->MemFree_v2(memory));
}

/* The first entry point, of CUDA 10.0, has no mode argument. This check finds out which mode it uses. */
static void first_abi(void)
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUdeviceptr memory = 0;
    rule("begin", cu->StreamBeginCapture_v1(stream), CUDA_SUCCESS);
    saw("other-query", cu->StreamQuery_v1(other));
    saw("alloc", cu->MemAlloc_v2(&memory, 64));
    saw_text("status", capture_status(stream));
    rule("end", capture_end(stream), CUDA_SUCCESS);
    rule("legacy", cu->StreamBeginCapture_v1(CU_STREAM_LEGACY), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    stream_end(stream);
    stream_end(other);
}

static const struct check checks[] = {
    {"capture.begin-end", begin_end, 0, {S(StreamBeginCapture_v2)}},
    {"capture.argument", arguments, 0, {S(StreamBeginCapture_v2)}},
    {"capture.idle-status", idle_status, 0, {S(StreamIsCapturing_v1)}},
    {"capture.end-null", end_null, 0, {S(StreamBeginCapture_v2)}},
    {"capture.special", special, 0, {S(StreamBeginCapture_v2)}},
    {"capture.no-context", no_context, 0, {S(StreamBeginCapture_v2)}},
    {"capture.kind", kinds, 0, {S(StreamBeginCapture_v2)}},
    {"capture.kind-kernel", kind_kernel, 0, {S(StreamBeginCapture_v2)}},
    {"capture.kind-memory",
     kind_memory,
     0,
     {S(StreamBeginCapture_v2), S(MemAllocAsync_v1), S(GraphAddMemAllocNode_v1)}},
    {"capture.kind-event", kind_event, 0, {S(StreamBeginCapture_v2), S(EventRecordWithFlags_v1)}},
    {"capture.kind-value", kind_value, 0, {S(StreamBeginCapture_v2), S(StreamWriteValue32_v2)}},
    {"capture.pageable-copy", pageable_copy, 0, {S(StreamBeginCapture_v2)}},
    {"capture.beside-pending-work", beside_pending_work, 0, {S(StreamBeginCapture_v2)}},
    {"capture.invalidated", invalidated, 0, {S(StreamBeginCapture_v2)}},
    {"capture.callback", callback, 0, {S(StreamBeginCapture_v2)}},
    {"capture.destroy-capturing", destroy_capturing, CHECK_ALONE, {S(ThreadExchangeStreamCaptureMode_v1)}},
    {"capture.legacy-beside", legacy_beside, 0, {S(StreamBeginCapture_v2)}},
    {"capture.first-abi", first_abi, 0, {S(StreamBeginCapture_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_capture = {"capture", checks};
