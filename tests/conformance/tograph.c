/* SPDX-License-Identifier: MIT */
/* cuStreamBeginCaptureToGraph: capture into an existing graph. */
#include <string.h>

#include "fixture.h"

#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static CUgraph graph_with_node(CUgraphNode *out_node)
{
    CUgraph graph = NULL;
    need("graph", cu->GraphCreate_v1(&graph, 0));
    need("node", cu->GraphAddEmptyNode_v1(out_node, graph, NULL, 0));
    return graph;
}

static void capture(void)
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUgraph ended = NULL;
    CUgraph told = NULL;
    CUstreamCaptureStatus status;
    CUstream stream = stream_new();
    size_t count = 0;
    rule("begin", cu->StreamBeginCaptureToGraph_v1(stream, graph, &node, NULL, 1, RELAXED), CUDA_SUCCESS);
    saw_text("status", capture_status(stream));
    need("info", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, &told, NULL, &count));
    rule_fact("told-graph", told == graph);
    rule_number("told-count", (long long)count, 1);
    rule("work", add_work(stream), CUDA_SUCCESS);
    rule("add-by-hand", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0), CUDA_SUCCESS);
    rule("end", cu->StreamEndCapture_v1(stream, &ended), CUDA_SUCCESS);
    rule_fact("same-graph", ended == graph);
    need("nodes", cu->GraphGetNodes_v1(graph, NULL, &count));
    rule_number("nodes", (long long)count, 3);
    need("edges", cu->GraphGetEdges_v1(graph, NULL, NULL, &count));
    rule_number("edges", (long long)count, 1);
    rule("destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
    stream_end(stream);
}

static void begin_fails(const char *key, CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                        const CUgraphEdgeData *edges, size_t count, int mode)
{
    CUgraph ended = NULL;
    CUresult result = cu->StreamBeginCaptureToGraph_v1(stream, graph, nodes, edges, count, (CUstreamCaptureMode)mode);
    saw(key, result);
    if (result == CUDA_SUCCESS)
        saw(key_of(key, "end", NULL), cu->StreamEndCapture_v1(stream, &ended));
}

static void arguments(void)
{
    CUgraphNode node = NULL;
    CUgraphNode foreign = NULL;
    CUgraph graph = graph_with_node(&node);
    CUgraph other = graph_with_node(&foreign);
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
    need("destroy", cu->GraphDestroy_v1(graph));
    need("destroy", cu->GraphDestroy_v1(other));
    stream_end(stream);
}

static void again(void)
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUgraph ended = NULL;
    CUstream first = stream_new();
    CUstream second = stream_new();
    need("begin", cu->StreamBeginCaptureToGraph_v1(first, graph, NULL, NULL, 0, RELAXED));
    rule("capturing-stream", cu->StreamBeginCaptureToGraph_v1(first, graph, NULL, NULL, 0, RELAXED),
         CUDA_ERROR_ILLEGAL_STATE);
    saw_text("status", capture_status(first));
    CUresult result = saw("same-graph", cu->StreamBeginCaptureToGraph_v1(second, graph, NULL, NULL, 0, RELAXED));
    if (result == CUDA_SUCCESS)
        saw("end-second", cu->StreamEndCapture_v1(second, &ended));
    saw("end-first", cu->StreamEndCapture_v1(first, &ended));
    rule("then-again", cu->StreamBeginCaptureToGraph_v1(second, graph, NULL, NULL, 0, RELAXED), CUDA_SUCCESS);
    rule("then-end", cu->StreamEndCapture_v1(second, &ended), CUDA_SUCCESS);
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(first);
    stream_end(second);
}

static void instantiate_during(void)
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUgraph ended = NULL;
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    need("begin", cu->StreamBeginCaptureToGraph_v1(stream, graph, NULL, NULL, 0, RELAXED));
    need("work", add_work(stream));
    CUresult result = saw("code", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    saw_text("status", capture_status(stream));
    saw("end", cu->StreamEndCapture_v1(stream, &ended));
    if (result == CUDA_SUCCESS)
        need("destroy", cu->GraphExecDestroy_v1(executable));
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
}

/* The content of the graph after a failed capture. */
static void invalidated(void)
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUgraph ended = UNTOUCHED_HANDLE;
    CUstream stream = stream_new();
    size_t count = 0;
    need("begin", cu->StreamBeginCaptureToGraph_v1(stream, graph, NULL, NULL, 0, RELAXED));
    need("work", add_work(stream));
    (void)cu->StreamQuery_v1(stream);
    saw("end", cu->StreamEndCapture_v1(stream, &ended));
    saw_text("ended", ended == NULL ? "null" : ended == graph ? "the-graph" : "other");
    saw("nodes", cu->GraphGetNodes_v1(graph, NULL, &count));
    saw_number("count", (long long)count);
    saw("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
}

static void unjoined(void)
{
    CUgraphNode node = NULL;
    CUgraph graph = graph_with_node(&node);
    CUgraph ended = UNTOUCHED_HANDLE;
    CUstream stream = stream_new();
    CUstream side = stream_new();
    CUevent event = event_new();
    size_t count = 0;
    need("begin", cu->StreamBeginCaptureToGraph_v1(stream, graph, NULL, NULL, 0, RELAXED));
    need("record", cu->EventRecord_v1(event, stream));
    need("wait", cu->StreamWaitEvent_v1(side, event, 0));
    need("work", add_work(side));
    saw("end", cu->StreamEndCapture_v1(stream, &ended));
    saw_text("ended", ended == NULL ? "null" : ended == graph ? "the-graph" : "other");
    saw("nodes", cu->GraphGetNodes_v1(graph, NULL, &count));
    saw_number("count", (long long)count);
    saw("destroy", cu->GraphDestroy_v1(graph));
    need("event-destroy", cu->EventDestroy_v2(event));
    stream_end(side);
    stream_end(stream);
}

static const struct check checks[] = {
    {"tograph.capture", capture, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"tograph.argument", arguments, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"tograph.again", again, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"tograph.instantiate-during", instantiate_during, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"tograph.invalidated", invalidated, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"tograph.unjoined", unjoined, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_tograph = {"tograph", checks};
