/* SPDX-License-Identifier: MIT */
/* Captures into an existing graph (CUDA 12.3): the caller keeps the graph unless the driver destroys it. */
#include "support.h"

/* A graph with one empty node in it. */
static struct cushim_graph *graph_with(CUgraphNode *out_node)
{
    struct cushim_graph *graph = NULL;
    need("graph", cushim_graph_create(&graph));
    need("node", cu->GraphAddEmptyNode_v1(out_node, cushim_graph_handle(graph), NULL, 0));
    return graph;
}

static int edge_count(CUgraph graph)
{
    size_t count = 0;
    return cu->GraphGetEdges_v2(graph, NULL, NULL, NULL, &count) == CUDA_SUCCESS ? (int)count : -1;
}

static void scoped(void)
{
    static const CUgraphEdgeData plain = {0};
    struct cushim_stream *stream = layer_stream();
    CUgraphNode node = NULL;
    struct cushim_graph *graph = graph_with(&node);
    CUgraph handle = cushim_graph_handle(graph);
    watch_begin();
    done("code", cushim_stream_capture_to_graph(stream, graph, &node, NULL, 1, RELAXED, body_adds_work, NULL));
    rule_fact("still-the-caller's", cushim_graph_handle(graph) == handle);
    rule_number("nodes", node_count(handle), 2);
    rule_number("edges", edge_count(handle), 1);
    done("with-edges", cushim_stream_capture_to_graph(stream, graph, &node, &plain, 1, RELAXED, body_adds_work, NULL));
    rule_number("edges-then", edge_count(handle), 2);
    done("on-nothing", cushim_stream_capture_to_graph(stream, graph, NULL, NULL, 0, RELAXED, body_adds_work, NULL));
    rule_number("nodes-then", node_count(handle), 4);
    rule_number("edges-still", edge_count(handle), 2);
    rule_number("nothing-destroyed", watch_calls_of(S(GraphDestroy_v1)), 0);
    rule_number("captures", watch_captures(), 0);
    watch_end();
    done("destroy", cushim_graph_destroy(&graph));
    layer_stream_end(stream);
}

static CUresult fail(struct cushim_stream *stream, void *user)
{
    (void)body_adds_work(stream, user);
    return CUDA_ERROR_ASSERT;
}

static CUresult invalidate(struct cushim_stream *stream, void *user)
{
    (void)user;
    (void)cushim_stream_query(stream);
    return CUDA_SUCCESS;
}

static CUresult end_at_driver(struct cushim_stream *stream, void *user)
{
    return cu->StreamEndCapture_v1(cushim_stream_handle(stream), user);
}

/* After a body fails, the graph contains what was captured; after the capture fails, the driver destroyed the graph. */
static void fails(void)
{
    struct cushim_stream *stream = layer_stream();
    CUgraphNode node = NULL;
    CUgraph taken = NULL;
    struct cushim_graph_exec *exec = NULL;
    struct cushim_graph *graph = graph_with(&node);
    rule("body-fails", cushim_stream_capture_to_graph(stream, graph, &node, NULL, 1, RELAXED, fail, NULL),
         CUDA_ERROR_ASSERT);
    rule_number("keeps-what-was-captured", node_count(cushim_graph_handle(graph)), 2);
    refused("ended-at-driver",
            cushim_stream_capture_to_graph(stream, graph, &node, NULL, 1, RELAXED, end_at_driver, &taken),
            CUDA_ERROR_ILLEGAL_STATE, "cushim_stream_capture_to_graph");
    rule_fact("is-there-still", taken == cushim_graph_handle(graph) && node_count(taken) == 2);
    passed_on("invalidated", cushim_stream_capture_to_graph(stream, graph, &node, NULL, 1, RELAXED, invalidate, NULL),
              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    rule_fact("is-lost", graph != NULL && cushim_graph_handle(graph) == NULL);
    refused("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec), CUDA_ERROR_INVALID_HANDLE,
            "cushim_graph_instantiate");
    refused("release", cushim_graph_release(&graph, &taken), CUDA_ERROR_INVALID_HANDLE, "cushim_graph_release");
    refused("capture-again",
            cushim_stream_capture_to_graph(stream, graph, NULL, NULL, 0, RELAXED, body_adds_work, NULL),
            CUDA_ERROR_INVALID_HANDLE, "cushim_capture_begin_to_graph");
    watch_begin();
    done("destroy", cushim_graph_destroy(&graph));
    rule_number("not-destroyed-twice", watch_calls_of(S(GraphDestroy_v1)), 0);
    watch_end();
    rule_status("status", stream, "none");
    layer_stream_end(stream);
}

/* The capture was ended through the driver, and the query of its status fails: nothing was left to end, so the graph is
 * not lost. */
static void ended_at_driver(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_capture *capture = NULL;
    CUgraph taken = NULL;
    need("graph", cushim_graph_create(&graph));
    need("begin", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, RELAXED, &capture));
    need("end-at-driver", end_at_driver(stream, &taken));
    watch_begin();
    watch_fail(0, CUDA_ERROR_UNKNOWN);
    passed_on("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_ILLEGAL_STATE);
    rule_fact("query-failed", watch_failed(NULL));
    watch_end();
    rule_fact("still-there", cushim_graph_handle(graph) == taken);
    done("destroy", cushim_graph_destroy(&graph));
    layer_stream_end(stream);
}

static void open_form(void)
{
    struct cushim_stream *stream = layer_stream();
    CUgraphNode node = NULL;
    CUgraph handle = NULL;
    struct cushim_graph *graph = graph_with(&node);
    struct cushim_graph *other = NULL;
    struct cushim_capture *capture = NULL;
    done("begin", cushim_capture_begin_to_graph(stream, graph, &node, NULL, 1, RELAXED, &capture));
    done("work", body_adds_work(stream, NULL));
    refused("release", cushim_graph_release(&graph, &handle), CUDA_ERROR_ILLEGAL_STATE, "cushim_graph_release");
    refused("end-into-another", cushim_capture_end(&capture, &other), CUDA_ERROR_INVALID_VALUE, "cushim_capture_end");
    rule_fact("nothing-happened", capture != NULL && other == NULL);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 2);
    done("release-after", cushim_graph_release(&graph, &handle));
    done("graph-destroy", cu->GraphDestroy_v1(handle));
    layer_stream_end(stream);
}

