/* SPDX-License-Identifier: MIT */
/* cuStreamUpdateCaptureDependencies, and edge data. */
#include <string.h>

#include "kernels.h"

/* The dependencies of the next node. The driver owns the array. */
static const CUgraphNode *dependencies_of(CUstream stream, size_t *out_count)
{
    CUstreamCaptureStatus status;
    const CUgraphNode *nodes = NULL;
    *out_count = 0;
    need("info", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &nodes, out_count));
    return nodes;
}

static CUgraphNode last_node(CUstream stream)
{
    size_t count = 0;
    const CUgraphNode *nodes = dependencies_of(stream, &count);
    return count == 1 ? nodes[0] : NULL;
}

static void saw_count(const char *key, CUstream stream)
{
    size_t count = 0;
    (void)dependencies_of(stream, &count);
    saw_number(key, (long long)count);
}

static void first_abi(void)
{
    CUstream stream = stream_new();
    CUgraphNode first;
    CUgraphNode both[2];
    capture_begin(stream);
    need("work", add_work(stream));
    first = last_node(stream);
    need("work", add_work(stream));
    rule("add", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES),
         CUDA_SUCCESS);
    saw_count("add-count", stream);
    saw("add-again", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    saw_count("add-again-count", stream);
    rule("set", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
         CUDA_SUCCESS);
    rule_fact("set-is", last_node(stream) == first);
    both[0] = first;
    both[1] = first;
    saw("set-twice-the-same", cu->StreamUpdateCaptureDependencies_v1(stream, both, 2, 1));
    saw_count("set-twice-the-same-count", stream);
    rule("set-none", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
         CUDA_SUCCESS);
    saw_count("set-none-count", stream);
    rule("add-none", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, 0), CUDA_SUCCESS);
    rule("flag-2", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, 2), CUDA_ERROR_INVALID_VALUE);
    rule("flag-3", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, 3), CUDA_ERROR_INVALID_VALUE);
    rule("no-array", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
    saw_text("status", capture_status(stream));
    rule("end", capture_end(stream), CUDA_SUCCESS);
    rule("idle", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
    saw("idle-zero", cu->StreamUpdateCaptureDependencies_v1(NULL, NULL, 0, 0));
    saw("idle-flag-2", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, 2));
    stream_end(stream);
}

static void invalidated(void)
{
    CUstream stream = stream_new();
    capture_begin(stream);
    (void)cu->StreamQuery_v1(stream);
    saw("code", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, 0));
    if (have("v2", S(StreamUpdateCaptureDependencies_v2)))
        saw("v2", cu->StreamUpdateCaptureDependencies_v2(stream, NULL, NULL, 0, 1));
    (void)capture_end(stream);
    stream_end(stream);
}

