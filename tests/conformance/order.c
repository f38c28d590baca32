/* SPDX-License-Identifier: MIT */
/* What calls and work wait for: the rows of ORDER.md that the other subjects do not show. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

/*
 * Reports whether a call waits for a gate. Another thread opens the gate if the call does not return: after a short
 * time if it must wait, and after a time in which it returns on the slowest machine if it must not.
 */
enum expected { RETURNS, WAITS };

static struct {
    struct gate *gate;
    enum expected expected;
    pthread_t thread;
    bool has_thread;
    atomic_bool has_returned;
    bool has_waited;
} watch;

static void *watch_main(void *unused)
{
    for (int left = watch.expected == WAITS ? 10 : 500; left > 0 && !atomic_load(&watch.has_returned); left--)
        pause_shortly();
    watch.has_waited = !atomic_load(&watch.has_returned);
    if (watch.has_waited)
        gate_open(watch.gate);
    return NULL;
}

static void watch_start(struct gate *gate, enum expected expected)
{
    watch.gate = gate;
    watch.expected = expected;
    watch.has_waited = false;
    atomic_store(&watch.has_returned, false);
    watch.has_thread = pthread_create(&watch.thread, NULL, watch_main, NULL) == 0;
    require("thread", watch.has_thread ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM);
}

/* Reports the result of the call, and whether it waited. Then the gate of a call that must wait is open. */
static void watch_end(const char *key, CUresult result)
{
    static const char *const words[] = {"returns", "waits"};
    char found[32], wanted[32];
    atomic_store(&watch.has_returned, true);
    if (watch.has_thread)
        pthread_join(watch.thread, NULL);
    if (watch.expected == WAITS)
        gate_open(watch.gate);
    snprintf(found, sizeof found, "%d %s", (int)result, words[watch.has_waited ? WAITS : RETURNS]);
    snprintf(wanted, sizeof wanted, "%d %s", (int)CUDA_SUCCESS, words[watch.expected]);
    expect_text(key, found, wanted);
}

enum { SMALL = 64, MEDIUM = 1 << 20, LARGE = 1 << 22 };

static unsigned char plain[LARGE], copied[LARGE]; /* host memory that is not pinned */

static void plain_to_device(const char *key, size_t size, enum expected expected)
{
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(size, 0);
    memset(plain, 1, size);
    struct gate *gate = gate_new(stream);
    watch_start(gate, expected);
    watch_end(key, cu->MemcpyHtoDAsync_v2(memory, plain, size, stream));
    memset(plain, 2, size);
    gate_open(gate);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    require("copy", cu->MemcpyDtoH_v2(copied, memory, size));
    expect_number(key_of(key, "read-before", NULL), copied[size - 1], 1);
}

/* The driver has room for some of the bytes until the stream is there. */
CHECK(plain_to_devices, "order.plain-to-device", .needs = {S(MemcpyHtoDAsync_v2)})
{
    plain_to_device("small", SMALL, RETURNS);
    plain_to_device("medium", MEDIUM, RETURNS);
    plain_to_device("large", LARGE, WAITS);
}

static void plain_to_host(const char *key, size_t size)
{
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(size, 3);
    memset(plain, 0, size);
    watch_start(gate_new(stream), WAITS);
    watch_end(key, cu->MemcpyDtoHAsync_v2(plain, memory, size, stream));
    expect_number(key_of(key, "copied", NULL), plain[size - 1], 3);
}

CHECK(plain_to_hosts, "order.plain-to-host", .needs = {S(MemcpyDtoHAsync_v2)})
{
    plain_to_host("small", SMALL);
    plain_to_host("large", LARGE);
}

static void to_device(const char *key, unsigned char *from, size_t size)
{
    CUdeviceptr memory = memory_new(size, 0);
    memset(from, 1, size);
    watch_start(gate_new(NULL), WAITS);
    watch_end(key, cu->MemcpyHtoD_v2(memory, from, size));
    memset(from, 2, size);
    require("copy", cu->MemcpyDtoH_v2(copied, memory, size));
    expect_number(key_of(key, "read-before", NULL), copied[size - 1], 1);
}

/* Whether the copy of memory that is not pinned is complete at the return depends on time. */
CHECK(to_devices, "order.to-device", .needs = {S(MemcpyHtoD_v2)})
{
    unsigned char *pinned = host_new(LARGE, NULL);
    to_device("small", plain, SMALL);
    to_device("large", plain, LARGE);
    to_device("small-pinned", pinned, SMALL);
    to_device("large-pinned", pinned, LARGE);
}

