/* SPDX-License-Identifier: MIT */
/* cuStreamBeginCaptureToGraph: capture into an existing graph. */
#include <string.h>

#include "fixture.h"

#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static CUgraph graph_with_node(CUgraphNode *out_node)
{
    CUgraph graph = graph_new();
    require("node", cu->GraphAddEmptyNode_v1(out_node, graph, NULL, 0));
    return graph;
}

CHECK(capture, "tograph.capture", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUgraph ended = NULL;
    CUgraph told = NULL;
    CUstreamCaptureStatus status;
    CUstream stream = stream_new();
    size_t count = 0;
    expect("begin", cu->StreamBeginCaptureToGraph_v1(stream, graph, &node, NULL, 1, RELAXED), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "active");
    require("info", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, &told, NULL, &count));
    expect_true("told-graph", told == graph);
    expect_number("told-count", (long long)count, 1);
    expect("work", add_work(stream), CUDA_SUCCESS);
    expect("add-by-hand", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0), CUDA_SUCCESS);
    expect("end", cu->StreamEndCapture_v1(stream, &ended), CUDA_SUCCESS);
    expect_true("same-graph", ended == graph);
    expect_number("nodes", graph_nodes(graph), 3);
    expect_number("edges", graph_edges(graph), 1);
    expect("destroy", cu->GraphDestroy_v1(disown(graph)), CUDA_SUCCESS);
}

static void begin_fails(const char *key, CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                        const CUgraphEdgeData *edges, size_t count, int mode)
{
    CUgraph ended = NULL;
    CUresult result = cu->StreamBeginCaptureToGraph_v1(stream, graph, nodes, edges, count, (CUstreamCaptureMode)mode);
    observe(key, result);
    if (result == CUDA_SUCCESS)
        observe(key_of(key, "end", NULL), cu->StreamEndCapture_v1(stream, &ended));
}

CHECK(arguments, "tograph.argument", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    CUgraphNode node = NULL;
    CUgraphNode foreign = NULL;
    CUgraph graph = graph_with_node(&node);
    (void)graph_with_node(&foreign);
    CUgraphNode both[2] = {node, node};
    CUgraphEdgeData edges[2];
    CUstream stream = stream_new();
    memset(edges, 0, sizeof edges);
    begin_fails("no-dependencies", stream, graph, NULL, NULL, 0, RELAXED);
    begin_fails("plain-edge", stream, graph, &node, edges, 1, RELAXED);
    begin_fails("mode-3", stream, graph, NULL, NULL, 0, 3);
    begin_fails("legacy", CU_STREAM_LEGACY, graph, NULL, NULL, 0, RELAXED);
    begin_fails("per-thread", CU_STREAM_PER_THREAD, graph, NULL, NULL, 0, RELAXED);
    begin_fails("count-without-array", stream, graph, NULL, NULL, 1, RELAXED);
    begin_fails("same-node-twice", stream, graph, both, NULL, 2, RELAXED);
    begin_fails("foreign-node", stream, graph, &foreign, NULL, 1, RELAXED);
    edges[0].type = 1;
    edges[0].from_port = 1;
    begin_fails("edge-of-empty-node", stream, graph, &node, edges, 1, RELAXED);
    begin_fails("null-graph", stream, NULL, NULL, NULL, 0, RELAXED);
}

CHECK(again, "tograph.again", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUgraph ended = NULL;
    CUstream first = stream_new();
    CUstream second = stream_new();
    require("begin", cu->StreamBeginCaptureToGraph_v1(first, graph, NULL, NULL, 0, RELAXED));
    expect("capturing-stream", cu->StreamBeginCaptureToGraph_v1(first, graph, NULL, NULL, 0, RELAXED),
           CUDA_ERROR_ILLEGAL_STATE);
    expect_text("status", capture_status(first), "active");
    CUresult result = observe("same-graph", cu->StreamBeginCaptureToGraph_v1(second, graph, NULL, NULL, 0, RELAXED));
    if (result == CUDA_SUCCESS)
        observe("end-second", cu->StreamEndCapture_v1(second, &ended));
    expect("end-first", cu->StreamEndCapture_v1(first, &ended), CUDA_SUCCESS);
    expect("then-again", cu->StreamBeginCaptureToGraph_v1(second, graph, NULL, NULL, 0, RELAXED), CUDA_SUCCESS);
    expect("then-end", cu->StreamEndCapture_v1(second, &ended), CUDA_SUCCESS);
}

CHECK(instantiate_during, "tograph.instantiate-during", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUgraph ended = NULL;
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    require("begin", cu->StreamBeginCaptureToGraph_v1(stream, graph, NULL, NULL, 0, RELAXED));
    require("work", add_work(stream));
    CUresult result = observe("code", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    expect_text("status", capture_status(stream), "active");
    expect("end", cu->StreamEndCapture_v1(stream, &ended), CUDA_SUCCESS);
    if (result == CUDA_SUCCESS)
        require("destroy", cu->GraphExecDestroy_v1(executable));
}

/* Ends a failed capture, and reports the content of its graph. */
static void expect_failed_end(CUstream stream, CUgraph graph, CUresult expected)
{
    CUgraph ended = UNTOUCHED_HANDLE;
    size_t count = 0;
    expect("end", cu->StreamEndCapture_v1(stream, &ended), expected);
    expect_text("ended", ended == NULL ? "null" : ended == graph ? "the-graph" : "other", "null");
    expect("nodes", cu->GraphGetNodes_v1(graph, NULL, &count), CUDA_ERROR_INVALID_VALUE);
    expect_number("count", (long long)count, 0);
    expect("destroy", cu->GraphDestroy_v1(disown(graph)), CUDA_ERROR_INVALID_VALUE);
}

CHECK(invalidated, "tograph.invalidated", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUstream stream = stream_new();
    require("begin", cu->StreamBeginCaptureToGraph_v1(stream, graph, NULL, NULL, 0, RELAXED));
    require("work", add_work(stream));
    (void)cu->StreamQuery_v1(stream);
    expect_failed_end(stream, graph, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

CHECK(unjoined, "tograph.unjoined", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUstream stream = stream_new();
    CUstream side = stream_new();
    CUevent event = event_new();
    require("begin", cu->StreamBeginCaptureToGraph_v1(stream, graph, NULL, NULL, 0, RELAXED));
    require("record", cu->EventRecord_v1(event, stream));
    require("wait", cu->StreamWaitEvent_v1(side, event, 0));
    require("work", add_work(side));
    expect_failed_end(stream, graph, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}
