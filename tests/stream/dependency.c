/* SPDX-License-Identifier: MIT */
/* The dependencies of the next node are added to, set and removed, with and without edge data. */
#include "support.h"

#include <string.h>

#define ADD CU_STREAM_ADD_CAPTURE_DEPENDENCIES
#define SET CU_STREAM_SET_CAPTURE_DEPENDENCIES

static bool is_native(enum cushim_slot slot)
{
    return cushim_query_slot_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
}

static CUgraph graph_of(struct cushim_stream *stream)
{
    struct cushim_capture_info info = {.graph = NULL};
    need("info", cushim_stream_capture_info(stream, NULL, NULL, 0, &info));
    return info.graph;
}

static int count_of(struct cushim_stream *stream)
{
    struct cushim_capture_info info = {.dependency_count = 99};
    need("info", cushim_stream_capture_info(stream, NULL, NULL, 0, &info));
    return (int)info.dependency_count;
}

static CUgraphNode add_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    need("node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0));
    return node;
}

static void updated(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    CUgraphEdgeData plain[2];
    CUgraphNode nodes[2];
    CUgraphNode found = NULL;
    struct cushim_capture_info info;
    memset(plain, 0, sizeof plain);
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("work", body_adds_work(stream, NULL));
    nodes[0] = add_node(graph_of(stream));
    nodes[1] = add_node(graph_of(stream));
    done("add", cushim_stream_update_dependencies(stream, nodes, NULL, 1, ADD));
    rule_number("added", count_of(stream), 2);
    done("add-with-plain-edges", cushim_stream_update_dependencies(stream, &nodes[1], plain, 1, ADD));
    rule_number("added-again", count_of(stream), 3);
    done("set", cushim_stream_update_dependencies(stream, &nodes[1], NULL, 1, SET));
    done("info", cushim_stream_capture_info(stream, &found, NULL, 1, &info));
    rule_fact("set-to-that", info.dependency_count == 1 && found == nodes[1]);
    done("set-both-with-plain-edges", cushim_stream_update_dependencies(stream, nodes, plain, 2, SET));
    rule_number("set-to-both", count_of(stream), 2);
    done("add-none", cushim_stream_update_dependencies(stream, NULL, NULL, 0, ADD));
    rule_number("none-added", count_of(stream), 2);
    done("set-none", cushim_stream_update_dependencies(stream, NULL, NULL, 0, SET));
    rule_number("emptied", count_of(stream), 0);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, &graph));
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 3);
    cushim_graph_destroy(&graph);
    layer_stream_end(stream);
}

static void argument(void)
{
    static const char function[] = "cushim_stream_update_dependencies";
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    CUgraphEdgeData plain;
    memset(&plain, 0, sizeof plain);
    passed_on("idle", cushim_stream_update_dependencies(stream, NULL, NULL, 0, SET), CUDA_ERROR_ILLEGAL_STATE);
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("work", body_adds_work(stream, NULL));
    CUgraphNode node = add_node(graph_of(stream));
    refused("null-stream", cushim_stream_update_dependencies(NULL, &node, NULL, 1, ADD), CUDA_ERROR_INVALID_HANDLE,
            function);
    refused("count-without-nodes", cushim_stream_update_dependencies(stream, NULL, NULL, 1, ADD),
            CUDA_ERROR_INVALID_VALUE, function);
    refused("edges-without-nodes", cushim_stream_update_dependencies(stream, NULL, &plain, 0, ADD),
            CUDA_ERROR_INVALID_VALUE, function);
    refused("no-operation",
            cushim_stream_update_dependencies(stream, &node, NULL, 1, (CUstreamUpdateCaptureDependencies_flags)2),
            CUDA_ERROR_INVALID_VALUE, function);
    rule_number("unchanged", count_of(stream), 1);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
}

/* Edge data that is not plain is returned with the edges, and is never lost silently. */
static void edges(void)
{
    if (!is_native(S(StreamUpdateCaptureDependencies_v2)) || !is_native(S(StreamGetCaptureInfo_v3))) {
        lacks(NULL, "edge data came with CUDA 12.3");
        return;
    }
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct cushim_capture_info info = {.valid = 77};
    struct cushim_capture_info *copy = NULL;
    CUfunction function = NULL;
    CUgraphNode node = NULL;
    CUgraphEdgeData programmatic;
    CUgraphEdgeData found;
    memset(&programmatic, 0, sizeof programmatic);
    memset(&found, 0, sizeof found);
    programmatic.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    programmatic.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    need("kernel", kernel_get("conformance_nothing", &function));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("launch", kernel_launch(function, cushim_stream_handle(stream), NULL));
    need("info", cushim_stream_capture_info(stream, &node, NULL, 1, &info));
    done("set", cushim_stream_update_dependencies(stream, &node, &programmatic, 1, SET));
    info.valid = 77;
    refused("nodes-alone", cushim_stream_capture_info(stream, &node, NULL, 1, &info), CUDA_ERROR_LOSSY_QUERY,
            "cushim_stream_capture_info");
    rule_number("untouched", info.valid, 77);
    done("with-edges", cushim_stream_capture_info(stream, &node, &found, 1, &info));
    rule_fact("returned", memcmp(&found, &programmatic, sizeof found) == 0 && (info.valid & CUSHIM_CAPTURE_EDGES) != 0);
    done("nothing-requested", cushim_stream_capture_info(stream, NULL, NULL, 0, &info));
    done("copy", cushim_stream_capture_info_copy(stream, &copy));
    rule_fact("copied", memcmp(copy->edges, &programmatic, sizeof found) == 0);
    cushim_capture_info_destroy(&copy);
    need("take-off", cushim_stream_update_dependencies(stream, NULL, NULL, 0, SET));
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
}

/* A driver without edge data refuses it, and the dependencies do not change. */
static void edges_on_old(void)
{
    struct cushim_stream *stream;
    struct cushim_capture *capture = NULL;
    struct cushim_capture_info info;
    CUgraphNode node = NULL;
    CUgraphEdgeData other;
    if (is_native(S(StreamUpdateCaptureDependencies_v2))) {
        lacks(NULL, "a driver that has edge data");
        return;
    }
    stream = layer_stream();
    memset(&other, 0, sizeof other);
    other.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    need("work", body_adds_work(stream, NULL));
    need("info", cushim_stream_capture_info(stream, &node, NULL, 1, &info));
    passed_on("set", cushim_stream_update_dependencies(stream, &node, &other, 1, SET), CUDA_ERROR_NOT_SUPPORTED);
    rule_number("unchanged", count_of(stream), 1);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
}

static void on_old(void)
{
    struct cushim_stream *stream;
    if (cushim_query_slot_state(S(StreamUpdateCaptureDependencies_v2), CUSHIM_DEFAULT_STREAM_LEGACY)
        != CUSHIM_STATE_MISSING) {
        lacks(NULL, "a driver that has it");
        return;
    }
    stream = layer_stream();
    passed_on("code", cushim_stream_update_dependencies(stream, NULL, NULL, 0, SET), CUDA_ERROR_NOT_SUPPORTED);
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"dependency.updated", updated, 0, {S(StreamUpdateCaptureDependencies_v2)}},
    {"dependency.argument", argument, 0, {S(StreamUpdateCaptureDependencies_v2)}},
    {"dependency.edges", edges, 0, {S(StreamUpdateCaptureDependencies_v2)}},
    {"dependency.edges-on-old", edges_on_old, 0, {S(StreamUpdateCaptureDependencies_v2)}},
    {"dependency.on-old", on_old, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_dependency = {"dependency", checks};
