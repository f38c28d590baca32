/* SPDX-License-Identifier: MIT */
/* cuStreamUpdateCaptureDependencies, and edge data. */

#include "kernels.h"

/* The dependencies of the next node. The driver owns the array. */
static const CUgraphNode *dependencies_of(CUstream stream, size_t *out_count)
{
    CUstreamCaptureStatus status;
    const CUgraphNode *nodes = NULL;
    *out_count = 0;
    require("info", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &nodes, out_count));
    return nodes;
}

static CUgraphNode last_node(CUstream stream)
{
    size_t count = 0;
    const CUgraphNode *nodes = dependencies_of(stream, &count);
    return count == 1 ? nodes[0] : NULL;
}

static void observe_count(const char *key, CUstream stream)
{
    size_t count = 0;
    (void)dependencies_of(stream, &count);
    observe_number(key, (long long)count);
}

CHECK(first_abi, "dependency.v1", .needs = {S(StreamUpdateCaptureDependencies_v1)})
{
    CUgraphNode first;
    CUgraphNode both[2];
    CUstream stream = stream_capturing();
    require("work", add_work(stream));
    first = last_node(stream);
    require("work", add_work(stream));
    expect("add", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES),
           CUDA_SUCCESS);
    observe_count("add-count", stream);
    expect("add-again", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES),
           CUDA_SUCCESS);
    observe_count("add-again-count", stream);
    expect("set", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
           CUDA_SUCCESS);
    expect_true("set-is", last_node(stream) == first);
    both[0] = first;
    both[1] = first;
    expect("set-twice-the-same", cu->StreamUpdateCaptureDependencies_v1(stream, both, 2, 1), CUDA_SUCCESS);
    observe_count("set-twice-the-same-count", stream);
    expect("set-none", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
           CUDA_SUCCESS);
    observe_count("set-none-count", stream);
    expect("add-none", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, 0), CUDA_SUCCESS);
    expect("flag-2", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, 2), CUDA_ERROR_INVALID_VALUE);
    expect("flag-3", cu->StreamUpdateCaptureDependencies_v1(stream, &first, 1, 3), CUDA_ERROR_INVALID_VALUE);
    expect("no-array", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
    expect_text("status", capture_status(stream), "active");
    expect("end", capture_end(stream), CUDA_SUCCESS);
    expect("idle", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
    expect("idle-zero", cu->StreamUpdateCaptureDependencies_v1(NULL, NULL, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
    expect("idle-flag-2", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, 2), CUDA_ERROR_ILLEGAL_STATE);
}

CHECK(invalidated, "dependency.invalidated", .needs = {S(StreamUpdateCaptureDependencies_v1)})
{
    CUstream stream = stream_capturing();
    (void)cu->StreamQuery_v1(stream);
    expect("code", cu->StreamUpdateCaptureDependencies_v1(stream, NULL, 0, 0), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (require_slot("v2", S(StreamUpdateCaptureDependencies_v2)))
        expect("v2", cu->StreamUpdateCaptureDependencies_v2(stream, NULL, NULL, 0, 1),
               CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    (void)capture_end(stream);
}

/* "Nodes that are removed from the dependency set via this API do not result in UNJOINED". */
CHECK(removed_is_not_unjoined, "dependency.removed", .needs = {S(StreamUpdateCaptureDependencies_v1)})
{
    CUstream side = stream_new();
    CUevent event = event_new();
    CUstream origin = stream_capturing();
    require("record", cu->EventRecord_v1(event, origin));
    require("wait", cu->StreamWaitEvent_v1(side, event, 0));
    require("work", add_work(side));
    expect("set-none", cu->StreamUpdateCaptureDependencies_v1(side, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
           CUDA_SUCCESS);
    expect("end", capture_end(origin), CUDA_SUCCESS);
}

/* A node that was added to the graph by hand becomes a dependency of the next node of the stream. */
CHECK(manual_node, "dependency.manual-node", .needs = {S(StreamUpdateCaptureDependencies_v1)})
{
    CUstreamCaptureStatus status;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    size_t edges = 99;
    CUstream stream = stream_capturing();
    require("work", add_work(stream));
    require("info", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL));
    expect("add-node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0), CUDA_SUCCESS);
    expect("set", cu->StreamUpdateCaptureDependencies_v1(stream, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
           CUDA_SUCCESS);
    expect("work", add_work(stream), CUDA_SUCCESS);
    expect("destroy-graph", cu->GraphGetEdges_v1(graph, NULL, NULL, &edges), CUDA_SUCCESS);
    expect_number("edges", (long long)edges, 1);
    expect("end", capture_end(stream), CUDA_SUCCESS);
}

CHECK(foreign_node, "dependency.foreign-node", .needs = {S(StreamUpdateCaptureDependencies_v1)})
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    require("node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0));
    CUstream stream = stream_capturing();
    expect("code", cu->StreamUpdateCaptureDependencies_v1(stream, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
           CUDA_ERROR_INVALID_VALUE);
    expect_text("status", capture_status(stream), "active");
    (void)capture_end(stream);
}

CHECK(null_node, "dependency.null-node", .needs = {S(StreamUpdateCaptureDependencies_v1)})
{
    CUgraphNode node = NULL;
    CUstream stream = stream_capturing();
    expect("code", cu->StreamUpdateCaptureDependencies_v1(stream, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
           CUDA_ERROR_INVALID_VALUE);
    expect_text("status", capture_status(stream), "active");
    (void)capture_end(stream);
}

/* A call of version 2. Its answer is its code and the number of dependencies that the next node then has. */
struct update {
    const char *key;
    CUgraphNode *nodes;
    const CUgraphEdgeData *edges;
    size_t count;
    unsigned flags;
};

static void observe_update(CUstream stream, const struct update *update)
{
    size_t count = 99;
    CUresult result =
        cu->StreamUpdateCaptureDependencies_v2(stream, update->nodes, update->edges, update->count, update->flags);
    require("work", add_work(stream));
    require("count", cu->GraphNodeGetDependencies_v1(last_node(stream), NULL, &count));
    observe_format(update->key, "%d, %d before the next", (int)result, (int)count);
}

/* Nodes that the stream does not depend on yet. */
static void nodes_new(CUstream stream, CUgraphNode *out_nodes, size_t count)
{
    CUstreamCaptureStatus status;
    CUgraph graph = NULL;
    require("info", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL));
    for (size_t i = 0; i < count; i++)
        require("node", cu->GraphAddEmptyNode_v1(&out_nodes[i], graph, NULL, 0));
}

CHECK(second_abi, "dependency.v2", .needs = {S(StreamUpdateCaptureDependencies_v2)})
{
    enum { ADD = CU_STREAM_ADD_CAPTURE_DEPENDENCIES, SET = CU_STREAM_SET_CAPTURE_DEPENDENCIES };
    static const CUgraphEdgeData plain[2];
    static const CUgraphEdgeData port = {.from_port = 1};
    static const CUgraphEdgeData reserved = {.reserved = {0, 0, 0, 0, 1}};
    static const CUgraphEdgeData type = {.type = 77};
    static const CUgraphEdgeData after_plain[2] = {{0}, {.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC}};
    CUstream stream = stream_new();
    CUgraphNode foreign = NULL;
    CUgraphNode no_node = NULL;
    CUgraphNode nodes[2] = {NULL, NULL};
    require("node", cu->GraphAddEmptyNode_v1(&foreign, graph_new(), NULL, 0));
    expect("idle", cu->StreamUpdateCaptureDependencies_v2(stream, NULL, NULL, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
    expect("idle-node", cu->StreamUpdateCaptureDependencies_v2(stream, &foreign, NULL, 1, 0), CUDA_ERROR_ILLEGAL_STATE);
    expect("idle-zero", cu->StreamUpdateCaptureDependencies_v2(NULL, &foreign, NULL, 1, 0), CUDA_ERROR_ILLEGAL_STATE);
    capture_begin(stream);
    nodes_new(stream, nodes, 2);
    CUgraphNode same[2] = {nodes[0], nodes[0]};
    require("work", add_work(stream));
    const struct update updates[] = {
        {"add-one", nodes, NULL, 1, ADD},
        {"add-two-plain", nodes, plain, 2, ADD},
        {"set-one", nodes, NULL, 1, SET},
        {"set-two-plain", nodes, plain, 2, SET},
        {"set-none", NULL, NULL, 0, SET},
        {"set-none-of-array", nodes, plain, 0, SET},
        {"add-none", NULL, NULL, 0, ADD},
        {"flag-2", nodes, NULL, 1, 2},
        {"flags-all", nodes, NULL, 1, 0xffffffffu},
        {"foreign", &foreign, NULL, 1, SET},
        {"null-node", &no_node, NULL, 1, SET},
        {"no-array", NULL, NULL, 1, ADD},
        {"set-no-array", NULL, NULL, 2, SET},
        {"edges-no-array", NULL, plain, 1, ADD},
        {"same-twice", same, NULL, 2, SET},
        {"data-after-plain", nodes, after_plain, 2, SET},
        {"data-beyond-count", nodes, after_plain, 1, SET},
        {"port", nodes, &port, 1, SET},
        {"port-flag-2", nodes, &port, 1, 2},
        {"reserved", nodes, &reserved, 1, SET},
        {"type", nodes, &type, 1, SET},
        {"data-of-none", NULL, &port, 0, SET},
    };
    for (size_t i = 0; i < sizeof updates / sizeof updates[0]; i++)
        observe_update(stream, &updates[i]);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->StreamUpdateCaptureDependencies_v2(stream, nodes, NULL, 1, 1), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "active");
    expect("end", capture_end(stream), CUDA_SUCCESS);
}

/* Edge data with a value: a programmatic dependency on a kernel. */
CHECK(edge_data, "dependency.edge", .needs = {S(StreamUpdateCaptureDependencies_v2)})
{
    CUfunction function = kernel_new("conformance_nothing");
    const CUgraphEdgeData edge = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
                                  .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraphNode node;
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *edges = NULL;
    size_t count = 0;
    CUstream stream = stream_capturing();
    require("launch", kernel_launch(function, stream, NULL));
    node = last_node(stream);
    expect("set", cu->StreamUpdateCaptureDependencies_v2(stream, &node, &edge, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
           CUDA_SUCCESS);
    expect("query", cu->StreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &nodes, &edges, &count), CUDA_SUCCESS);
    observe_format("query-results", "status %d, count %d", (int)status, (int)count);
    expect_number("query-type", edges != NULL && count > 0 ? edges[0].type : -1, 1);
    expect_number("query-port", edges != NULL && count > 0 ? edges[0].from_port : -1, 2);
    expect("query-without-edges", cu->StreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &nodes, NULL, &count),
           CUDA_ERROR_LOSSY_QUERY);
    expect("count-only", cu->StreamGetCaptureInfo_v3(stream, &status, NULL, NULL, NULL, NULL, &count), CUDA_SUCCESS);
    expect("query-v2", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &nodes, &count),
           CUDA_ERROR_LOSSY_QUERY);
    expect("query-v2-without", cu->StreamGetCaptureInfo_v2(stream, &status, NULL, NULL, NULL, NULL), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "active");
    expect("work", add_work(stream), CUDA_SUCCESS);
    expect_text("status-after-work", capture_status(stream), "active");
    expect("end", capture_end(stream), CUDA_SUCCESS);
}
