/* SPDX-License-Identifier: MIT */
/* Graphs that captures produce: nodes and edges, instantiation, launch, update, clones. */
#include <string.h>

#include "fixture.h"

static CUgraphNode add_host(CUgraph graph, const CUgraphNode *after, atomic_int *calls)
{
    CUDA_HOST_NODE_PARAMS parameters = {count_host_function, calls};
    CUgraphNode node = NULL;
    require("host-node", cu->GraphAddHostNode_v1(&node, graph, after, after != NULL, &parameters));
    return node;
}

CHECK(create, "graph.create", .needs = {S(GraphCreate_v1)})
{
    CUgraph graph = NULL;
    expect("code", cu->GraphCreate_v1(&graph, 0), CUDA_SUCCESS);
    expect("destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
    expect("flags", cu->GraphCreate_v1(&graph, 1), CUDA_ERROR_INVALID_VALUE);
    expect("null", cu->GraphCreate_v1(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    expect("destroy-null", cu->GraphDestroy_v1(NULL), CUDA_ERROR_INVALID_VALUE);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    CUresult result = observe("no-context", cu->GraphCreate_v1(&graph, 0));
    if (result == CUDA_SUCCESS)
        expect("no-context-destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
}

CHECK(nodes, "graph.node", .needs = {S(GraphAddDependencies_v2), S(GraphInstantiateWithFlags_v1)})
{
    CUgraph graph = graph_new();
    atomic_int calls = 0;
    CUgraphNode first = add_host(graph, NULL, &calls);
    CUgraphNode second = add_host(graph, &first, &calls);
    CUgraphNode found[4] = {NULL};
    CUgraphNodeType type = (CUgraphNodeType)99;
    size_t count = 4;
    expect("nodes", cu->GraphGetNodes_v1(graph, found, &count), CUDA_SUCCESS);
    expect_number("nodes-count", (long long)count, 2);
    expect_true("nodes-in-order", found[0] == first && found[1] == second);
    count = 1;
    expect("nodes-short", cu->GraphGetNodes_v1(graph, found, &count), CUDA_SUCCESS);
    expect_number("nodes-short-count", (long long)count, 1);
    found[3] = first;
    count = 4;
    expect("nodes-long", cu->GraphGetNodes_v1(graph, found, &count), CUDA_SUCCESS);
    expect_true("nodes-long-rest-is-null", found[3] == NULL);
    expect("type", cu->GraphNodeGetType_v1(first, &type), CUDA_SUCCESS);
    expect_number("type-is", (long long)type, CU_GRAPH_NODE_TYPE_HOST);
    expect("dependencies", cu->GraphNodeGetDependencies_v2(second, found, NULL, &count), CUDA_SUCCESS);
    expect_true("dependency-is", found[0] == first);
    expect_number("dependency-count", (long long)count, 1);
    count = 4;
    expect("dependents", cu->GraphNodeGetDependentNodes_v2(first, found, NULL, &count), CUDA_SUCCESS);
    expect_true("dependent-is", found[0] == second);
    expect("edge-again", cu->GraphAddDependencies_v2(graph, &first, &second, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    expect("edge-cycle", cu->GraphAddDependencies_v2(graph, &second, &first, NULL, 1), CUDA_SUCCESS);
    CUgraphExec executable = NULL;
    expect("cycle-instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
    expect("edge-remove", cu->GraphRemoveDependencies_v2(graph, &second, &first, NULL, 1), CUDA_SUCCESS);
    expect("edge-remove-again", cu->GraphRemoveDependencies_v2(graph, &second, &first, NULL, 1),
           CUDA_ERROR_INVALID_VALUE);
    expect("edge-to-itself", cu->GraphAddDependencies_v2(graph, &first, &first, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    expect("node-destroy", cu->GraphDestroyNode_v1(second), CUDA_SUCCESS);
    expect_number("nodes-left", graph_nodes(graph), 1);
}

CHECK(launch, "graph.launch", .needs = {S(GraphInstantiateWithFlags_v1)})
{
    CUgraph graph = graph_new();
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    atomic_int calls = 0;
    CUgraphNode first = add_host(graph, NULL, &calls);
    (void)add_host(graph, &first, &calls);
    expect("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        require("launch", cu->GraphLaunch_v1(executable, stream));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("three-launches", atomic_load(&calls), 6);
    expect("on-zero", cu->GraphLaunch_v1(executable, NULL), CUDA_SUCCESS);
    expect("graph-may-go", cu->GraphDestroy_v1(disown(graph)), CUDA_SUCCESS);
    expect("launch-without-graph", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    require("synchronize", cu->CtxSynchronize_v1());
    expect_number("all-launches", atomic_load(&calls), 10);
    expect("null-executable", cu->GraphLaunch_v1(NULL, stream), CUDA_ERROR_INVALID_VALUE);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    expect("no-context-zero", cu->GraphLaunch_v1(executable, NULL), CUDA_ERROR_INVALID_CONTEXT);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect("destroy", cu->GraphExecDestroy_v1(executable), CUDA_SUCCESS);
    expect("destroy-null", cu->GraphExecDestroy_v1(NULL), CUDA_ERROR_INVALID_VALUE);
}

CHECK(launch_pending, "graph.launch-pending", .needs = {S(GraphInstantiateWithFlags_v1)})
{
    CUgraph graph = graph_new();
    CUstream stream = stream_new();
    atomic_int calls = 0;
    (void)add_host(graph, NULL, &calls);
    CUgraphExec executable = exec_new(graph);
    struct gate *gate = gate_new(stream);
    expect("launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    expect("launch-again", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    expect("destroy", cu->GraphExecDestroy_v1(disown(executable)), CUDA_SUCCESS);
    expect_number("gate-was-closed", gate_passed(gate), 0);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect_number("calls", atomic_load(&calls), 2);
}

CHECK(instantiate_flags, "graph.instantiate", .needs = {S(GraphInstantiateWithFlags_v1)})
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
    expect("null-graph", cu->GraphInstantiateWithFlags_v1(&executable, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    expect_text("null-graph-out",
                executable == NULL               ? "null"
                : executable == UNTOUCHED_HANDLE ? "untouched"
                                                 : "other",
                "untouched");
    expect("null-out", cu->GraphInstantiateWithFlags_v1(NULL, graph, 0), CUDA_ERROR_INVALID_VALUE);
    expect("empty-graph", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    CUstream stream = stream_new();
    expect("empty-launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    if (require_slot("upload-call", S(GraphUpload_v1)))
        expect("upload-call", cu->GraphUpload_v1(executable, stream), CUDA_SUCCESS);
    require("destroy", cu->GraphExecDestroy_v1(executable));
    require("node", cu->GraphAddEmptyNode_v1(&node, graph, NULL, 0));
    for (size_t i = 0; i <= sizeof calls / sizeof calls[0]; i++) {
        bool without_context = i == sizeof calls / sizeof calls[0];
        executable = UNTOUCHED_HANDLE;
        if (without_context)
            require("no-context", cu->CtxSetCurrent_v1(NULL));
        CUresult result = cu->GraphInstantiateWithFlags_v1(&executable, graph, without_context ? 0 : calls[i].flags);
        observe_format(without_context ? "no-context" : key_of("flags", calls[i].key, NULL), "%d %s", (int)result,
                       executable == UNTOUCHED_HANDLE ? "untouched"
                       : executable == NULL           ? "null"
                                                      : "written");
        if (result != CUDA_SUCCESS)
            continue;
        require("launch", cu->GraphLaunch_v1(executable, NULL));
        require("synchronize", cu->CtxSynchronize_v1());
        require("destroy", cu->GraphExecDestroy_v1(executable));
    }
}

CHECK(update, "graph.update", .needs = {S(GraphExecUpdate_v2)})
{
    atomic_int calls = 0;
    atomic_int other_calls = 0;
    CUgraph graph = graph_new();
    CUgraph same = graph_new();
    CUgraph longer = graph_new();
    CUgraph other_kind = graph_new();
    CUgraphExecUpdateResultInfo result;
    CUgraphNode node = NULL;
    CUstream stream = stream_new();
    (void)add_host(graph, NULL, &calls);
    (void)add_host(same, NULL, &other_calls);
    node = add_host(longer, NULL, &calls);
    (void)add_host(longer, &node, &calls);
    require("empty", cu->GraphAddEmptyNode_v1(&node, other_kind, NULL, 0));
    CUgraphExec executable = exec_new(graph);
    memset(&result, 0x5a, sizeof result);
    expect("same", cu->GraphExecUpdate_v2(executable, same, &result), CUDA_SUCCESS);
    expect_number("same-result", (long long)result.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    require("launch", cu->GraphLaunch_v1(executable, stream));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("new-function-called", atomic_load(&other_calls), 1);
    expect_number("old-function-not", atomic_load(&calls), 0);
    expect("longer", cu->GraphExecUpdate_v2(executable, longer, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    expect_number("longer-result", (long long)result.result, 2);
    expect("other-kind", cu->GraphExecUpdate_v2(executable, other_kind, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    expect_number("other-kind-result", (long long)result.result, 3);
    require("launch", cu->GraphLaunch_v1(executable, stream));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("failed-update-changed-nothing", atomic_load(&other_calls), 2);
}

CHECK(clone, "graph.clone", .needs = {S(GraphClone_v1)})
{
    atomic_int calls = 0;
    CUgraph graph = graph_new();
    CUgraph copy = NULL;
    CUgraphNode node = add_host(graph, NULL, &calls);
    CUgraphNode found = NULL;
    expect("code", cu->GraphClone_v1(&copy, graph), CUDA_SUCCESS);
    expect("find", cu->GraphNodeFindInClone_v1(&found, node, copy), CUDA_SUCCESS);
    expect_true("another-node", found != node && found != NULL);
    expect("find-in-original", cu->GraphNodeFindInClone_v1(&found, node, graph), CUDA_ERROR_INVALID_VALUE);
    expect("original-may-go", cu->GraphDestroy_v1(disown(graph)), CUDA_SUCCESS);
    size_t count = 0;
    expect("nodes", cu->GraphGetNodes_v1(copy, NULL, &count), CUDA_SUCCESS);
    expect_number("count", (long long)count, 1);
    require("destroy", cu->GraphDestroy_v1(copy));
}

/* A graph cannot be launched into a capture. */
CHECK(launch_into_capture, "graph.launch-into-capture",
      .needs = {S(GraphInstantiateWithFlags_v1), S(StreamBeginCapture_v2)})
{
    atomic_int calls = 0;
    CUgraph graph = graph_new();
    (void)add_host(graph, NULL, &calls);
    CUgraphExec executable = exec_new(graph);
    CUstream stream = stream_capturing();
    expect("launch", cu->GraphLaunch_v1(executable, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect("end", capture_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect("launch-after", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("called", atomic_load(&calls), 1);
}

/* A child graph. */
CHECK(child, "graph.child", .needs = {S(GraphInstantiateWithFlags_v1)})
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
    expect("code", cu->GraphAddChildGraphNode_v1(&node, outer, NULL, 0, graph), CUDA_SUCCESS);
    require("type", cu->GraphNodeGetType_v1(node, &type));
    expect_number("type-is", (long long)type, CU_GRAPH_NODE_TYPE_GRAPH);
    expect("inner", cu->GraphChildGraphNodeGetGraph_v1(node, &inner), CUDA_SUCCESS);
    expect_true("inner-is-a-clone", inner != graph && inner != NULL);
    expect("original-may-go", cu->GraphDestroy_v1(disown(graph)), CUDA_SUCCESS);
    expect("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, outer, 0), CUDA_SUCCESS);
    require("launch", cu->GraphLaunch_v1(executable, stream));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("called", atomic_load(&calls), 1);
    require("destroy", cu->GraphExecDestroy_v1(executable));
}

CHECK(enabled, "graph.enabled", .needs = {S(GraphNodeSetEnabled_v1)})
{
    atomic_int calls = 0;
    CUgraph graph = graph_new();
    CUdeviceptr memory = memory_new(16, 0);
    CUstream stream = stream_new();
    const CUDA_MEMSET_NODE_PARAMS parameters = {.dst = memory, .value = 7, .elementSize = 1, .width = 16, .height = 1};
    CUgraphNode node = NULL;
    CUgraphNode host = add_host(graph, NULL, &calls);
    unsigned is_enabled = 99;
    unsigned char byte = 0;
    expect("memset-node", cu->GraphAddMemsetNode_v1(&node, graph, NULL, 0, &parameters, the_context), CUDA_SUCCESS);
    CUgraphExec executable = exec_new(graph);
    expect("get", cu->GraphNodeGetEnabled_v1(executable, node, &is_enabled), CUDA_SUCCESS);
    expect_number("default", is_enabled, 1);
    expect("disable", cu->GraphNodeSetEnabled_v1(executable, node, 0), CUDA_SUCCESS);
    require("launch", cu->GraphLaunch_v1(executable, stream));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    require("copy", cu->MemcpyDtoH_v2(&byte, memory, 1));
    expect_number("did-not-run", byte, 0);
    expect("enable", cu->GraphNodeSetEnabled_v1(executable, node, 1), CUDA_SUCCESS);
    require("launch", cu->GraphLaunch_v1(executable, stream));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    require("copy", cu->MemcpyDtoH_v2(&byte, memory, 1));
    expect_number("ran", byte, 7);
    expect("host-node", cu->GraphNodeSetEnabled_v1(executable, host, 0), CUDA_ERROR_INVALID_VALUE);
}