/* "Nodes that are removed from the dependency set via this API do not result in UNJOINED". */
static void removed_is_not_unjoined(void)
{
    CUstream origin = stream_new();
    CUstream side = stream_new();
    CUevent event = event_new();
    capture_begin(origin);
    need("record", cu->EventRecord_v1(event, origin));
    need("wait", cu->StreamWaitEvent_v1(side, event, 0));
    need("work", add_work(side));
    rule("set-none", cu->StreamUpdateCaptureDependencies_v1(side, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
         CUDA_SUCCESS);
    rule("end", capture_end(origin), CUDA_SUCCESS);
    need("destroy", cu->EventDestroy_v2(event));
    stream_end(side);
    stream_end(origin);
}

/* A node that was added to the graph by hand becomes a dependency of the next node of the stream. */
static void manual_node(void)
{
    CUstream stream = stream_new();
    CUstreamCaptureStatus status;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    size_t edges = 99;
    capture_begin(stream);
    need("work", add_work(stream));
    need("info", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL));
    rule("add-node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0), CUDA_SUCCESS);
    rule("set", cu->StreamUpdateCaptureDependencies_v1(stream, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
         CUDA_SUCCESS);
    rule("work", add_work(stream), CUDA_SUCCESS);
    saw("destroy-graph", cu->GraphGetEdges_v1(graph, NULL, NULL, &edges));
    saw_number("edges", (long long)edges);
    rule("end", capture_end(stream), CUDA_SUCCESS);
    stream_end(stream);
}

static void foreign_node(void)
{
    CUstream stream = stream_new();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    need("graph", cu->GraphCreate_v1(&graph, 0));
    need("node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0));
    capture_begin(stream);
    saw("code", cu->StreamUpdateCaptureDependencies_v1(stream, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    saw_text("status", capture_status(stream));
    (void)capture_end(stream);
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
}

static void null_node(void)
{
    CUstream stream = stream_new();
    CUgraphNode node = NULL;
    capture_begin(stream);
    saw("code", cu->StreamUpdateCaptureDependencies_v1(stream, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    saw_text("status", capture_status(stream));
    (void)capture_end(stream);
    stream_end(stream);
}

/* Version 2. The answer of a call is its code and the number of dependencies that the next node then has. */
static void second_abi(void)
{
    static const CUgraphEdgeData plain[2];
    CUstream stream = stream_new();
    CUstreamCaptureStatus status;
    CUgraph graph = NULL;
    CUgraph other = NULL;
    CUgraphNode foreign = NULL;
    CUgraphNode no_node = NULL;
    CUgraphNode nodes[2] = {NULL, NULL};
    CUgraphEdgeData after_plain[2];
    CUgraphEdgeData port;
    CUgraphEdgeData reserved;
    CUgraphEdgeData type;
    memset(after_plain, 0, sizeof after_plain);
    port = reserved = type = after_plain[0];
    after_plain[1].type = (unsigned char)CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    port.from_port = 1;
    reserved.reserved[4] = 1;
    type.type = 77;
    need("graph", cu->GraphCreate_v1(&other, 0));
    need("node", cu->GraphAddEmptyNode_v1(&foreign, other, NULL, 0));
    rule("idle", cu->StreamUpdateCaptureDependencies_v2(stream, NULL, NULL, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
    saw("idle-node", cu->StreamUpdateCaptureDependencies_v2(stream, &foreign, NULL, 1, 0));
    saw("idle-zero", cu->StreamUpdateCaptureDependencies_v2(NULL, &foreign, NULL, 1, 0));
    capture_begin(stream);
    need("info", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL));
    need("node", cu->GraphAddEmptyNode_v1(&nodes[0], graph, NULL, 0));
    need("node", cu->GraphAddEmptyNode_v1(&nodes[1], graph, NULL, 0));
    CUgraphNode same[2] = {nodes[0], nodes[0]};
    need("work", add_work(stream));
    const struct {
        const char *key;
        CUgraphNode *nodes;
        const CUgraphEdgeData *edges;
        size_t count;
        unsigned flags;
    } calls[] = {
        {"add-one", nodes, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES},
        {"add-two-plain", nodes, plain, 2, CU_STREAM_ADD_CAPTURE_DEPENDENCIES},
        {"set-one", nodes, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"set-two-plain", nodes, plain, 2, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"set-none", NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"set-none-of-array", nodes, plain, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"add-none", NULL, NULL, 0, CU_STREAM_ADD_CAPTURE_DEPENDENCIES},
        {"flag-2", nodes, NULL, 1, 2},
        {"flags-all", nodes, NULL, 1, 0xffffffffu},
        {"foreign", &foreign, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"null-node", &no_node, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"no-array", NULL, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES},
        {"set-no-array", NULL, NULL, 2, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"edges-no-array", NULL, plain, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES},
        {"same-twice", same, NULL, 2, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"data-after-plain", nodes, after_plain, 2, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"data-beyond-count", nodes, after_plain, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"port", nodes, &port, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"port-flag-2", nodes, &port, 1, 2},
        {"reserved", nodes, &reserved, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"type", nodes, &type, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
        {"data-of-none", NULL, &port, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        size_t count = 99;
        CUresult result = cu->StreamUpdateCaptureDependencies_v2(stream, calls[i].nodes, calls[i].edges, calls[i].count,
                                                                 calls[i].flags);
        need("work", add_work(stream));
        need("count", cu->GraphNodeGetDependencies_v1(last_node(stream), NULL, &count));
        saw_words(calls[i].key, "%d, %d before the next", (int)result, (int)count);
    }
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    saw("no-context", cu->StreamUpdateCaptureDependencies_v2(stream, nodes, NULL, 1, 1));
    saw_text("status", capture_status(stream));
    rule("end", capture_end(stream), CUDA_SUCCESS);
    need("destroy", cu->GraphDestroy_v1(other));
    stream_end(stream);
}

/* Edge data with a value: a programmatic dependency on a kernel. */
static void edge_data(void)
{
    CUstream stream = stream_new();
    CUfunction function = NULL;
    CUgraphEdgeData edge;
    CUgraphNode node;
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *edges = NULL;
    size_t count = 0;
    memset(&edge, 0, sizeof edge);
    edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
    edge.type = (unsigned char)CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    if (!need("kernel", kernel_get("conformance_nothing", &function)))
        return;
    capture_begin(stream);
    need("launch", kernel_launch(function, stream, NULL));
    node = last_node(stream);
    saw("set", cu->StreamUpdateCaptureDependencies_v2(stream, &node, &edge, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    saw("query", cu->StreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &nodes, &edges, &count));
    saw_words("query-results", "status %d, count %d", (int)status, (int)count);
    saw_number("query-type", edges != NULL && count > 0 ? edges[0].type : -1);
    saw_number("query-port", edges != NULL && count > 0 ? edges[0].from_port : -1);
    rule("query-without-edges", cu->StreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &nodes, NULL, &count),
         CUDA_ERROR_LOSSY_QUERY);
    saw("count-only", cu->StreamGetCaptureInfo_v3(stream, &status, NULL, NULL, NULL, NULL, &count));
    saw("query-v2", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &nodes, &count));
    saw("query-v2-without", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, NULL, NULL));
    saw_text("status", capture_status(stream));
    saw("work", add_work(stream));
    saw_text("status-after-work", capture_status(stream));
    saw("end", capture_end(stream));
    stream_end(stream);
}

static const struct check checks[] = {
    {"dependency.v1", first_abi, 0, {S(StreamUpdateCaptureDependencies_v1)}},
    {"dependency.invalidated", invalidated, 0, {S(StreamUpdateCaptureDependencies_v1)}},
    {"dependency.removed", removed_is_not_unjoined, 0, {S(StreamUpdateCaptureDependencies_v1)}},
    {"dependency.manual-node", manual_node, 0, {S(StreamUpdateCaptureDependencies_v1)}},
    {"dependency.foreign-node", foreign_node, 0, {S(StreamUpdateCaptureDependencies_v1)}},
    {"dependency.null-node", null_node, 0, {S(StreamUpdateCaptureDependencies_v1)}},
    {"dependency.v2", second_abi, 0, {S(StreamUpdateCaptureDependencies_v2)}},
    {"dependency.edge", edge_data, 0, {S(StreamUpdateCaptureDependencies_v2)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_dependency = {"dependency", checks};
