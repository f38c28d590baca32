/* SPDX-License-Identifier: MIT */
/* Graphs and captures; and scenarios whose name begins with "unknown", which are right in both modes: what orders them
 * is not in a trace. */
#include <semaphore.h>

#include "races.h"

static CUgraph captured(CUdeviceptr memory)
{
    CUgraph graph;
    CHECK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    fill(memory, a);
    CHECK(cuStreamEndCapture(a, &graph));
    return graph;
}

/* A graph runs in the stream of its launch, and not in the one that was captured; a launch comes behind the last
 * one. */
SCENARIO(graph_stream)
{
    CUgraph graph = captured(m);
    CUgraphExec executable = instantiated(graph);
    CHECK(cuGraphLaunch(executable, a));
    CHECK(cuGraphLaunch(executable, b));
    copy(n, m, is_wrong ? a : b);
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

/* A child, a clone and an update. After the update, the graph writes n. */
SCENARIO(graph_update)
{
    CUdeviceptr third = allocate(SIZE);
    CUgraph of_m = captured(m), of_n = captured(n), parent, clone;
    CUgraphNode node;
    CHECK(cuGraphCreate(&parent, 0));
    CHECK(cuGraphAddChildGraphNode(&node, parent, NULL, 0, of_m));
    CHECK(cuGraphClone(&clone, parent));
    CUgraphExec one = instantiated(of_m), other = instantiated(clone);
    CHECK(cuGraphLaunch(other, a));
    CHECK(cuGraphLaunch(one, a));
    copy(third, n, b);
    if (is_wrong) {
        CUgraphExecUpdateResult result;
        CHECK(cuGraphExecUpdate(one, of_n, &node, &result));
        CHECK(cuGraphLaunch(one, a));
    } else {
        CHECK(cuGraphLaunch(other, a));
    }
    const CUgraph graphs[] = {of_m, of_n, parent, clone};
    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++)
        CHECK(cuGraphDestroy(graphs[i]));
    CHECK(cuGraphExecDestroy(one));
    CHECK(cuGraphExecDestroy(other));
}

/* Nodes that were added by hand: a memset, and a copy behind it. */
SCENARIO(graph_nodes)
{
    const CUDA_MEMSET_NODE_PARAMS set = {.dst = n, .value = MARK, .elementSize = 1, .width = SIZE, .height = 1};
    const CUDA_MEMCPY3D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = n,
                                .srcPitch = SIZE,
                                .srcHeight = 1,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = m,
                                .dstPitch = SIZE,
                                .dstHeight = 1,
                                .WidthInBytes = SIZE,
                                .Height = 1,
                                .Depth = 1};
    CUdeviceptr third = allocate(SIZE);
    CUgraphNode first, second;
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemsetNode(&first, graph, NULL, 0, &set, context));
    CHECK(cuGraphAddMemcpyNode(&second, graph, &first, 1, &rows, context));
    CUgraphExec executable = instantiated(graph);
    CHECK(cuGraphLaunch(executable, a));
    record(e, a);
    if (!is_wrong)
        await(b, e);
    copy(third, m, b);
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

/* Two branches of a capture write the same memory. */
SCENARIO(capture_fork)
{
    CUgraph graph;
    CHECK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    record(e, a);
    await(b, e);
    fill(m, a);
    record(e, a);
    if (!is_wrong)
        await(b, e);
    copy(n, m, b);
    record(f, b);
    await(a, f);
    CHECK(cuStreamEndCapture(a, &graph));
    CHECK(cuGraphDestroy(graph));
}

/* ---- what a trace does not show ---- */

static sem_t filled;

static void CUDA_CB post(void *argument)
{
    (void)argument;
    sem_post(&filled);
}

static void CUDA_CB pend(void *argument)
{
    (void)argument;
    sem_wait(&filled);
}

/* A host function orders two streams: the copy comes first in "wrong", and waits for it. */
SCENARIO(unknown_host)
{
    sem_init(&filled, 0, 0);
    if (is_wrong) {
        CHECK(cuLaunchHostFunc(b, pend, NULL));
        copy(n, m, b);
    }
    fill(m, a);
    CHECK(cuLaunchHostFunc(a, post, NULL));
    if (!is_wrong) {
        sem_wait(&filled);
        copy(n, m, b);
    }
}