CHECK(in_device, "order.in-device", .needs = {S(MemcpyDtoD_v2)})
{
    CUdeviceptr first = memory_new(64, 1);
    CUdeviceptr second = memory_new(64, 0);
    CUdeviceptr mapped = 0;
    volatile unsigned char *pinned = host_new(64, &mapped);
    unsigned char bytes[64] = {0};
    struct gate *gate = gate_new(NULL);
    watch_start(gate, RETURNS);
    watch_end("copy", cu->MemcpyDtoD_v2(second, first, 64));
    expect("copy-pending", cu->StreamQuery_v1(NULL), CUDA_ERROR_NOT_READY);
    watch_start(gate, RETURNS);
    watch_end("set", cu->MemsetD8_v2(second, 2, 32));
    watch_start(gate, RETURNS);
    watch_end("copy-any", cu->Memcpy_v1(first, second, 16));
    expect("set-pending", cu->StreamQuery_v1(NULL), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    require("copy", cu->MemcpyDtoH_v2(bytes, second, 64));
    expect_number("set-won", bytes[31], 2);
    expect_number("copied", bytes[32], 1);
    gate = gate_new(NULL);
    watch_start(gate, WAITS);
    watch_end("set-pinned", cu->MemsetD8_v2(mapped, 4, 64));
    expect_number("set-pinned-complete", pinned[63], 4);
}

CHECK(after_free, "order.after-free", .needs = {S(MemAllocAsync_v1), S(MemFreeAsync_v1)})
{
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUdeviceptr memory = 0;
    unsigned char *pinned = host_new(64, NULL);
    require("alloc", cu->MemAllocAsync_v1(&memory, 64, stream));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    struct gate *gate = gate_new(stream);
    watch_start(gate, RETURNS);
    watch_end("free", cu->MemFreeAsync_v1(memory, stream));
    expect("copy", cu->MemcpyDtoHAsync_v2(pinned, memory, 64, stream), CUDA_ERROR_INVALID_VALUE);
    expect("copy-other-stream", cu->MemcpyDtoHAsync_v2(pinned, memory, 64, other), CUDA_ERROR_INVALID_VALUE);
    expect("copy-to", cu->MemcpyHtoDAsync_v2(memory, pinned, 64, other), CUDA_ERROR_INVALID_VALUE);
    expect("set", cu->MemsetD8Async_v1(memory, 1, 64, stream), CUDA_ERROR_INVALID_VALUE);
    expect("set-other-stream", cu->MemsetD8Async_v1(memory, 1, 64, other), CUDA_ERROR_INVALID_VALUE);
    expect("free-again", cu->MemFreeAsync_v1(memory, other), CUDA_ERROR_INVALID_VALUE);
    expect("gate-was-closed", cu->StreamQuery_v1(stream), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    require("synchronize", cu->StreamSynchronize_v1(other));
}

/* A pool with room for one allocation, so that the second one gets the same memory. */
CHECK(reuse, "order.reuse", .needs = {S(MemAllocFromPoolAsync_v1)})
{
    const size_t size = 64 << 20;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = the_device}};
    CUmemoryPool pool = NULL;
    CUdeviceptr before = 0;
    CUdeviceptr after = 0;
    CUstream first = stream_new();
    CUstream second = stream_new();
    /* The member maxSize. Toolkits older than 12.2 lack it. */
    memcpy((char *)&props + offsetof(CUmemPoolProps, win32SecurityAttributes) + sizeof(void *), &size, sizeof size);
    require("pool", cu->MemPoolCreate_v1(&pool, &props));
    require("alloc", cu->MemAllocFromPoolAsync_v1(&before, size, pool, first));
    require("synchronize", cu->StreamSynchronize_v1(first));
    expect("full", cu->MemAllocFromPoolAsync_v1(&after, size, pool, second), CUDA_ERROR_OUT_OF_MEMORY);
    struct gate *gate = gate_new(first);
    require("free", cu->MemFreeAsync_v1(before, first));
    watch_start(gate, RETURNS);
    watch_end("alloc", cu->MemAllocFromPoolAsync_v1(&after, size, pool, second));
    expect_true("same-memory", before == after);
    expect("behind-free", cu->StreamQuery_v1(second), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(second), CUDA_SUCCESS);
    require("free", cu->MemFreeAsync_v1(after, second));
    require("synchronize", cu->StreamSynchronize_v1(second));
    require("destroy", cu->MemPoolDestroy_v1(pool));
}

CHECK(frees, "order.free", .needs = {S(MemFree_v2), S(MemHostRegister_v1)})
{
    CUstream stream = stream_new();
    CUdeviceptr memory = disown_memory(memory_new(64, 0));
    void *pinned = disown(host_new(64, NULL));
    require("register", cu->MemHostRegister_v1(plain, sizeof plain, 0));
    watch_start(gate_new(stream), WAITS);
    watch_end("device", cu->MemFree_v2(memory));
    watch_start(gate_new(stream), WAITS);
    watch_end("pinned", cu->MemFreeHost_v1(pinned));
    watch_start(gate_new(stream), WAITS);
    watch_end("registered", cu->MemHostUnregister_v1(plain));
    require("synchronize", cu->StreamSynchronize_v1(stream));
}

