/* SPDX-License-Identifier: MIT */
/* User objects: references of graphs, and a destructor that runs exactly once, when the last reference is dropped. */
#include "fixture.h"

static CUuserObject object_new(atomic_int *destroyed, unsigned references)
{
    CUuserObject object = NULL;
    need("object", cu->UserObjectCreate_v1(&object, destroyed, count_host_function, references,
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

static void arguments(void)
{
    CUuserObject object = NULL;
    atomic_int destroyed = 0;
    saw("null-out", cu->UserObjectCreate_v1(NULL, &destroyed, count_host_function, 1, 1));
    saw("null-destructor", cu->UserObjectCreate_v1(&object, &destroyed, NULL, 1, 1));
    saw("no-references", cu->UserObjectCreate_v1(&object, &destroyed, count_host_function, 0, 1));
    saw("no-flag", cu->UserObjectCreate_v1(&object, &destroyed, count_host_function, 1, 0));
    saw("unknown-flag", cu->UserObjectCreate_v1(&object, &destroyed, count_host_function, 1, 3));
    object = object_new(&destroyed, 1);
    saw("retain-none", cu->UserObjectRetain_v1(object, 0));
    saw("release-none", cu->UserObjectRelease_v1(object, 0));
    saw("release-too-many", cu->UserObjectRelease_v1(object, 2));
    saw_number("then-destroyed", wait_for_destructors(&destroyed, 1));
}

static void references(void)
{
    atomic_int destroyed = 0;
    CUuserObject object = object_new(&destroyed, 2);
    rule("retain", cu->UserObjectRetain_v1(object, 1), CUDA_SUCCESS);
    rule("release-two", cu->UserObjectRelease_v1(object, 2), CUDA_SUCCESS);
    rule_number("still-there", atomic_load(&destroyed), 0);
    rule("release-last", cu->UserObjectRelease_v1(object, 1), CUDA_SUCCESS);
    rule_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
}

static void held_by_graph(void)
{
    atomic_int destroyed = 0;
    CUgraph graph = NULL;
    CUgraph clone = NULL;
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    CUuserObject object = object_new(&destroyed, 1);
    need("graph", cu->GraphCreate_v1(&graph, 0));
    rule("retain-none", cu->GraphRetainUserObject_v1(graph, object, 0, 0), CUDA_ERROR_INVALID_VALUE);
    rule("retain-flag", cu->GraphRetainUserObject_v1(graph, object, 1, 2), CUDA_ERROR_INVALID_VALUE);
    rule("retain-null", cu->GraphRetainUserObject_v1(graph, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
    rule("move", cu->GraphRetainUserObject_v1(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
    rule("clone", cu->GraphClone_v1(&clone, graph), CUDA_SUCCESS);
    rule("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0), CUDA_SUCCESS);
    rule("graph-destroy", cu->GraphDestroy_v1(graph), CUDA_SUCCESS);
    rule("clone-destroy", cu->GraphDestroy_v1(clone), CUDA_SUCCESS);
    rule_number("executable-holds", atomic_load(&destroyed), 0);
    rule("launch", cu->GraphLaunch_v1(executable, stream), CUDA_SUCCESS);
    rule("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    rule_number("launch-keeps", atomic_load(&destroyed), 0);
    rule("executable-destroy", cu->GraphExecDestroy_v1(executable), CUDA_SUCCESS);
    rule_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
    stream_end(stream);
}

static void held_by_clone(void)
{
    atomic_int destroyed = 0;
    CUgraph graph = NULL;
    CUgraph clone = NULL;
    CUuserObject object = object_new(&destroyed, 1);
    need("graph", cu->GraphCreate_v1(&graph, 0));
    need("move", cu->GraphRetainUserObject_v1(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    need("clone", cu->GraphClone_v1(&clone, graph));
    need("destroy", cu->GraphDestroy_v1(graph));
    rule_number("still-there", atomic_load(&destroyed), 0);
    need("destroy", cu->GraphDestroy_v1(clone));
    rule_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
}

static void released_from_graph(void)
{
    atomic_int destroyed = 0;
    CUgraph graph = NULL;
    CUuserObject object = object_new(&destroyed, 1);
    need("graph", cu->GraphCreate_v1(&graph, 0));
    rule("retain", cu->GraphRetainUserObject_v1(graph, object, 2, 0), CUDA_SUCCESS);
    rule("release-own", cu->UserObjectRelease_v1(object, 1), CUDA_SUCCESS);
    rule("graph-release", cu->GraphReleaseUserObject_v1(graph, object, 1), CUDA_SUCCESS);
    rule_number("still-there", atomic_load(&destroyed), 0);
    rule("graph-release-last", cu->GraphReleaseUserObject_v1(graph, object, 1), CUDA_SUCCESS);
    rule_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
    need("destroy", cu->GraphDestroy_v1(graph));
}

/* Pending launches hold the references of the executable, too, in every stream. */
static void held_by_launch(void)
{
    struct gate gate;
    atomic_int destroyed = 0;
    atomic_int calls = 0;
    CUDA_HOST_NODE_PARAMS parameters = {count_host_function, &calls};
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec executable = NULL;
    CUstream stream = stream_new();
    CUstream other = stream_new();
    CUuserObject object = object_new(&destroyed, 1);
    need("graph", cu->GraphCreate_v1(&graph, 0));
    need("node", cu->GraphAddHostNode_v1(&node, graph, NULL, 0, &parameters));
    need("move", cu->GraphRetainUserObject_v1(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    need("instantiate", cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    need("destroy", cu->GraphDestroy_v1(graph));
    if (!gate_close(&gate, stream))
        return;
    need("launch", cu->GraphLaunch_v1(executable, stream));
    need("launch", cu->GraphLaunch_v1(executable, other));
    need("destroy", cu->GraphExecDestroy_v1(executable));
    rule_number("gate-was-closed", atomic_load(&gate.passed), 0);
    rule_number("launch-holds", atomic_load(&destroyed), 0);
    gate_open(&gate);
    need("synchronize", cu->StreamSynchronize_v1(stream));
    need("synchronize", cu->StreamSynchronize_v1(other));
    rule_number("called", atomic_load(&calls), 2);
    rule_number("destroyed", wait_for_destructors(&destroyed, 1), 1);
    stream_end(other);
    stream_end(stream);
}

static const struct check checks[] = {
    {"userobject.argument", arguments, 0, {S(UserObjectCreate_v1)}},
    {"userobject.reference", references, 0, {S(UserObjectCreate_v1)}},
    {"userobject.held-by-graph", held_by_graph, 0, {S(UserObjectCreate_v1), S(GraphInstantiateWithFlags_v1)}},
    {"userobject.held-by-clone", held_by_clone, 0, {S(UserObjectCreate_v1)}},
    {"userobject.released-from-graph", released_from_graph, 0, {S(UserObjectCreate_v1)}},
    {"userobject.held-by-launch", held_by_launch, 0, {S(UserObjectCreate_v1), S(GraphInstantiateWithFlags_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_userobject = {"userobject", checks};
