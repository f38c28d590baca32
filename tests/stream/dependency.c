/* SPDX-License-Identifier: MIT */
/* The dependencies of the next node are added to, set and removed, with and without edge data. */
#include "support.h"

#include <string.h>

#define ADD CU_STREAM_ADD_CAPTURE_DEPENDENCIES
#define SET CU_STREAM_SET_CAPTURE_DEPENDENCIES

static CUgraph graph_of(struct cushim_stream *stream)
{
    struct cushim_capture_info info = {.graph = NULL};
    require("info", cushim_stream_get_capture_info(stream, NULL, NULL, 0, &info));
    return info.graph;
}

static int count_of(struct cushim_stream *stream)
{
    struct cushim_capture_info info = {.dependency_count = 99};
    require("info", cushim_stream_get_capture_info(stream, NULL, NULL, 0, &info));
    return (int)info.dependency_count;
}

static CUgraphNode add_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    require("node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0));
    return node;
}

CHECK(updated, "dependency.updated", .needs = {S(StreamUpdateCaptureDependencies_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graph = NULL;
    CUgraphEdgeData plain[2];
    CUgraphNode nodes[2];
    CUgraphNode found = NULL;
    struct cushim_capture_info info;
    memset(plain, 0, sizeof plain);
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("work", body_adds_work(stream, NULL));
    nodes[0] = add_node(graph_of(stream));
    nodes[1] = add_node(graph_of(stream));
    expect_success("add", cushim_stream_update_capture_dependencies(stream, nodes, NULL, 1, ADD));
    expect_number("added", count_of(stream), 2);
    expect_success("add-with-plain-edges", cushim_stream_update_capture_dependencies(stream, &nodes[1], plain, 1, ADD));
    expect_number("added-again", count_of(stream), 3);
    expect_success("set", cushim_stream_update_capture_dependencies(stream, &nodes[1], NULL, 1, SET));
    expect_success("info", cushim_stream_get_capture_info(stream, &found, NULL, 1, &info));
    expect_true("set-to-that", info.dependency_count == 1 && found == nodes[1]);
    expect_success("set-both-with-plain-edges",
                   cushim_stream_update_capture_dependencies(stream, nodes, plain, 2, SET));
    expect_number("set-to-both", count_of(stream), 2);
    expect_success("add-none", cushim_stream_update_capture_dependencies(stream, NULL, NULL, 0, ADD));
    expect_number("none-added", count_of(stream), 2);
    expect_success("set-none", cushim_stream_update_capture_dependencies(stream, NULL, NULL, 0, SET));
    expect_number("emptied", count_of(stream), 0);
    expect_status("survives", stream, "active");
    expect_success("end", cushim_capture_end(&capture, &graph));
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 3);
    cushim_graph_destroy(&graph);
}

CHECK(argument, "dependency.argument", .needs = {S(StreamUpdateCaptureDependencies_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    static const CUgraphEdgeData plain;
    expect_driver_error("idle", cushim_stream_update_capture_dependencies(stream, NULL, NULL, 0, SET),
                        CUDA_ERROR_ILLEGAL_STATE);
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("work", body_adds_work(stream, NULL));
    CUgraphNode node = add_node(graph_of(stream));
    expect_error("null-stream", cushim_stream_update_capture_dependencies(NULL, &node, NULL, 1, ADD),
                 CUDA_ERROR_INVALID_HANDLE);
    expect_error("count-without-nodes", cushim_stream_update_capture_dependencies(stream, NULL, NULL, 1, ADD),
                 CUDA_ERROR_INVALID_VALUE);
    expect_error("edges-without-nodes", cushim_stream_update_capture_dependencies(stream, NULL, &plain, 0, ADD),
                 CUDA_ERROR_INVALID_VALUE);
    expect_error(
        "no-operation",
        cushim_stream_update_capture_dependencies(stream, &node, NULL, 1, (CUstreamUpdateCaptureDependencies_flags)2),
        CUDA_ERROR_INVALID_VALUE);
    expect_number("unchanged", count_of(stream), 1);
    expect_capture_ends(stream, &capture);
}

/* Edge data that is not plain is returned with the edges, and is never lost silently. */
CHECK(edges, "dependency.edges", .needs = {S(StreamUpdateCaptureDependencies_v2)})
{
    if (!is_native(S(StreamUpdateCaptureDependencies_v2)) || !is_native(S(StreamGetCaptureInfo_v3))) {
        not_applicable(NULL, "edge data came with CUDA 12.3");
        return;
    }
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture_info info = {.valid = 77};
    struct cushim_capture_info *copy = NULL;
    CUfunction function = kernel_new("conformance_nothing");
    CUgraphNode node = NULL;
    static const CUgraphEdgeData programmatic = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                                 .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraphEdgeData found = {0};
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("launch", kernel_launch(function, cushim_stream_handle(stream), NULL));
    require("info", cushim_stream_get_capture_info(stream, &node, NULL, 1, &info));
    expect_success("set", cushim_stream_update_capture_dependencies(stream, &node, &programmatic, 1, SET));
    info.valid = 77;
    expect_error("nodes-alone", cushim_stream_get_capture_info(stream, &node, NULL, 1, &info), CUDA_ERROR_LOSSY_QUERY);
    expect_true("named", strcmp(cushim_error_last()->function, "cushim_stream_get_capture_info") == 0);
    expect_number("untouched", info.valid, 77);
    expect_success("with-edges", cushim_stream_get_capture_info(stream, &node, &found, 1, &info));
    expect_true("returned",
                memcmp(&found, &programmatic, sizeof found) == 0 && (info.valid & CUSHIM_CAPTURE_EDGES) != 0);
    expect_success("nothing-requested", cushim_stream_get_capture_info(stream, NULL, NULL, 0, &info));
    expect_success("copy", cushim_capture_info_create(stream, &copy));
    expect_true("copied", memcmp(copy->edges, &programmatic, sizeof found) == 0);
    cushim_capture_info_destroy(&copy);
    require("take-off", cushim_stream_update_capture_dependencies(stream, NULL, NULL, 0, SET));
    expect_capture_ends(stream, &capture);
}

/* A driver without edge data refuses it, and the dependencies do not change. */
CHECK(edges_on_old, "dependency.edges-on-old", .needs = {S(StreamUpdateCaptureDependencies_v2)})
{
    static const CUgraphEdgeData other = {.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    struct cushim_capture_info info;
    CUgraphNode node = NULL;
    if (is_native(S(StreamUpdateCaptureDependencies_v2))) {
        not_applicable(NULL, "a driver that has edge data");
        return;
    }
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    require("work", body_adds_work(stream, NULL));
    require("info", cushim_stream_get_capture_info(stream, &node, NULL, 1, &info));
    expect_driver_error("set", cushim_stream_update_capture_dependencies(stream, &node, &other, 1, SET),
                        CUDA_ERROR_NOT_SUPPORTED);
    expect_number("unchanged", count_of(stream), 1);
    expect_capture_ends(stream, &capture);
}

CHECK(on_old, "dependency.on-old", .flags = CHECK_ON_OLD, .needs = {S(StreamUpdateCaptureDependencies_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    expect_driver_error("code", cushim_stream_update_capture_dependencies(stream, NULL, NULL, 0, SET),
                        CUDA_ERROR_NOT_SUPPORTED);
}
