/* SPDX-License-Identifier: MIT */
/* Captures into an existing graph (CUDA 12.3): the caller keeps the graph unless the driver destroys it. */
#include "support.h"

/* A graph with one empty node in it. */
static struct cushim_graph *graph_with(CUgraphNode *out_node)
{
    struct cushim_graph *graph = test_graph_new();
    require("node", cu->GraphAddEmptyNode_v1(out_node, cushim_graph_handle(graph), NULL, 0));
    return graph;
}

static struct cushim_capture *begin_to_graph(struct cushim_stream *stream, struct cushim_graph *graph)
{
    struct cushim_capture *capture = NULL;
    require("begin", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, RELAXED, &capture));
    return capture;
}

CHECK(scoped, "capture_to_graph.scoped", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    static const CUgraphEdgeData plain = {0};
    struct cushim_stream *stream = fixture_stream();
    CUgraphNode node = NULL;
    struct cushim_graph *graph = graph_with(&node);
    CUgraph handle = cushim_graph_handle(graph);
    watch_begin();
    expect_success("code",
                   cushim_stream_capture_to_graph(stream, graph, &node, NULL, 1, RELAXED, body_adds_work, NULL));
    expect_true("still-the-caller's", cushim_graph_handle(graph) == handle);
    expect_number("nodes", graph_nodes(handle), 2);
    expect_number("edges", graph_edges(handle), 1);
    expect_success("with-edges",
                   cushim_stream_capture_to_graph(stream, graph, &node, &plain, 1, RELAXED, body_adds_work, NULL));
    expect_number("edges-then", graph_edges(handle), 2);
    expect_success("on-nothing",
                   cushim_stream_capture_to_graph(stream, graph, NULL, NULL, 0, RELAXED, body_adds_work, NULL));
    expect_number("nodes-then", graph_nodes(handle), 4);
    expect_number("edges-still", graph_edges(handle), 2);
    expect_number("nothing-destroyed", watch_calls_of(S(GraphDestroy_v1)), 0);
    expect_number("captures", watch_objects.captures, 0);
    watch_end();
    expect_success("destroy", cushim_graph_destroy(&graph));
}

static CUresult fail(struct cushim_stream *stream, void *user)
{
    (void)body_adds_work(stream, user);
    return CUDA_ERROR_ASSERT;
}

static CUresult invalidate(struct cushim_stream *stream, void *user)
{
    (void)cushim_stream_query(stream);
    return CUDA_SUCCESS;
}

static CUresult end_at_driver(struct cushim_stream *stream, void *user)
{
    return cu->StreamEndCapture_v1(cushim_stream_handle(stream), user);
}

