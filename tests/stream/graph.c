/* SPDX-License-Identifier: MIT */
/* Graphs and executable graphs: their ownership, launching, uploading and updating. */
#include "support.h"

static void CUDA_CB count_if_asked(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* Adds a host node to a graph. */
static void add_node(CUgraph graph, atomic_int *calls)
{
    CUgraphNode node = NULL;
    const CUDA_HOST_NODE_PARAMS parameters = {.fn = count_if_asked, .userData = calls};
    require("node", cu->GraphAddHostNode_v1(&node, graph, NULL, 0, &parameters));
}

CHECK(graph, "graph.graph", .needs = {S(GraphCreate_v1)})
{
    struct cushim_graph *graph = NULL;
    CUgraph handle = NULL;
    watch_begin();
    expect_success("create", cushim_graph_create(&graph));
    handle = cushim_graph_handle(graph);
    expect_number("nodes", graph_nodes(handle), 0);
    expect_error("null-output", cushim_graph_create(NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("release-null-output", cushim_graph_release(&graph, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_success("destroy", cushim_graph_destroy(&graph));
    expect_true("gone", graph == NULL && cushim_graph_handle(graph) == NULL);
    expect_success("destroy-again", cushim_graph_destroy(&graph));
    expect_success("destroy-null", cushim_graph_destroy(NULL));
    expect_number("alive", watch_objects.graphs, 0);
    watch_end();
}

CHECK(adopted_and_borrowed, "graph.adopted-and-borrowed", .needs = {S(GraphCreate_v1)})
{
    struct cushim_graph *graph = NULL;
    CUgraph handle = NULL;
    CUgraph released = NULL;
    require("create", cu->GraphCreate_v1(&handle, 0));
    watch_begin();
    expect_success("borrow", cushim_graph_borrow(handle, &graph));
    expect_true("handle", cushim_graph_handle(graph) == handle);
    expect_success("borrowed-destroy", cushim_graph_destroy(&graph));
    expect_number("never-destroyed", watch_calls_of(S(GraphDestroy_v1)), 0);
    expect_success("adopt", cushim_graph_adopt(handle, &graph));
    expect_success("release", cushim_graph_release(&graph, &released));
    expect_true("released", released == handle && graph == NULL);
    expect_number("calls", watch_calls(), 0);
    expect_success("adopt-again", cushim_graph_adopt(handle, &graph));
    expect_success("destroy", cushim_graph_destroy(&graph));
    expect_number("destroyed", watch_calls_of(S(GraphDestroy_v1)), 1);
    watch_end();
    expect_error("adopt-null", cushim_graph_adopt(NULL, &graph), CUDA_ERROR_INVALID_HANDLE);
    expect_error("adopt-null-output", cushim_graph_adopt(handle, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("borrow-null", cushim_graph_borrow(NULL, &graph), CUDA_ERROR_INVALID_HANDLE);
    expect_error("borrow-null-output", cushim_graph_borrow(handle, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("release-null", cushim_graph_release(NULL, &released), CUDA_ERROR_INVALID_HANDLE);
    expect_error("release-gone", cushim_graph_release(&graph, &released), CUDA_ERROR_INVALID_HANDLE);
    expect_true("untouched", graph == NULL && released == handle);
}

/* An executable graph outlives its graph, and each launch runs it once. */
CHECK(launched, "graph.launched", .needs = {S(GraphCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph_exec *exec = NULL;
    atomic_int calls = 0;
    watch_begin();
    struct cushim_graph *graph = test_graph_new();
    add_node(cushim_graph_handle(graph), &calls);
    if (expect_success("instantiate", cushim_graph_instantiate(graph, cushim_stream_context(stream), 0, &exec))) {
        expect_true("handle", cushim_graph_exec_handle(exec) != NULL);
        expect_success("graph-destroy", cushim_graph_destroy(&graph));
        expect_success("launch", cushim_graph_exec_launch(exec, stream));
        expect_success("launch-again", cushim_graph_exec_launch(exec, stream));
        expect_success("synchronize", cushim_stream_synchronize(stream));
        expect_number("called", atomic_load(&calls), 2);
        expect_error("launch-null-stream", cushim_graph_exec_launch(exec, NULL), CUDA_ERROR_INVALID_HANDLE);
        expect_error("upload-null-stream", cushim_graph_exec_upload(exec, NULL), CUDA_ERROR_INVALID_HANDLE);
        expect_success("destroy", cushim_graph_exec_destroy(&exec));
        expect_true("gone", exec == NULL && cushim_graph_exec_handle(exec) == NULL);
        expect_success("destroy-again", cushim_graph_exec_destroy(&exec));
        expect_success("destroy-null", cushim_graph_exec_destroy(NULL));
    }
    expect_number("graphs", watch_objects.graphs, 0);
    expect_number("executables", watch_objects.executables, 0);
    watch_end();
}

/* The context is not current, and it lives as long as the executable graph that was made for it. */
CHECK(instantiated_elsewhere, "graph.instantiated-elsewhere", .needs = {S(GraphCreate_v1)})
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_graph_exec *exec = NULL;
    atomic_int calls = 0;
    watch_begin();
    require("context", cushim_context_create(the_ordinal, 0, &context));
    require("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    struct cushim_graph *graph = test_graph_new();
    add_node(cushim_graph_handle(graph), &calls);
    require("none", cu->CtxSetCurrent_v1(NULL));
    expect_success("code", cushim_graph_instantiate(graph, context, 0, &exec));
    expect_current("none-is-current", NULL);
    expect_success("context-destroy", cushim_context_destroy(&context));
    expect_success("launch", cushim_graph_exec_launch(exec, stream));
    test_stream_close(stream);
    expect_number("called", atomic_load(&calls), 1);
    expect_number("context-lives", watch_objects.contexts, 1);
    expect_success("destroy", cushim_graph_exec_destroy(&exec));
    expect_number("context-ends", watch_objects.contexts, 0);
    require("set", cu->CtxSetCurrent_v1(the_context));
    expect_success("for-the-current-one", cushim_graph_instantiate(graph, NULL, 0, &exec));
    expect_success("destroy-that", cushim_graph_exec_destroy(&exec));
    cushim_graph_destroy(&graph);
    expect_number("alive", watch_alive(), 0);
    watch_end();
}

CHECK(exec_argument, "graph.exec-argument", .needs = {S(GraphCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph_exec *exec = NULL;
    struct cushim_graph *graph = test_graph_new();
    expect_error("null-graph", cushim_graph_instantiate(NULL, NULL, 0, &exec), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-output", cushim_graph_instantiate(graph, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("launch-null", cushim_graph_exec_launch(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
    expect_error("upload-null", cushim_graph_exec_upload(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
    expect_error("update-null", cushim_graph_exec_update(NULL, graph, NULL), CUDA_ERROR_INVALID_HANDLE);
    expect_true("untouched", exec == NULL);
    cushim_graph_destroy(&graph);
}

/* A capture in the global mode refuses cuGraphExecDestroy: the executable, and what it holds, would stay for ever. */
CHECK(destroyed_in_capture, "graph.destroyed-in-capture", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    struct cushim_capture *open = NULL;
    bool releases = !is_missing(S(UserObjectCreate_v1));
    atomic_int released = 0;
    require("first", cushim_capture_begin(stream, RELAXED, &open));
    require("work", cushim_stream_launch_host(stream, count_release, &released, releases ? count_release : NULL));
    require("graph", cushim_capture_end(&open, &graph));
    require("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    require("graph-destroy", cushim_graph_destroy(&graph));
    require("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, &open));
    expect_success("destroy", cushim_graph_exec_destroy(&exec));
    expect_status("status", stream, "active");
    expect_success("end", cushim_capture_end(&open, NULL));
    wait_for_count(&released, releases);
    expect_true("released", atomic_load(&released) == (int)releases);
}

/* CUDA 11.4 brought the flags of an instantiation. */
CHECK(flags, "graph.flags", .needs = {S(GraphCreate_v1)})
{
    bool known = is_native(S(GraphInstantiateWithFlags_v1));
    struct cushim_graph_exec *exec = NULL;
    struct cushim_graph *graph = test_graph_new();
    expect("auto-free", cushim_graph_instantiate(graph, NULL, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, &exec),
           known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    expect_true("made", (exec != NULL) == known);
    expect_success("destroy", cushim_graph_exec_destroy(&exec));
    expect_driver_error("unknown", cushim_graph_instantiate(graph, NULL, 1u << 31, &exec), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", exec == NULL);
    cushim_graph_destroy(&graph);
}

CHECK(upload, "graph.upload", .needs = {S(GraphCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph_exec *exec = NULL;
    atomic_int calls = 0;
    bool known = !is_missing(S(GraphUpload_v1));
    struct cushim_graph *graph = test_graph_new();
    add_node(cushim_graph_handle(graph), &calls);
    require("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    expect("code", cushim_graph_exec_upload(exec, stream), known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("not-called", atomic_load(&calls), 0);
    cushim_graph_exec_destroy(&exec);
    cushim_graph_destroy(&graph);
}

/* An update takes the parameters of another graph of the same topology; a graph of another topology is refused, and the
 * executable graph does not change. */
CHECK(update, "graph.update", .needs = {S(GraphExecUpdate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graphs[3] = {NULL, NULL, NULL};
    struct cushim_graph_exec *exec = NULL;
    CUgraphExecUpdateResult result = (CUgraphExecUpdateResult)77;
    atomic_int calls[2] = {0, 0};
    for (int i = 0; i < 3; i++)
        require("graph", cushim_graph_create(&graphs[i]));
    add_node(cushim_graph_handle(graphs[0]), &calls[0]);
    add_node(cushim_graph_handle(graphs[1]), &calls[1]);
    require("instantiate", cushim_graph_instantiate(graphs[0], NULL, 0, &exec));
    expect_success("code", cushim_graph_exec_update(exec, graphs[1], &result));
    expect_number("result", result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    expect_success("without-result", cushim_graph_exec_update(exec, graphs[1], NULL));
    expect_driver_error("other-shape", cushim_graph_exec_update(exec, graphs[2], &result),
                        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    expect_true("reports-how", result != CU_GRAPH_EXEC_UPDATE_SUCCESS);
    expect_error("null-graph", cushim_graph_exec_update(exec, NULL, &result), CUDA_ERROR_INVALID_HANDLE);
    expect_success("launch", cushim_graph_exec_launch(exec, stream));
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("old-function", atomic_load(&calls[0]), 0);
    expect_number("new-function", atomic_load(&calls[1]), 1);
    cushim_graph_exec_destroy(&exec);
    for (int i = 0; i < 3; i++)
        cushim_graph_destroy(&graphs[i]);
}

CHECK(on_old, "graph.on-old", .flags = CHECK_ON_OLD, .needs = {S(GraphCreate_v1)})
{
    struct cushim_graph *graph = NULL;
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture *capture = NULL;
    expect_driver_error("create", cushim_graph_create(&graph), CUDA_ERROR_NOT_SUPPORTED);
    expect_driver_error("capture",
                        cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED, body_adds_work, NULL, &graph),
                        CUDA_ERROR_NOT_SUPPORTED);
    expect_driver_error("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &capture),
                        CUDA_ERROR_NOT_SUPPORTED);
    expect_true("untouched", graph == NULL && capture == NULL);
    expect_success("destroy-nothing", cushim_graph_destroy(&graph));
}
