/* SPDX-License-Identifier: MIT */
/* Large graphs. The sizes are such that time which grows with their square is longer than a test may take. */
#include "support.h"

#include <stdlib.h>

enum { DEPENDENCIES = 200000, NESTED = 50000 };

static CUgraphNode empty_node(CUgraph graph, const CUgraphNode *before, size_t count)
{
    CUgraphNode node = NULL;
    assert_cu(0, cu->GraphAddEmptyNode_v1(&node, graph, before, count));
    return node;
}

static void launch_and_destroy(CUgraph graph)
{
    CUgraphExec exec = support_instantiate(graph);
    assert_cu(0, cu->GraphLaunch_v1(exec, NULL));
    assert_cu(0, cu->StreamSynchronize_v1(NULL));
    if (support_has(12000)) {
        CUgraphExecUpdateResultInfo info;
        assert_cu(0, cu->GraphExecUpdate_v2(exec, graph, &info));
    }
    assert_cu(0, cu->GraphExecDestroy_v1(exec));
    assert_cu(0, cu->GraphDestroy_v1(graph));
}

TEST(test_node_when_it_has_many_dependencies_then_time_does_not_grow_with_their_square)
{
    CUgraph graph;
    CUgraphNode *nodes = calloc(DEPENDENCIES, sizeof *nodes);
    assert_non_null(nodes);
    assert_cu(0, cu->GraphCreate_v1(&graph, 0));
    for (size_t i = 0; i < DEPENDENCIES; i++)
        nodes[i] = empty_node(graph, NULL, 0);
    CUgraphNode last = empty_node(graph, nodes, DEPENDENCIES);
    assert_cu(1, cu->GraphAddDependencies_v1(graph, &nodes[1], &last, 1)); /* it has that edge */
    assert_cu(0, cu->GraphRemoveDependencies_v1(graph, &nodes[1], &last, 1));
    assert_cu(0, cu->GraphAddDependencies_v1(graph, &nodes[1], &last, 1));
    free(nodes);
    launch_and_destroy(graph);
}

TEST(test_graph_when_each_node_waits_for_a_later_one_then_time_does_not_grow_with_their_square)
{
    CUgraph graph;
    CUgraphNode before = NULL;
    assert_cu(0, cu->GraphCreate_v1(&graph, 0));
    for (size_t i = 0; i < DEPENDENCIES; i++) {
        CUgraphNode node = empty_node(graph, NULL, 0);
        if (before != NULL)
            assert_cu(0, cu->GraphAddDependencies_v1(graph, &node, &before, 1));
        before = node;
    }
    launch_and_destroy(graph);
}

TEST(test_graphs_when_nested_then_time_does_not_grow_with_the_square_of_their_depth)
{
    int number = 0;
    CUgraph graph, outer;
    CUgraphNode node;
    assert_cu(0, cu->GraphCreate_v1(&graph, 0));
    support_host_node(graph, NULL, 0, support_count, &number);
    for (size_t i = 0; i < NESTED; i++) {
        assert_cu(0, cu->GraphCreate_v1(&outer, 0));
        assert_cu(0, cu->GraphAddChildGraphNode_v1(&node, outer, NULL, 0, graph));
        assert_cu(0, cu->GraphDestroy_v1(graph));
        graph = outer;
    }
    launch_and_destroy(graph);
    assert_int_equal(support_number(&number), 1);
}