/* After a body fails, the graph contains what was captured; after the capture fails, the driver destroyed the graph. */
CHECK(fails, "capture_to_graph.fails", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    CUgraphNode node = NULL;
    CUgraph taken = NULL;
    struct cushim_graph_exec *exec = NULL;
    struct cushim_graph *graph = graph_with(&node);
    expect("body-fails", cushim_stream_capture_to_graph(stream, graph, &node, NULL, 1, RELAXED, fail, NULL),
           CUDA_ERROR_ASSERT);
    expect_number("keeps-what-was-captured", graph_nodes(cushim_graph_handle(graph)), 2);
    expect_error("ended-at-driver",
                 cushim_stream_capture_to_graph(stream, graph, &node, NULL, 1, RELAXED, end_at_driver, &taken),
                 CUDA_ERROR_ILLEGAL_STATE);
    expect_true("is-there-still", taken == cushim_graph_handle(graph) && graph_nodes(taken) == 2);
    expect_driver_error("invalidated",
                        cushim_stream_capture_to_graph(stream, graph, &node, NULL, 1, RELAXED, invalidate, NULL),
                        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_true("is-lost", graph != NULL && cushim_graph_handle(graph) == NULL);
    expect_error("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec), CUDA_ERROR_INVALID_HANDLE);
    expect_error("release", cushim_graph_release(&graph, &taken), CUDA_ERROR_INVALID_HANDLE);
    expect_error("capture-again",
                 cushim_stream_capture_to_graph(stream, graph, NULL, NULL, 0, RELAXED, body_adds_work, NULL),
                 CUDA_ERROR_INVALID_HANDLE, "cushim_capture_begin_to_graph");
    watch_begin();
    expect_success("destroy", cushim_graph_destroy(&graph));
    expect_number("not-destroyed-twice", watch_calls_of(S(GraphDestroy_v1)), 0);
    watch_end();
    expect_status("status", stream, "none");
}

/* The capture was ended through the driver, and the query of its status fails: nothing was left to end, so the graph is
 * not lost. */
CHECK(ended_at_driver, "capture_to_graph.ended-at-driver", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    CUgraph taken = NULL;
    struct cushim_graph *graph = test_graph_new();
    struct cushim_capture *capture = begin_to_graph(stream, graph);
    require("end-at-driver", end_at_driver(stream, &taken));
    watch_begin();
    watch_fail(0, CUDA_ERROR_UNKNOWN);
    expect_driver_error("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_ILLEGAL_STATE);
    expect_true("query-failed", watch_failed(NULL));
    watch_end();
    expect_true("still-there", cushim_graph_handle(graph) == taken);
    expect_success("destroy", cushim_graph_destroy(&graph));
}

CHECK(open_form, "capture_to_graph.open-form", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    CUgraphNode node = NULL;
    CUgraph handle = NULL;
    struct cushim_graph *graph = graph_with(&node);
    struct cushim_graph *other = NULL;
    struct cushim_capture *capture = NULL;
    expect_success("begin", cushim_capture_begin_to_graph(stream, graph, &node, NULL, 1, RELAXED, &capture));
    expect_success("work", body_adds_work(stream, NULL));
    expect_error("release", cushim_graph_release(&graph, &handle), CUDA_ERROR_ILLEGAL_STATE);
    expect_error("end-into-another", cushim_capture_end(&capture, &other), CUDA_ERROR_INVALID_VALUE);
    expect_true("nothing-happened", capture != NULL && other == NULL);
    expect_capture_ends(stream, &capture);
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 2);
    expect_success("release-after", cushim_graph_release(&graph, &handle));
    expect_success("graph-destroy", cu->GraphDestroy_v1(handle));
}

/* A second capture into the same graph is refused: on its dependencies, driver 580 crashes. */
CHECK(second_capture, "capture_to_graph.second-capture", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_stream *other = fixture_stream();
    CUgraphNode node = NULL;
    struct cushim_graph *graph = graph_with(&node);
    struct cushim_capture *first = NULL;
    struct cushim_capture *second = NULL;
    require("begin", cushim_capture_begin_to_graph(stream, graph, &node, NULL, 1, RELAXED, &first));
    expect_error("second", cushim_capture_begin_to_graph(other, graph, &node, NULL, 1, RELAXED, &second),
                 CUDA_ERROR_ILLEGAL_STATE);
    expect_true("untouched", second == NULL);
    expect_capture_ends(stream, &first);
    expect_success("again", cushim_capture_begin_to_graph(other, graph, &node, NULL, 1, RELAXED, &second));
    expect_success("end-again", cushim_capture_end(&second, NULL));
    expect_success("graph-destroy", cushim_graph_destroy(&graph));
}

/* The graph is destroyed while a capture into it is open: it ends with the capture. */
CHECK(graph_destroyed, "capture_to_graph.graph-destroyed", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    watch_begin();
    struct cushim_graph *graph = test_graph_new();
    struct cushim_capture *capture = begin_to_graph(stream, graph);
    expect_success("destroy", cushim_graph_destroy(&graph));
    expect_number("lives", watch_objects.graphs, 1);
    expect_success("work", body_adds_work(stream, NULL));
    expect_success("end", cushim_capture_end(&capture, NULL));
    expect_number("ends-with-the-capture", watch_objects.graphs, 0);
    watch_end();
}

/* The end of a capture also ends its graph. If that fails, cushim_error_last() still has the error of the capture. */
CHECK(graph_destroy_fails, "capture_to_graph.graph-destroy-fails", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    CUgraph taken = NULL;
    struct cushim_graph *graph = test_graph_new();
    struct cushim_capture *capture = begin_to_graph(stream, graph);
    expect_success("destroy", cushim_graph_destroy(&graph));
    require("end-at-driver", end_at_driver(stream, &taken));
    watch_begin();
    watch_fail_slot(S(GraphDestroy_v1), CUDA_ERROR_UNKNOWN);
    expect_error("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_ILLEGAL_STATE);
    expect_true("failed", watch_failed(NULL));
    watch_end();
    require("graph-destroy", cu->GraphDestroy_v1(taken));
}

/* The stream is destroyed while the capture is open: the capture ends, and the caller keeps the graph. */
CHECK(stream_destroyed, "capture_to_graph.stream-destroyed", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    struct cushim_stream *stream = test_stream_new();
    watch_begin();
    struct cushim_graph *graph = test_graph_new();
    struct cushim_capture *capture = begin_to_graph(stream, graph);
    require("work", body_adds_work(stream, NULL));
    expect_success("destroy", cushim_stream_destroy(&stream));
    expect_error("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 1);
    expect_success("graph-destroy", cushim_graph_destroy(&graph));
    expect_number("graphs", watch_objects.graphs, 0);
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

static void expect_released(const char *key, atomic_int counts[2])
{
    wait_for_count(&counts[1], 1);
    expect_number(key, atomic_load(&counts[1]), 1);
}

/* An executable graph that is made while the capture is open remains valid if the capture fails. */
CHECK(instantiated_during_capture, "capture_to_graph.instantiated-during-capture",
      .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph_exec *exec = NULL;
    atomic_int counts[2] = {0, 0};
    struct cushim_graph *graph = test_graph_new();
    struct cushim_capture *capture = begin_to_graph(stream, graph);
    expect_success("host", cushim_stream_launch_host(stream, count_call, counts, count_second));
    expect_success("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    (void)cushim_stream_query(stream);
    expect("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_success("launch", cushim_graph_exec_launch(exec, stream));
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("called", atomic_load(&counts[0]), 1);
    expect_number("kept", atomic_load(&counts[1]), 0);
    expect_success("exec-destroy", cushim_graph_exec_destroy(&exec));
    expect_released("released", counts);
    cushim_graph_destroy(&graph);
}

static CUresult clone_graph(struct cushim_stream *stream, void *user)
{
    struct cushim_capture_info info;
    CUresult result = cushim_stream_get_capture_info(stream, NULL, NULL, 0, &info);
    return result != CUDA_SUCCESS ? result : cu->GraphClone_v1(user, info.graph);
}

/* A clone that is made while the capture is open remains valid if the capture fails, even if only the capture owned the
 * graph. */
CHECK(cloned_during_capture, "capture_to_graph.cloned-during-capture", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    CUgraph clone = NULL;
    atomic_int counts[2] = {0, 0};
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_success("host", cushim_stream_launch_host(stream, count_call, counts, count_second));
    expect_success("clone", clone_graph(stream, &clone));
    (void)cushim_stream_query(stream);
    expect("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    for (int i = 0; i < 10; i++)
        pause_shortly();
    expect_number("kept", atomic_load(&counts[1]), 0);
    expect_success("clone-destroy", cu->GraphDestroy_v1(clone));
    expect_released("released", counts);
}

CHECK(argument, "capture_to_graph.argument", .needs = {S(StreamBeginCaptureToGraph_v1)})
{
    static const CUgraphEdgeData plain = {0};
    struct cushim_stream *stream = fixture_stream();
    CUgraphNode node = NULL;
    CUgraphNode foreign = NULL;
    struct cushim_graph *graph = graph_with(&node);
    struct cushim_graph *other = graph_with(&foreign);
    struct cushim_capture *capture = NULL;
    expect_error("null-graph", cushim_capture_begin_to_graph(stream, NULL, NULL, NULL, 0, RELAXED, &capture),
                 CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-stream", cushim_capture_begin_to_graph(NULL, graph, NULL, NULL, 0, RELAXED, &capture),
                 CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-output", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, RELAXED, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    expect_error("count-without-nodes", cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 1, RELAXED, &capture),
                 CUDA_ERROR_INVALID_VALUE);
    expect_error("edges-without-nodes",
                 cushim_capture_begin_to_graph(stream, graph, NULL, &plain, 0, RELAXED, &capture),
                 CUDA_ERROR_INVALID_VALUE);
    expect_error("no-mode",
                 cushim_capture_begin_to_graph(stream, graph, NULL, NULL, 0, (CUstreamCaptureMode)3, &capture),
                 CUDA_ERROR_INVALID_VALUE);
    expect_driver_error("foreign-node",
                        cushim_capture_begin_to_graph(stream, graph, &foreign, NULL, 1, RELAXED, &capture),
                        CUDA_ERROR_INVALID_VALUE);
    expect_error("null-body", cushim_stream_capture_to_graph(stream, graph, NULL, NULL, 0, RELAXED, NULL, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", capture == NULL);
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 1);
    expect_status("status", stream, "none");
    expect_success("destroy", cushim_graph_destroy(&graph));
    expect_success("destroy-other", cushim_graph_destroy(&other));
}

CHECK(on_old, "capture_to_graph.on-old", .flags = CHECK_ON_OLD,
      .needs = {S(StreamBeginCaptureToGraph_v1), S(GraphCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graph = test_graph_new();
    expect_driver_error("code",
                        cushim_stream_capture_to_graph(stream, graph, NULL, NULL, 0, RELAXED, body_adds_work, NULL),
                        CUDA_ERROR_NOT_SUPPORTED);
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 0);
    expect_status("status", stream, "none");
    expect_success("destroy", cushim_graph_destroy(&graph));
}
