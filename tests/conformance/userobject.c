/* SPDX-License-Identifier: MIT */
/* User objects: references of graphs, and a destructor that runs exactly once, when the last reference is dropped. */
#include "fixture.h"

static CUuserObject object_new(atomic_int *destroyed, unsigned references)
{
    CUuserObject object = NULL;
    require("object", cu->UserObjectCreate_v1(&object, destroyed, count_host_function, references,
                                              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

/* The destructor runs on a thread of the driver. No call synchronises with it. */
static int wait_for_destructors(atomic_int *destroyed, int wanted)
{
    for (int i = 0; i < 100 && atomic_load(destroyed) < wanted; i++)
        pause_shortly();
    return atomic_load(destroyed);
}

CHECK(arguments, "userobject.argument", .needs = {S(UserObjectCreate_v1)})
{
    CUuserObject object = NULL;
    atomic_int destroyed = 0;
    expect("null-out", cu->UserObjectCreate_v1(NULL, &destroyed, count_host_function, 1, 1), CUDA_ERROR_INVALID_VALUE);
    expect("null-destructor", cu->UserObjectCreate_v1(&object, &destroyed, NULL, 1, 1), CUDA_ERROR_INVALID_VALUE);
    expect("no-references", cu->UserObjectCreate_v1(&object, &destroyed, count_host_function, 0, 1),
           CUDA_ERROR_INVALID_VALUE);
    expect("no-flag", cu->UserObjectCreate_v1(&object, &destroyed, count_host_function, 1, 0),
           CUDA_ERROR_INVALID_VALUE);
    expect("unknown-flag", cu->UserObjectCreate_v1(&object, &destroyed, count_host_function, 1, 3),
           CUDA_ERROR_INVALID_VALUE);
    object = object_new(&destroyed, 1);
    expect("retain-none", cu->UserObjectRetain_v1(object, 0), CUDA_ERROR_INVALID_VALUE);
    expect("release-none", cu->UserObjectRelease_v1(object, 0), CUDA_ERROR_INVALID_VALUE);
    expect("release-too-many", cu->UserObjectRelease_v1(object, 2), CUDA_SUCCESS);
    expect_number("then-destroyed", wait_for_destructors(&destroyed, 1), 0);
}

CHECK(references, "userobject.reference", .needs = {S(UserObjectCreate_v1)})
{
    atomic_int destroyed = 0;
    CUuserObject object = object_new(&destroyed, 2);
    expect("retain", cu->UserObjectRetain_v1(object, 1), CUDA_SUCCESS);
    expect("release-two", cu->UserObjectRelease_v1(object, 2), CUDA_SUCCESS);
    expect_number("still-there", atomic_load(&destroyed), 0);
    expect("release-last", cu->UserObjectRelease_v1(object, 1), CUDA_SUCCESS);
    expect_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
}

CHECK(held_by_graph, "userobject.held-by-graph", .needs = {S(UserObjectCreate_v1), S(GraphInstantiateWithFlags_v1)})
{
    atomic_int destroyed = 0;
    CUgraph graph = graph_new();
    CUgraph clone = NULL;
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    CUuserObject object = object_new(&destroyed, 1);
    expect("retain-none", cu->GraphRetainUserObject_v1(graph, object, 0, 0), CUDA_ERROR_INVALID_VALUE);
    expect("retain-flag", cu->GraphRetainUserObject_v1(graph, object, 1, 2), CUDA_ERROR_INVALID_VALUE);
    expect("retain-null", cu->GraphRetainUserObject_v1(graph, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
    expect("move", cu->GraphRetainUserObject_v1(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
    expect("clone", cu->GraphClone_v1(&clone, graph), CUDA_SUCCESS);
    expect("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    expect("graph-destroy", cu->GraphDestroy_v1(disown(graph)), CUDA_SUCCESS);
    expect("clone-destroy", cu->GraphDestroy_v1(clone), CUDA_SUCCESS);
    expect_number("executable-holds", atomic_load(&destroyed), 0);
    expect("launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect_number("launch-keeps", atomic_load(&destroyed), 0);
    expect("executable-destroy", cu->GraphExecDestroy_v1(executable), CUDA_SUCCESS);
    expect_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
}

CHECK(held_by_clone, "userobject.held-by-clone", .needs = {S(UserObjectCreate_v1)})
{
    atomic_int destroyed = 0;
    CUgraph graph = graph_new();
    CUgraph clone = NULL;
    CUuserObject object = object_new(&destroyed, 1);
    require("move", cu->GraphRetainUserObject_v1(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    require("clone", cu->GraphClone_v1(&clone, graph));
    require("destroy", cu->GraphDestroy_v1(disown(graph)));
    expect_number("still-there", atomic_load(&destroyed), 0);
    require("destroy", cu->GraphDestroy_v1(clone));
    expect_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
}

CHECK(released_from_graph, "userobject.released-from-graph", .needs = {S(UserObjectCreate_v1)})
{
    atomic_int destroyed = 0;
    CUgraph graph = graph_new();
    CUuserObject object = object_new(&destroyed, 1);
    expect("retain", cu->GraphRetainUserObject_v1(graph, object, 2, 0), CUDA_SUCCESS);
    expect("release-own", cu->UserObjectRelease_v1(object, 1), CUDA_SUCCESS);
    expect("graph-release", cu->GraphReleaseUserObject_v1(graph, object, 1), CUDA_SUCCESS);
    expect_number("still-there", atomic_load(&destroyed), 0);
    expect("graph-release-last", cu->GraphReleaseUserObject_v1(graph, object, 1), CUDA_SUCCESS);
    expect_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
}

/* Pending launches hold the references of the executable, too, in every stream. */
CHECK(held_by_launch, "userobject.held-by-launch", .needs = {S(UserObjectCreate_v1), S(GraphInstantiateWithFlags_v1)})
{
    atomic_int destroyed = 0;
    atomic_int calls = 0;
    CUDA_HOST_NODE_PARAMS parameters = {count_host_function, &calls};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUuserObject object = object_new(&destroyed, 1);
    require("node", cu->GraphAddHostNode_v1(&node, graph, NULL, 0, &parameters));
    require("move", cu->GraphRetainUserObject_v1(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec executable = exec_new(graph);
    require("destroy", cu->GraphDestroy_v1(disown(graph)));
    struct gate *gate = gate_new(stream);
    require("launch", cu->GraphLaunch_v1(executable, stream));
    require("launch", cu->GraphLaunch_v1(executable, other));
    require("destroy", cu->GraphExecDestroy_v1(disown(executable)));
    expect_number("gate-was-closed", gate_passed(gate), 0);
    expect_number("launch-holds", atomic_load(&destroyed), 0);
    gate_open(gate);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    require("synchronize", cu->StreamSynchronize_v1(other));
    expect_number("called", atomic_load(&calls), 2);
    expect_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
}
