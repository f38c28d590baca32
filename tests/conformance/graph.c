/* SPDX-License-Identifier: MIT */
/* Graphs that captures produce: nodes and edges, instantiation, launch, update, clones. */
#include <string.h>

#include "fixture.h"

static CUgraphNode add_host(CUgraph graph, const CUgraphNode *after, atomic_int *calls)
{
    CUDA_HOST_NODE_PARAMS parameters = {count_host_function, calls};
    CUgraphNode node = NULL;
    need("host-node", cu->GraphAddHostNode_v1(&node, graph, after, after != NULL, &parameters));
    return node;
}

static CUgraph graph_new(void)
{
    CUgraph graph = NULL;
    need("graph", cu->GraphCreate_v1(&graph, 0));
    return graph;
}

static void create(void)
{
    CUgraph graph = NULL;
    rule("code", cu->GraphCreate_v1(&graph, 0), CUDA_SUCCESS);
    rule("destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
    rule("flags", cu->GraphCreate_v1(&graph, 1), CUDA_ERROR_INVALID_VALUE);
    rule("null", cu->GraphCreate_v1(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    saw("destroy-null", cu->GraphDestroy_v1(NULL));
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    CUresult result = saw("no-context", cu->GraphCreate_v1(&graph, 0));
    if (result == CUDA_SUCCESS)
        rule("no-context-destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
}

static void nodes(void)
{
    CUgraph graph = graph_new();
    atomic_int calls = 0;
    CUgraphNode first = add_host(graph, NULL, &calls);
    CUgraphNode second = add_host(graph, &first, &calls);
    CUgraphNode found[4] = {NULL};
    CUgraphNodeType type = (CUgraphNodeType)99;
    size_t count = 4;
    rule("nodes", cu->GraphGetNodes_v1(graph, found, &count), CUDA_SUCCESS);
    rule_number("nodes-count", (long long)count, 2);
    saw_fact("nodes-in-order", found[0] == first && found[1] == second);
    count = 1;
    rule("nodes-short", cu->GraphGetNodes_v1(graph, found, &count), CUDA_SUCCESS);
    saw_number("nodes-short-count", (long long)count);
    found[3] = first;
    count = 4;
    rule("nodes-long", cu->GraphGetNodes_v1(graph, found, &count), CUDA_SUCCESS);
    saw_fact("nodes-long-rest-is-null", found[3] == NULL);
    rule("type", cu->GraphNodeGetType_v1(first, &type), CUDA_SUCCESS);
    rule_number("type-is", (long long)type, CU_GRAPH_NODE_TYPE_HOST);
    rule("dependencies", cu->GraphNodeGetDependencies_v2(second, found, NULL, &count), CUDA_SUCCESS);
    rule_fact("dependency-is", found[0] == first);
    rule_number("dependency-count", (long long)count, 1);
    count = 4;
    rule("dependents", cu->GraphNodeGetDependentNodes_v2(first, found, NULL, &count), CUDA_SUCCESS);
    rule_fact("dependent-is", found[0] == second);
    rule("edge-again", cu->GraphAddDependencies_v2(graph, &first, &second, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    rule("edge-cycle", cu->GraphAddDependencies_v2(graph, &second, &first, NULL, 1), CUDA_SUCCESS);
    CUgraphExec executable = NULL;
    saw("cycle-instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    rule("edge-remove", cu->GraphRemoveDependencies_v2(graph, &second, &first, NULL, 1), CUDA_SUCCESS);
    saw("edge-remove-again", cu->GraphRemoveDependencies_v2(graph, &second, &first, NULL, 1));
    saw("edge-to-itself", cu->GraphAddDependencies_v2(graph, &first, &first, NULL, 1));
    rule("node-destroy", cu->GraphDestroyNode_v1(second), CUDA_SUCCESS);
    need("nodes", cu->GraphGetNodes_v1(graph, NULL, &count));
    rule_number("nodes-left", (long long)count, 1);
    need("destroy", cu->GraphDestroy_v1(graph));
}

static void launch(void)
{
    CUgraph graph = graph_new();
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    atomic_int calls = 0;
    CUgraphNode first = add_host(graph, NULL, &calls);
    (void)add_host(graph, &first, &calls);
    rule("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        need("launch", cu->GraphLaunch_v1(executable, stream));
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule_number("three-launches", atomic_load(&calls), 6);
    rule("on-zero", cu->GraphLaunch_v1(executable, NULL), CUDA_SUCCESS);
    rule("graph-may-go", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
    rule("launch-without-graph", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    need("synchronize", cu->CtxSynchronize_v1());
    rule_number("all-launches", atomic_load(&calls), 10);
    saw("null-executable", cu->GraphLaunch_v1(NULL, stream));
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    saw("no-context", cu->GraphLaunch_v1(executable, stream));
    saw("no-context-zero", cu->GraphLaunch_v1(executable, NULL));
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule("destroy", cu->GraphExecDestroy_v1(executable), CUDA_SUCCESS);
    saw("destroy-null", cu->GraphExecDestroy_v1(NULL));
    stream_end(stream);
}

static void launch_pending(void)
{
    struct gate gate;
    CUgraph graph = graph_new();
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    atomic_int calls = 0;
    (void)add_host(graph, NULL, &calls);
    need("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    if (!gate_close(&gate, stream))
        return;
    rule("launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    rule("launch-again", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    rule("destroy", cu->GraphExecDestroy_v1(executable), CUDA_SUCCESS);
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    gate_open(&gate);
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    rule_number("calls", atomic_load(&calls), 2);
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
}

static void instantiate_flags(void)
{
    static const struct {
        const char *key;
        unsigned long long flags;
    } calls[] = {
        {"none", 0},
        {"auto-free", 1},
        {"upload", 2},
        {"device-launch", 4},
        {"node-priority", 8},
        {"unknown", 16},
        {"unknown-beside", 17},
        {"unknown-256", 0x100},
        {"unknown-high", 1ull << 32},
    };
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    CUgraphExec executable = UNTOUCHED_HANDLE;
    rule("null-graph", cu->GraphInstantiateWithFlags_v1(&executable, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    saw_text("null-graph-out", executable == NULL ? "null" : executable == UNTOUCHED_HANDLE ? "untouched" : "other");
    rule("null-out", cu->GraphInstantiateWithFlags_v1(NULL, graph, 0), CUDA_ERROR_INVALID_VALUE);
    rule("empty-graph", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    CUstream stream = stream_new();
    rule("empty-launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    if (have("upload-call", S(GraphUpload_v1)))
        rule("upload-call", cu->GraphUpload_v1(executable, stream), CUDA_SUCCESS);
    stream_end(stream);
    need("destroy", cu->GraphExecDestroy_v1(executable));
    need("node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0));
    for (size_t i = 0; i <= sizeof calls / sizeof calls[0]; i++) {
        bool without_context = i == sizeof calls / sizeof calls[0];
        executable = UNTOUCHED_HANDLE;
        if (without_context)
            need("no-context", cu->CtxSetCurrent_v1(NULL));
        CUresult result = cu->GraphInstantiateWithFlags_v1(&executable, graph, without_context ? 0 : calls[i].flags);
        saw_words(without_context ? "no-context" : key_of("flags", calls[i].key, NULL), "%d %s", (int)result,
                  executable == UNTOUCHED_HANDLE ? "untouched"
                  : executable == NULL           ? "null"
                                                 : "written");
        if (result != CUDA_SUCCESS)
            continue;
        need("launch", cu->GraphLaunch_v1(executable, NULL));
        need("synchronize", cu->CtxSynchronize_v1());
        need("destroy", cu->GraphExecDestroy_v1(executable));
    }
    need("destroy", cu->GraphDestroy_v1(graph));
}

static void update(void)
{
    atomic_int calls = 0;
    atomic_int other_calls = 0;
    CUgraph graph = graph_new();
    CUgraph same = graph_new();
    CUgraph longer = graph_new();
    CUgraph other_kind = graph_new();
    CUgraphExec executable = NULL;
    CUgraphExecUpdateResultInfo result;
    CUgraphNode node = NULL;
    CUstream stream = stream_new();
    (void)add_host(graph, NULL, &calls);
    (void)add_host(same, NULL, &other_calls);
    node = add_host(longer, NULL, &calls);
    (void)add_host(longer, &node, &calls);
    need("empty", cu->GraphAddEmptyNode_v1(&node, other_kind, NULL, 0));
    need("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    memset(&result, 0x5a, sizeof result);
    rule("same", cu->GraphExecUpdate_v2(executable, same, &result), CUDA_SUCCESS);
    rule_number("same-result", (long long)result.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    need("launch", cu->GraphLaunch_v1(executable, stream));
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule_number("new-function-called", atomic_load(&other_calls), 1);
    rule_number("old-function-not", atomic_load(&calls), 0);
    rule("longer", cu->GraphExecUpdate_v2(executable, longer, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    saw_number("longer-result", (long long)result.result);
    rule("other-kind", cu->GraphExecUpdate_v2(executable, other_kind, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    saw_number("other-kind-result", (long long)result.result);
    need("launch", cu->GraphLaunch_v1(executable, stream));
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule_number("failed-update-changed-nothing", atomic_load(&other_calls), 2);
    need("destroy", cu->GraphExecDestroy_v1(executable));
    need("destroy", cu->GraphDestroy_v1(graph));
    need("destroy", cu->GraphDestroy_v1(same));
    need("destroy", cu->GraphDestroy_v1(longer));
    need("destroy", cu->GraphDestroy_v1(other_kind));
    stream_end(stream);
}

static void clone(void)
{
    atomic_int calls = 0;
    CUgraph graph = graph_new();
    CUgraph copy = NULL;
    CUgraphNode node = add_host(graph, NULL, &calls);
    CUgraphNode found = NULL;
    rule("code", cu->GraphClone_v1(&copy, graph), CUDA_SUCCESS);
    rule("find", cu->GraphNodeFindInClone_v1(&found, node, copy), CUDA_SUCCESS);
    rule_fact("another-node", found != node && found != NULL);
    rule("find-in-original", cu->GraphNodeFindInClone_v1(&found, node, graph), CUDA_ERROR_INVALID_VALUE);
    rule("original-may-go", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
    size_t count = 0;
    rule("nodes", cu->GraphGetNodes_v1(copy, NULL, &count), CUDA_SUCCESS);
    rule_number("count", (long long)count, 1);
    need("destroy", cu->GraphDestroy_v1(copy));
}

/* A graph cannot be launched into a capture. */
static void launch_into_capture(void)
{
    atomic_int calls = 0;
    CUgraph graph = graph_new();
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    (void)add_host(graph, NULL, &calls);
    need("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    capture_begin(stream);
    rule("launch", cu->GraphLaunch_v1(executable, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    rule("end", capture_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    rule("launch-after", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule_number("called", atomic_load(&calls), 1);
    need("destroy", cu->GraphExecDestroy_v1(executable));
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
}

/* A child graph. */
static void child(void)
{
    atomic_int calls = 0;
    CUgraph graph = graph_new();
    CUgraph outer = graph_new();
    CUgraph inner = NULL;
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    CUgraphNode node = NULL;
    CUgraphNodeType type = (CUgraphNodeType)99;
    (void)add_host(graph, NULL, &calls);
    rule("code", cu->GraphAddChildGraphNode_v1(&node, outer, NULL, 0, graph), CUDA_SUCCESS);
    need("type", cu->GraphNodeGetType_v1(node, &type));
    rule_number("type-is", (long long)type, CU_GRAPH_NODE_TYPE_GRAPH);
    rule("inner", cu->GraphChildGraphNodeGetGraph_v1(node, &inner), CUDA_SUCCESS);
    rule_fact("inner-is-a-clone", inner != graph && inner != NULL);
    rule("original-may-go", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
    rule("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, outer, 0), CUDA_SUCCESS);
    need("launch", cu->GraphLaunch_v1(executable, stream));
    need("synchronize", cu->StreamSynchronize_v1(stream));
    rule_number("called", atomic_load(&calls), 1);
    need("destroy", cu->GraphExecDestroy_v1(executable));
    need("destroy", cu->GraphDestroy_v1(outer));
    stream_end(stream);
}

static void enabled(void)
{
    atomic_int calls = 0;
    CUgraph graph = graph_new();
    CUgraphExec executable = NULL;
    CUdeviceptr memory = memory_new(16, 0);
    CUstream stream = stream_new();
    CUDA_MEMSET_NODE_PARAMS parameters;
    CUgraphNode node = NULL;
    CUgraphNode host = add_host(graph, NULL, &calls);
    unsigned is_enabled = 99;
    unsigned char byte = 0;
    memset(&parameters, 0, sizeof parameters);
    parameters.dst = memory;
    parameters.value = 7;
    parameters.elementSize = 1;
    parameters.width = 16;
    parameters.height = 1;
    rule("memset-node", cu->GraphAddMemsetNode_v1(&node, graph, NULL, 0, &parameters, the_context), CUDA_SUCCESS);
    need("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    rule("get", cu->GraphNodeGetEnabled_v1(executable, node, &is_enabled), CUDA_SUCCESS);
    rule_number("default", is_enabled, 1);
    rule("disable", cu->GraphNodeSetEnabled_v1(executable, node, 0), CUDA_SUCCESS);
    need("launch", cu->GraphLaunch_v1(executable, stream));
    need("synchronize", cu->StreamSynchronize_v1(stream));
    need("copy", cu->MemcpyDtoH_v2(&byte, memory, 1));
    rule_number("did-not-run", byte, 0);
    rule("enable", cu->GraphNodeSetEnabled_v1(executable, node, 1), CUDA_SUCCESS);
    need("launch", cu->GraphLaunch_v1(executable, stream));
    need("synchronize", cu->StreamSynchronize_v1(stream));
    need("copy", cu->MemcpyDtoH_v2(&byte, memory, 1));
    rule_number("ran", byte, 7);
    saw("host-node", cu->GraphNodeSetEnabled_v1(executable, host, 0));
    need("destroy", cu->GraphExecDestroy_v1(executable));
    need("destroy", cu->GraphDestroy_v1(graph));
    stream_end(stream);
    need("free", cu->MemFree_v2(memory));
}

static const struct check checks[] = {
    {"graph.create", create, 0, {S(GraphCreate_v1)}},
    {"graph.node", nodes, 0, {S(GraphAddDependencies_v2), S(GraphInstantiateWithFlags_v1)}},
    {"graph.launch", launch, 0, {S(GraphInstantiateWithFlags_v1)}},
    {"graph.launch-pending", launch_pending, 0, {S(GraphInstantiateWithFlags_v1)}},
    {"graph.instantiate", instantiate_flags, 0, {S(GraphInstantiateWithFlags_v1)}},
    {"graph.update", update, 0, {S(GraphExecUpdate_v2)}},
    {"graph.clone", clone, 0, {S(GraphClone_v1)}},
    {"graph.launch-into-capture", launch_into_capture, 0, {S(GraphInstantiateWithFlags_v1), S(StreamBeginCapture_v2)}},
    {"graph.child", child, 0, {S(GraphInstantiateWithFlags_v1)}},
    {"graph.enabled", enabled, 0, {S(GraphNodeSetEnabled_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_graph = {"graph", checks};