/* A second capture into the same graph is refused: on its dependencies, driver 580 crashes. */
static void second_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *other = layer_stream();
    CUgraphNode node = NULL;
    struct cushim_graph *graph = graph_with(&node);
    struct cushim_capture *first = NULL;
    struct cushim_capture *second = NULL;
    need("begin", cushim_capture_begin_to_graph(stream, graph, &node, NULL, 1, RELAXED, &first));
    refused("second", cushim_capture_begin_to_graph(other, graph, &node, NULL, 1, RELAXED, &second),
            CUDA_ERROR_ILLEGAL_STATE, "cushim_capture_begin_to_graph");
    rule_fact("untouched", second == NULL);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&first, NULL));
    done("again", cushim_capture_begin_to_graph(other, graph, &node, NULL, 1, RELAXED, &second));
    done("end-again", cushim_capture_end(&second, NULL));
    done("graph-destroy", cushim_graph_destroy(&graph));
    layer_stream_end(stream);
    layer_stream_end(other);
}

/* The graph is destroyed while a capture into it is open: it ends with the capture. */
static void graph_destroyed(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_capture *capture = NULL;
    watch_begin();
    need("graph", cushim_graph_create(&graph));
    need("begin", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, RELAXED, &capture));
    done("destroy", cushim_graph_destroy(&graph));
    rule_number("lives", watch_graphs(), 1);
    done("work", body_adds_work(stream, NULL));
    done("end", cushim_capture_end(&capture, NULL));
    rule_number("ends-with-the-capture", watch_graphs(), 0);
    watch_end();
    layer_stream_end(stream);
}

/* The end of a capture also ends its graph. If that fails, cushim_last_error() still has the error of the capture. */
static void graph_destroy_fails(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_capture *capture = NULL;
    CUgraph taken = NULL;
    need("graph", cushim_graph_create(&graph));
    need("begin", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, RELAXED, &capture));
    done("destroy", cushim_graph_destroy(&graph));
    need("end-at-driver", end_at_driver(stream, &taken));
    watch_begin();
    watch_fail_slot(S(GraphDestroy_v1), CUDA_ERROR_UNKNOWN);
    refused("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_ILLEGAL_STATE, "cushim_capture_end");
    rule_fact("failed", watch_failed(NULL));
    watch_end();
    need("graph-destroy", cu->GraphDestroy_v1(taken));
    layer_stream_end(stream);
}

/* The stream is destroyed while the capture is open: the capture ends, and the caller keeps the graph. */
static void stream_destroyed(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_capture *capture = NULL;
    watch_begin();
    need("graph", cushim_graph_create(&graph));
    need("begin", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, RELAXED, &capture));
    need("work", body_adds_work(stream, NULL));
    done("destroy", cushim_stream_destroy(&stream));
    refused("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "cushim_capture_end");
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 1);
    done("graph-destroy", cushim_graph_destroy(&graph));
    rule_number("graphs", watch_graphs(), 0);
    watch_end();
}

