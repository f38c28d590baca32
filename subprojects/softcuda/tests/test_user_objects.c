/* SPDX-License-Identifier: MIT */
/* User objects: who holds a reference, and that dropping the last one destroys the object, once. */
#include "support.h"

/* A graph of one host function that holds the only reference to an object, whose destructor counts. */
static CUgraph graph_with_object(int *destroyed, CUhostFn function, void *data)
{
    CUgraph graph = NULL;
    CUuserObject object = NULL;
    assert_cu(0, cu->GraphCreate_v1(&graph, 0));
    support_host_node(graph, NULL, 0, function, data);
    assert_cu(0, cu->UserObjectCreate_v1(&object, destroyed, support_count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    assert_cu(0, cu->GraphRetainUserObject_v1(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    return graph;
}

/* Destructors run on a thread of the driver, and nothing synchronises with them. */
static void assert_destroyed(const int *destroyed, int expected)
{
    for (int i = 0; i < 1000 && support_number(destroyed) < expected; i++)
        support_sleep(2);
    assert_int_equal(support_number(destroyed), expected);
}

static void assert_held(const int *destroyed)
{
    support_sleep(10);
    assert_int_equal(support_number(destroyed), 0);
}

TEST(test_user_object_when_graph_clone_and_executables_go_then_the_last_one_destroys_it)
{
    enum { GRAPH, CLONE, FIRST, SECOND, HOLDERS };
    for (int last = 0; last < HOLDERS; last++) {
        int destroyed = 0, calls = 0;
        CUgraph clone = NULL, graph = graph_with_object(&destroyed, support_count, &calls);
        assert_cu(0, cu->GraphClone_v1(&clone, graph));
        CUgraphExec first = support_instantiate(graph), second = support_instantiate(clone);
        for (int i = 0; i < HOLDERS; i++) {
            int holder = (last + 1 + i) % HOLDERS;
            assert_held(&destroyed);
            assert_cu(0, holder == GRAPH   ? cu->GraphDestroy_v1(graph)
                         : holder == CLONE ? cu->GraphDestroy_v1(clone)
                                           : cu->GraphExecDestroy_v1(holder == FIRST ? first : second));
        }
        assert_destroyed(&destroyed, 1);
    }
}

TEST(test_user_object_when_executable_is_updated_then_that_of_the_new_graph_is_held)
{
    struct gate gate = {0, 0};
    int old = 0, new = 0, calls = 0;
    CUgraphExecUpdateResultInfo info;
    if (!support_has(12000))
        skip();
    CUstream stream = support_stream(1);
    CUgraph graph = graph_with_object(&old, support_gate, &gate);
    CUgraph other = graph_with_object(&new, support_count, &calls);
    CUgraphExec exec = support_instantiate(graph);
    assert_cu(0, cu->GraphLaunch_v1(exec, stream));
    support_reached(&gate);
    assert_cu(0, cu->GraphExecUpdate_v2(exec, other, &info));
    assert_cu(0, cu->GraphDestroy_v1(graph));
    assert_cu(0, cu->GraphDestroy_v1(other));
    assert_held(&old); /* by the launch */
    support_open(&gate);
    assert_destroyed(&old, 1);
    assert_held(&new);
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_destroyed(&new, 1);
}

TEST(test_user_object_when_held_by_a_child_graph_then_the_node_holds_it)
{
    int destroyed = 0, calls = 0;
    CUgraph graph = NULL, child;
    CUgraphNode node;
    CUstream stream = support_stream(1);
    child = graph_with_object(&destroyed, support_count, &calls);
    assert_cu(0, cu->GraphCreate_v1(&graph, 0));
    assert_cu(0, cu->GraphAddChildGraphNode_v1(&node, graph, NULL, 0, child));
    assert_cu(0, cu->GraphDestroy_v1(child));
    CUgraphExec exec = support_instantiate(graph);
    assert_cu(0, cu->GraphDestroyNode_v1(node));
    assert_held(&destroyed);
    assert_cu(0, cu->GraphLaunch_v1(exec, stream));
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_destroyed(&destroyed, 1);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_int_equal(support_number(&calls), 1);
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

TEST(test_user_object_when_created_then_its_count_is_not_zero)
{
    int destroyed = 0;
    CUuserObject object;
    assert_cu(1, cu->UserObjectCreate_v1(&object, &destroyed, support_count, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    assert_cu(0,
              cu->UserObjectCreate_v1(&object, &destroyed, support_count, 1u << 31, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    assert_cu(0, cu->UserObjectRelease_v1(object, INT32_MAX));
    assert_held(&destroyed);
    assert_cu(0, cu->UserObjectRelease_v1(object, 1));
    assert_destroyed(&destroyed, 1);
}

TEST(test_user_object_when_counted_then_every_reference_counts)
{
    int destroyed = 0;
    CUgraph graph;
    CUuserObject object;
    assert_cu(0, cu->UserObjectCreate_v1(&object, &destroyed, support_count, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    assert_cu(0, cu->GraphCreate_v1(&graph, 0));
    assert_cu(0, cu->GraphRetainUserObject_v1(graph, object, 3, 0)); /* 5 in all */
    assert_cu(0, cu->UserObjectRetain_v1(object, 2));                /* 7 */
    assert_cu(0, cu->UserObjectRelease_v1(object, 4));               /* 3, all the graph's */
    assert_cu(0, cu->GraphReleaseUserObject_v1(graph, object, 2));
    assert_held(&destroyed);
    assert_cu(0, cu->GraphDestroy_v1(graph));
    assert_destroyed(&destroyed, 1);
    assert_cu(1, cu->UserObjectRetain_v1(object, 1)); /* no longer valid */
}
