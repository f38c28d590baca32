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
    need("node", cu->GraphAddHostNode_v1(&node, graph, NULL, 0, &parameters));
}

static void graph(void)
{
    struct cushim_graph *graph = NULL;
    CUgraph handle = NULL;
    watch_begin();
    done("create", cushim_graph_create(&graph));
    handle = cushim_graph_handle(graph);
    rule_number("nodes", node_count(handle), 0);
    refused("null-output", cushim_graph_create(NULL), CUDA_ERROR_INVALID_VALUE, "cushim_graph_create");
    refused("release-null-output", cushim_graph_release(&graph, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_graph_release");
    done("destroy", cushim_graph_destroy(&graph));
    rule_fact("gone", graph == NULL && cushim_graph_handle(graph) == NULL);
    done("destroy-again", cushim_graph_destroy(&graph));
    done("destroy-null", cushim_graph_destroy(NULL));
    rule_number("alive", watch_graphs(), 0);
    watch_end();
}

static void adopted_and_borrowed(void)
{
    struct cushim_graph *graph = NULL;
    CUgraph handle = NULL;
    CUgraph released = NULL;
    need("create", cu->GraphCreate_v1(&handle, 0));
    watch_begin();
    done("borrow", cushim_graph_borrow(handle, &graph));
    rule_fact("handle", cushim_graph_handle(graph) == handle);
    done("borrowed-destroy", cushim_graph_destroy(&graph));
    rule_number("never-destroyed", watch_calls_of(S(GraphDestroy_v1)), 0);
    done("adopt", cushim_graph_adopt(handle, &graph));
    done("release", cushim_graph_release(&graph, &released));
    rule_fact("released", released == handle && graph == NULL);
    rule_number("calls", watch_calls(), 0);
    done("adopt-again", cushim_graph_adopt(handle, &graph));
    done("destroy", cushim_graph_destroy(&graph));
    rule_number("destroyed", watch_calls_of(S(GraphDestroy_v1)), 1);
    watch_end();
    refused("adopt-null", cushim_graph_adopt(NULL, &graph), CUDA_ERROR_INVALID_HANDLE, "cushim_graph_adopt");
    refused("adopt-null-output", cushim_graph_adopt(handle, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_graph_adopt");
    refused("borrow-null", cushim_graph_borrow(NULL, &graph), CUDA_ERROR_INVALID_HANDLE, "cushim_graph_borrow");
    refused("borrow-null-output", cushim_graph_borrow(handle, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_graph_borrow");
    refused("release-null", cushim_graph_release(NULL, &released), CUDA_ERROR_INVALID_HANDLE, "cushim_graph_release");
    refused("release-gone", cushim_graph_release(&graph, &released), CUDA_ERROR_INVALID_HANDLE, "cushim_graph_release");
    rule_fact("untouched", graph == NULL && released == handle);
}

/* An executable graph outlives its graph, and each launch runs it once. */
static void launched(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    atomic_int calls = 0;
    watch_begin();
    need("graph", cushim_graph_create(&graph));
    add_node(cushim_graph_handle(graph), &calls);
    if (done("instantiate", cushim_graph_instantiate(graph, cushim_stream_context(stream), 0, &exec))) {
        rule_fact("handle", cushim_graph_exec_handle(exec) != NULL);
        done("graph-destroy", cushim_graph_destroy(&graph));
        done("launch", cushim_graph_exec_launch(exec, stream));
        done("launch-again", cushim_graph_exec_launch(exec, stream));
        done("synchronize", cushim_stream_synchronize(stream));
        rule_number("called", atomic_load(&calls), 2);
        refused("launch-null-stream", cushim_graph_exec_launch(exec, NULL), CUDA_ERROR_INVALID_HANDLE,
                "cushim_graph_exec_launch");
        refused("upload-null-stream", cushim_graph_exec_upload(exec, NULL), CUDA_ERROR_INVALID_HANDLE,
                "cushim_graph_exec_upload");
        done("destroy", cushim_graph_exec_destroy(&exec));
        rule_fact("gone", exec == NULL && cushim_graph_exec_handle(exec) == NULL);
        done("destroy-again", cushim_graph_exec_destroy(&exec));
        done("destroy-null", cushim_graph_exec_destroy(NULL));
    }
    rule_number("graphs", watch_graphs(), 0);
    rule_number("executables", watch_executables(), 0);
    watch_end();
    layer_stream_end(stream);
}

/* The context is not current, and it lives as long as the executable graph that was made for it. */
static void instantiated_elsewhere(void)
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    atomic_int calls = 0;
    watch_begin();
    need("context", cushim_context_create(0, 0, &context));
    need("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    need("graph", cushim_graph_create(&graph));
    add_node(cushim_graph_handle(graph), &calls);
    need("none", cu->CtxSetCurrent_v1(NULL));
    done("code", cushim_graph_instantiate(graph, context, 0, &exec));
    rule_current("none-is-current", NULL);
    done("context-destroy", cushim_context_destroy(&context));
    done("launch", cushim_graph_exec_launch(exec, stream));
    layer_stream_end(stream);
    rule_number("called", atomic_load(&calls), 1);
    rule_number("context-lives", watch_contexts(), 1);
    done("destroy", cushim_graph_exec_destroy(&exec));
    rule_number("context-ends", watch_contexts(), 0);
    need("set", cu->CtxSetCurrent_v1(the_context));
    done("for-the-current-one", cushim_graph_instantiate(graph, NULL, 0, &exec));
    done("destroy-that", cushim_graph_exec_destroy(&exec));
    cushim_graph_destroy(&graph);
    rule_number("alive", watch_alive(), 0);
    watch_end();
}

static void exec_argument(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    need("graph", cushim_graph_create(&graph));
    refused("null-graph", cushim_graph_instantiate(NULL, NULL, 0, &exec), CUDA_ERROR_INVALID_HANDLE,
            "cushim_graph_instantiate");
    refused("null-output", cushim_graph_instantiate(graph, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_graph_instantiate");
    refused("launch-null", cushim_graph_exec_launch(NULL, stream), CUDA_ERROR_INVALID_HANDLE,
            "cushim_graph_exec_launch");
    refused("upload-null", cushim_graph_exec_upload(NULL, stream), CUDA_ERROR_INVALID_HANDLE,
            "cushim_graph_exec_upload");
    refused("update-null", cushim_graph_exec_update(NULL, graph, NULL), CUDA_ERROR_INVALID_HANDLE,
            "cushim_graph_exec_update");
    rule_fact("untouched", exec == NULL);
    cushim_graph_destroy(&graph);
    layer_stream_end(stream);
}

/* A capture in the global mode refuses cuGraphExecDestroy: the executable, and what it holds, would stay for ever. */
static void destroyed_in_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    struct cushim_capture *open = NULL;
    bool releases =
        cushim_query_slot_state(S(UserObjectCreate_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING;
    atomic_int released = 0;
    need("first", cushim_capture_begin(stream, RELAXED, &open));
    need("work", cushim_stream_launch_host(stream, count_release, &released, releases ? count_release : NULL));
    need("graph", cushim_capture_end(&open, &graph));
    need("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    need("graph-destroy", cushim_graph_destroy(&graph));
    need("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, &open));
    done("destroy", cushim_graph_exec_destroy(&exec));
    rule_status("status", stream, "active");
    done("end", cushim_capture_end(&open, NULL));
    for (int i = 0; i < 500 && atomic_load(&released) != (int)releases; i++)
        pause_shortly();
    rule_fact("released", atomic_load(&released) == (int)releases);
    layer_stream_end(stream);
}

/* CUDA 11.4 brought the flags of an instantiation. */
static void flags(void)
{
    bool known =
        cushim_query_slot_state(S(GraphInstantiateWithFlags_v1), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    need("graph", cushim_graph_create(&graph));
    rule("auto-free", cushim_graph_instantiate(graph, NULL, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, &exec),
         known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    rule_fact("made", (exec != NULL) == known);
    done("destroy", cushim_graph_exec_destroy(&exec));
    passed_on("unknown", cushim_graph_instantiate(graph, NULL, 1ull << 40, &exec), CUDA_ERROR_INVALID_VALUE);
    rule_fact("untouched", exec == NULL);
    cushim_graph_destroy(&graph);
}

static void upload(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    atomic_int calls = 0;
    bool known = cushim_query_slot_state(S(GraphUpload_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING;
    need("graph", cushim_graph_create(&graph));
    add_node(cushim_graph_handle(graph), &calls);
    need("instantiate", cushim_graph_instantiate(graph, NULL, 0, &exec));
    rule("code", cushim_graph_exec_upload(exec, stream), known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    done("synchronize", cushim_stream_synchronize(stream));
    rule_number("not-called", atomic_load(&calls), 0);
    cushim_graph_exec_destroy(&exec);
    cushim_graph_destroy(&graph);
    layer_stream_end(stream);
}

/* An update takes the parameters of another graph of the same topology; a graph of another topology is refused, and the
 * executable graph does not change. */
static void update(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graphs[3] = {NULL, NULL, NULL};
    struct cushim_graph_exec *exec = NULL;
    CUgraphExecUpdateResult result = (CUgraphExecUpdateResult)77;
    atomic_int calls[2] = {0, 0};
    for (int i = 0; i < 3; i++)
        need("graph", cushim_graph_create(&graphs[i]));
    add_node(cushim_graph_handle(graphs[0]), &calls[0]);
    add_node(cushim_graph_handle(graphs[1]), &calls[1]);
    need("instantiate", cushim_graph_instantiate(graphs[0], NULL, 0, &exec));
    done("code", cushim_graph_exec_update(exec, graphs[1], &result));
    rule_number("result", result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    done("without-result", cushim_graph_exec_update(exec, graphs[1], NULL));
    passed_on("other-shape", cushim_graph_exec_update(exec, graphs[2], &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    rule_fact("reports-how", result != CU_GRAPH_EXEC_UPDATE_SUCCESS);
    refused("null-graph", cushim_graph_exec_update(exec, NULL, &result), CUDA_ERROR_INVALID_HANDLE,
            "cushim_graph_exec_update");
    done("launch", cushim_graph_exec_launch(exec, stream));
    done("synchronize", cushim_stream_synchronize(stream));
    rule_number("old-function", atomic_load(&calls[0]), 0);
    rule_number("new-function", atomic_load(&calls[1]), 1);
    cushim_graph_exec_destroy(&exec);
    for (int i = 0; i < 3; i++)
        cushim_graph_destroy(&graphs[i]);
    layer_stream_end(stream);
}

static void on_old(void)
{
    struct cushim_graph *graph = NULL;
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    if (cushim_query_slot_state(S(GraphCreate_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING) {
        lacks(NULL, "a driver that has graphs");
    } else {
        passed_on("create", cushim_graph_create(&graph), CUDA_ERROR_NOT_SUPPORTED);
        passed_on("capture",
                  cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED, body_adds_work, NULL, &graph),
                  CUDA_ERROR_NOT_SUPPORTED);
        passed_on("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &capture),
                  CUDA_ERROR_NOT_SUPPORTED);
        rule_fact("untouched", graph == NULL && capture == NULL);
        done("destroy-nothing", cushim_graph_destroy(&graph));
    }
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"graph.graph", graph, 0, {S(GraphCreate_v1)}},
    {"graph.adopted-and-borrowed", adopted_and_borrowed, 0, {S(GraphCreate_v1)}},
    {"graph.launched", launched, 0, {S(GraphCreate_v1)}},
    {"graph.instantiated-elsewhere", instantiated_elsewhere, 0, {S(GraphCreate_v1)}},
    {"graph.exec-argument", exec_argument, 0, {S(GraphCreate_v1)}},
    {"graph.destroyed-in-capture", destroyed_in_capture, 0, {S(ThreadExchangeStreamCaptureMode_v1)}},
    {"graph.flags", flags, 0, {S(GraphCreate_v1)}},
    {"graph.upload", upload, 0, {S(GraphCreate_v1)}},
    {"graph.update", update, 0, {S(GraphExecUpdate_v1)}},
    {"graph.on-old", on_old, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_graph = {"graph", checks};