SCENARIO(unknown_values)
{
    CUdeviceptr flag = allocate(256);
    CHECK(cuMemsetD8_v2(flag, 0, 256));
    CHECK(cuCtxSynchronize());
    if (is_wrong) {
        CHECK(cuStreamWaitValue32_v2(b, flag, 1, 0));
        copy(n, m, b);
    }
    fill(m, a);
    CHECK(cuStreamWriteValue32_v2(a, flag, 1, 0));
    if (!is_wrong) {
        CHECK(cuStreamWaitValue32_v2(b, flag, 1, 0));
        copy(n, m, b);
    }
}

/* The host polls pinned memory to which a copies a flag. */
SCENARIO(unknown_flag)
{
    volatile char *flag = pinned();
    (void)is_wrong;
    flag[0] = 0;
    fill(m, a);
    CHECK(cuMemcpyDtoHAsync_v2((void *)(uintptr_t)flag, m, 1, a));
    while (flag[0] != MARK) {
    }
    copy(n, m, b);
    synchronize(a);
    CHECK(cuMemFreeHost((void *)(uintptr_t)flag));
}

/* The first call waits for an event that is not recorded yet, as for a slot that was not used. Then a capture records
 * it and waits for it, or waits for what another stream has recorded. */
SCENARIO(unknown_capture)
{
    CUgraph graph;
    CUstream stream = is_wrong ? b : a;
    fill(m, a);
    await(b, e);
    fill(n, b);
    if (is_wrong)
        record(e, a);
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    if (!is_wrong)
        record(e, a);
    CHECK(cuStreamWaitEvent(b, e, is_wrong ? CU_EVENT_WAIT_EXTERNAL : CU_EVENT_WAIT_DEFAULT));
    fill(is_wrong ? n : m, b);
    if (!is_wrong) {
        record(f, b);
        await(a, f);
    }
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec executable = instantiated(graph);
    CHECK(cuGraphLaunch(executable, stream));
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

/* The same with a graph that waits, which is built before the event is recorded, or behind it. */
SCENARIO(unknown_node_wait)
{
    CUgraph graph;
    CUgraphNode node;
    CHECK(cuGraphCreate(&graph, 0));
    fill(m, a);
    await(b, e);
    fill(n, b);
    if (is_wrong)
        CHECK(cuGraphAddEventWaitNode(&node, graph, NULL, 0, e));
    record(e, a);
    if (!is_wrong)
        CHECK(cuGraphAddEventWaitNode(&node, graph, NULL, 0, e));
    CUgraphExec executable = instantiated(graph);
    if (is_wrong)
        CHECK(cuGraphLaunch(executable, b));
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

/* A node records an event that is not in the trace, or another one than that with which it was added. */
SCENARIO(unknown_node_record)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphNodeParams parameters = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord.event = e};
    fill(m, a);
    await(b, e);
    CHECK(cuGraphCreate(&graph, 0));
    if (is_wrong)
        CHECK(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event_create()));
    else
        CHECK(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &parameters));
    CUgraphExec executable = instantiated(graph);
    if (is_wrong)
        CHECK(cuGraphExecEventRecordNodeSetEvent(executable, node, e));
    CHECK(cuGraphLaunch(executable, a));
    await(b, e);
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

/* A graph records an event, or has a host node. */
SCENARIO(unknown_graph)
{
    CUgraph graph;
    CUgraphNode node;
    CHECK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    fill(m, a);
    if (!is_wrong)
        CHECK(cuEventRecordWithFlags(e, a, CU_EVENT_RECORD_EXTERNAL));
    CHECK(cuStreamEndCapture(a, &graph));
    const CUDA_HOST_NODE_PARAMS parameters = {.fn = post};
    sem_init(&filled, 0, 0);
    if (is_wrong)
        CHECK(cuGraphAddHostNode(&node, graph, NULL, 0, &parameters));
    CUgraphExec executable = instantiated(graph);
    CHECK(cuGraphLaunch(executable, a));
    if (is_wrong)
        synchronize(a);
    else
        await(b, e);
    copy(n, m, b);
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}