CHECK(free_stream_ordered, "order.free-stream-ordered", .needs = {S(MemAllocAsync_v1)})
{
    CUstream stream = stream_new();
    CUdeviceptr memory = 0;
    require("alloc", cu->MemAllocAsync_v1(&memory, 64, stream));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    struct gate *gate = gate_new(stream);
    watch_start(gate, RETURNS);
    watch_end("code", cu->MemFree_v2(memory));
    gate_open(gate);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    CUdeviceptr ordinary = disown_memory(memory_new(64, 0));
    gate = gate_new(stream);
    watch_start(gate, RETURNS);
    watch_end("ordinary-async", cu->MemFreeAsync_v1(ordinary, stream));
    gate_open(gate);
    require("synchronize", cu->StreamSynchronize_v1(stream));
}

/* An executable graph that sets a byte. */
static CUgraphExec exec_set(CUdeviceptr memory)
{
    const CUDA_MEMSET_NODE_PARAMS set = {.dst = memory, .value = 7, .elementSize = 1, .width = 1, .height = 1};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    require("set-node", cu->GraphAddMemsetNode_v1(&node, graph, NULL, 0, &set, the_context));
    return exec_new(graph);
}

CHECK(graph_twice, "order.graph-twice", .needs = {S(GraphInstantiateWithFlags_v1)})
{
    CUdeviceptr memory = memory_new(2, 0);
    CUgraphExec twice = exec_set(memory);
    CUgraphExec once = exec_set(memory + 1);
    CUstream first = stream_new();
    CUstream second = stream_new();
    CUstream third = stream_new();
    require("upload", cu->GraphLaunch_v1(twice, first));
    require("upload", cu->GraphLaunch_v1(once, first));
    require("synchronize", cu->StreamSynchronize_v1(first));
    struct gate *gate = gate_new(first);
    expect("first", cu->GraphLaunch_v1(twice, first), CUDA_SUCCESS);
    watch_start(gate, RETURNS);
    watch_end("second", cu->GraphLaunch_v1(twice, second));
    expect("second-pending", cu->StreamQuery_v1(second), CUDA_ERROR_NOT_READY);
    watch_start(gate, RETURNS);
    watch_end("another-graph", cu->GraphLaunch_v1(once, third));
    watch_start(gate, RETURNS);
    watch_end("another-graph-complete", cu->StreamSynchronize_v1(third));
    expect("still-pending", cu->StreamQuery_v1(second), CUDA_ERROR_NOT_READY);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(second), CUDA_SUCCESS);
    expect_number("waited", gate_passed(gate), 1);
}

CHECK(event_in_graph, "order.event-in-graph",
      .needs = {S(GraphAddEventRecordNode_v1), S(GraphAddEventWaitNode_v1), S(GraphInstantiateWithFlags_v1)})
{
    CUdeviceptr memory = memory_new(2, 0);
    CUevent recorded = event_new();
    CUevent waited = event_new();
    CUgraph recording = graph_new();
    CUgraph waiting = graph_new();
    CUgraphNode node = NULL;
    CUstream gated = stream_new();
    CUstream behind_record = stream_new();
    CUstream behind_wait = stream_new();
    require("record-node", cu->GraphAddEventRecordNode_v1(&node, recording, NULL, 0, recorded));
    require("wait-node", cu->GraphAddEventWaitNode_v1(&node, waiting, NULL, 0, waited));
    CUgraphExec record = exec_new(recording);
    CUgraphExec wait = exec_new(waiting);
    struct gate *gate = gate_new(gated);
    require("record", cu->EventRecord_v1(waited, gated));
    watch_start(gate, RETURNS);
    watch_end("launch-record", cu->GraphLaunch_v1(record, gated));
    watch_start(gate, RETURNS);
    watch_end("launch-wait", cu->GraphLaunch_v1(wait, behind_wait));
    expect("event", cu->EventQuery_v1(recorded), CUDA_ERROR_NOT_READY);
    expect("wait-for-event", cu->StreamWaitEvent_v1(behind_record, recorded, 0), CUDA_SUCCESS);
    require("memset", cu->MemsetD8Async_v1(memory, 1, 1, behind_record));
    require("memset", cu->MemsetD8Async_v1(memory + 1, 1, 1, behind_wait));
    expect("stream-behind-node", cu->StreamQuery_v1(behind_record), CUDA_ERROR_NOT_READY);
    expect("node-behind-event", cu->StreamQuery_v1(behind_wait), CUDA_ERROR_NOT_READY);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    gate_open(gate);
    expect("synchronize-record", cu->StreamSynchronize_v1(behind_record), CUDA_SUCCESS);
    expect("synchronize-wait", cu->StreamSynchronize_v1(behind_wait), CUDA_SUCCESS);
    expect_number("waited", gate_passed(gate), 1);
}