static void CUDA_CB count_call(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* counts[0] counts the calls, counts[1] the releases. */
static void count_second(void *user)
{
    atomic_fetch_add((atomic_int *)user + 1, 1);
}

static void rule_released(const char *key, atomic_int counts[2])
{
    for (int i = 0; i < 500 && atomic_load(&counts[1]) == 0; i++)
        pause_shortly();
    rule_number(key, atomic_load(&counts[1]), 1);
}

/* An executable graph that is made while the capture is open remains valid if the capture fails. */
static void instantiated_during_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    struct cushim_capture *capture = NULL;
    atomic_int counts[2] = {0, 0};
    need("graph", cushim_graph_create(&graph));
    need("begin", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, RELAXED, &capture));
    done("host", cushim_stream_launch_host(stream, count_call, counts, count_second));
    done("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    (void)cushim_stream_query(stream);
    rule("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    done("launch", cushim_graph_exec_launch(exec, stream));
    done("synchronize", cushim_stream_synchronize(stream));
    rule_number("called", atomic_load(&counts[0]), 1);
    rule_number("kept", atomic_load(&counts[1]), 0);
    done("exec-destroy", cushim_graph_exec_destroy(&exec));
    rule_released("released", counts);
    cushim_graph_destroy(&graph);
    layer_stream_end(stream);
}

static CUresult clone_graph(struct cushim_stream *stream, void *user)
{
    struct cushim_capture_info info;
    CUresult result = cushim_stream_capture_info(stream, NULL, NULL, 0, &info);
    return result != CUDA_SUCCESS ? result : cu->GraphClone_v1(user, info.graph);
}

/* A clone that is made while the capture is open remains valid if the capture fails, even if only the capture owned the
 * graph. */
static void cloned_during_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    CUgraph clone = NULL;
    atomic_int counts[2] = {0, 0};
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    done("host", cushim_stream_launch_host(stream, count_call, counts, count_second));
    done("clone", clone_graph(stream, &clone));
    (void)cushim_stream_query(stream);
    rule("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    for (int i = 0; i < 10; i++)
        pause_shortly();
    rule_number("kept", atomic_load(&counts[1]), 0);
    done("clone-destroy", cu->GraphDestroy_v1(clone));
    rule_released("released", counts);
    layer_stream_end(stream);
}

static void argument(void)
{
    static const char function[] = "cushim_capture_begin_to_graph";
    static const CUgraphEdgeData plain = {0};
    struct cushim_stream *stream = layer_stream();
    CUgraphNode node = NULL;
    CUgraphNode foreign = NULL;
    struct cushim_graph *graph = graph_with(&node);
    struct cushim_graph *other = graph_with(&foreign);
    struct cushim_capture *capture = NULL;
    refused("null-graph", cushim_capture_begin_to_graph(stream, NULL, NULL, NULL, 0, RELAXED, &capture),
            CUDA_ERROR_INVALID_HANDLE, function);
    refused("null-stream", cushim_capture_begin_to_graph(NULL, graph, NULL, NULL, 0, RELAXED, &capture),
            CUDA_ERROR_INVALID_HANDLE, function);
    refused("null-output", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, RELAXED, NULL),
            CUDA_ERROR_INVALID_VALUE, function);
    refused("count-without-nodes", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 1, RELAXED, &capture),
            CUDA_ERROR_INVALID_VALUE, function);
    refused("edges-without-nodes", cushim_capture_begin_to_graph(stream, graph, NULL, &plain, 0, RELAXED, &capture),
            CUDA_ERROR_INVALID_VALUE, function);
    refused("no-mode", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, (CUstreamCaptureMode)3, &capture),
            CUDA_ERROR_INVALID_VALUE, function);
    passed_on("foreign-node", cushim_capture_begin_to_graph(stream, graph, &foreign, NULL, 1, RELAXED, &capture),
              CUDA_ERROR_INVALID_VALUE);
    refused("null-body", cushim_stream_capture_to_graph(stream, graph, NULL, NULL, 0, RELAXED, NULL, NULL),
            CUDA_ERROR_INVALID_VALUE, "cushim_stream_capture_to_graph");
    rule_fact("untouched", capture == NULL);
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 1);
    rule_status("status", stream, "none");
    done("destroy", cushim_graph_destroy(&graph));
    done("destroy-other", cushim_graph_destroy(&other));
    layer_stream_end(stream);
}

static void on_old(void)
{
    struct cushim_stream *stream;
    struct cushim_graph *graph = NULL;
    if (cushim_query_slot_state(S(StreamBeginCaptureToGraph_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING
        || cushim_query_slot_state(S(GraphCreate_v1), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING) {
        lacks(NULL, "a driver from CUDA 10.0 to 12.2 alone");
        return;
    }
    stream = layer_stream();
    need("graph", cushim_graph_create(&graph));
    passed_on("code", cushim_stream_capture_to_graph(stream, graph, NULL, NULL, 0, RELAXED, body_adds_work, NULL),
              CUDA_ERROR_NOT_SUPPORTED);
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 0);
    rule_status("status", stream, "none");
    done("destroy", cushim_graph_destroy(&graph));
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"capture_to_graph.scoped", scoped, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.fails", fails, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.ended-at-driver", ended_at_driver, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.second-capture", second_capture, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.open-form", open_form, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.graph-destroyed", graph_destroyed, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.graph-destroy-fails", graph_destroy_fails, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.stream-destroyed", stream_destroyed, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.instantiated-during-capture", instantiated_during_capture, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.cloned-during-capture", cloned_during_capture, 0, {S(UserObjectCreate_v1)}},
    {"capture_to_graph.argument", argument, 0, {S(StreamBeginCaptureToGraph_v1)}},
    {"capture_to_graph.on-old", on_old, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_capture_to_graph = {"capture_to_graph", checks};
