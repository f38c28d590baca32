/* SPDX-License-Identifier: MIT */
/* Polyfills of graphs: plain edges use the older function, others are refused. */
#include "mock.h"

#define GRAPH HANDLE(CUgraph, 5)
#define NODE HANDLE(CUgraphNode, 6)

enum { EDGE_COUNT = 2 };

static CUresult instantiate(const char *version, CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log,
                            size_t size)
{
    CUresult result = mock_call(version, "%u, %u, %u, %u", NUMBER(graph), NUMBER(node), NUMBER(log), (unsigned)size);
    if (result == CUDA_SUCCESS)
        *exec = HANDLE(CUgraphExec, 9);
    return result;
}

static CUresult CUDAAPI instantiate_v1(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t size)
{
    return instantiate("Instantiate_v1", exec, graph, node, log, size);
}

static CUresult CUDAAPI instantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t size)
{
    return instantiate("Instantiate_v2", exec, graph, node, log, size);
}

static CUresult CUDAAPI add_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return mock_call("Add", "%u, %u, %u, %u", NUMBER(graph), NUMBER(from), NUMBER(to), (unsigned)count);
}

static CUresult CUDAAPI remove_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return mock_call("Remove", "%u, %u, %u, %u", NUMBER(graph), NUMBER(from), NUMBER(to), (unsigned)count);
}

/* Fills the arrays (`more` can be NULL) as far as they have room, and writes that count; without arrays, writes the
 * total count. */
static CUresult answer(const char *function, unsigned handle, CUgraphNode *nodes, CUgraphNode *more, size_t *count)
{
    CUresult result = mock_call(function, "%u", handle);
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    if (nodes == NULL || *count > EDGE_COUNT)
        *count = EDGE_COUNT;
    for (size_t i = 0; nodes != NULL && i < *count; i++) {
        nodes[i] = NODE;
        if (more != NULL)
            more[i] = NODE;
    }
    return result;
}

static CUresult CUDAAPI get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return answer("GetEdges", NUMBER(graph), from, to, count);
}

static CUresult CUDAAPI get_dependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return answer("GetDependencies", NUMBER(node), nodes, NULL, count);
}

static CUresult CUDAAPI get_dependents(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return answer("GetDependents", NUMBER(node), nodes, NULL, count);
}

static const struct cushim_dispatch_table *load(const char *fake)
{
    struct cushim_dispatch_table *hooks = mock_load(fake, (struct cushim_load_options){0});
    hooks->GraphInstantiate_v1 = instantiate_v1;
    hooks->GraphInstantiate_v2 = instantiate_v2;
    hooks->GraphAddDependencies_v1 = add_dependencies;
    hooks->GraphRemoveDependencies_v1 = remove_dependencies;
    hooks->GraphGetEdges_v1 = get_edges;
    hooks->GraphNodeGetDependencies_v1 = get_dependencies;
    hooks->GraphNodeGetDependentNodes_v1 = get_dependents;
    return cushim_table();
}

MOCK_TEST(test_instantiate_when_flags_are_zero_then_calls_the_newest_older_version)
{
    CUgraphExec exec = NULL;
    assert_int_equal(load("fake_10010")->GraphInstantiateWithFlags_v1(&exec, GRAPH, 0), CUDA_SUCCESS);
    mock_assert_calls("Instantiate_v1(5, 0, 0, 0) ");
    assert_int_equal(NUMBER(exec), 9);
    mock_reset(state);
    assert_int_equal(load("fake_11000")->GraphInstantiateWithFlags_v1(&exec, GRAPH, 0), CUDA_SUCCESS);
    mock_assert_calls("Instantiate_v2(5, 0, 0, 0) ");
    exec = NULL;
    mock_fail("Instantiate_v2", CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_table()->GraphInstantiateWithFlags_v1(&exec, GRAPH, 0), CUDA_ERROR_INVALID_VALUE);
    assert_null(exec);
}

MOCK_TEST(test_instantiate_when_flags_are_given_then_refused)
{
    CUgraphExec exec = NULL;
    const struct cushim_dispatch_table *table = load("fake_11000");
    mock_assert_refused(
        table->GraphInstantiateWithFlags_v1(&exec, GRAPH, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH),
        "cuGraphInstantiateWithFlags");
    mock_assert_refused(
        table->GraphInstantiateWithFlags_v1(&exec, GRAPH, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY),
        "cuGraphInstantiateWithFlags");
    assert_int_equal(table->GraphInstantiateWithFlags_v1(&exec, GRAPH, 1ull << 40), CUDA_ERROR_INVALID_VALUE);
    mock_assert_calls("");
    assert_null(exec);
}

MOCK_TEST(test_dependencies_when_edges_are_plain_then_the_older_ones_are_called)
{
    static const CUgraphEdgeData plain[3];
    const struct cushim_dispatch_table *table = load("fake_12020");
    const CUgraphNode *from = HANDLE(const CUgraphNode *, 21);
    const CUgraphNode *to = HANDLE(const CUgraphNode *, 22);
    assert_int_equal(table->GraphAddDependencies_v2(GRAPH, from, to, NULL, 3), CUDA_SUCCESS);
    assert_int_equal(table->GraphAddDependencies_v2(GRAPH, from, to, plain, 3), CUDA_SUCCESS);
    mock_assert_calls("Add(5, 21, 22, 3) Add(5, 21, 22, 3) ");
    assert_int_equal(table->GraphRemoveDependencies_v2(GRAPH, from, to, NULL, 3), CUDA_SUCCESS);
    assert_int_equal(table->GraphRemoveDependencies_v2(GRAPH, from, to, plain, 3), CUDA_SUCCESS);
    mock_assert_calls("Remove(5, 21, 22, 3) Remove(5, 21, 22, 3) ");
    mock_fail("Add", CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(table->GraphAddDependencies_v2(GRAPH, from, to, NULL, 3), CUDA_ERROR_INVALID_HANDLE);
}

MOCK_TEST(test_dependencies_when_an_edge_is_not_plain_then_only_adding_is_refused)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    for (size_t i = 0; i < 3 * sizeof(CUgraphEdgeData); i++) {
        CUgraphEdgeData edges[3];
        memset(edges, 0, sizeof edges);
        ((unsigned char *)edges)[i] = 255;
        mock_assert_refused(table->GraphAddDependencies_v2(GRAPH, NULL, NULL, edges, 3), "cuGraphAddDependencies_v2");
        assert_int_equal(table->GraphRemoveDependencies_v2(GRAPH, NULL, NULL, edges, 3), CUDA_SUCCESS);
        mock_assert_calls("Remove(5, 0, 0, 3) ");
    }
}

typedef CUresult query(const struct cushim_dispatch_table *table, CUgraphNode *nodes, CUgraphEdgeData *edges,
                       size_t *count);

static CUresult ask_edges(const struct cushim_dispatch_table *table, CUgraphNode *nodes, CUgraphEdgeData *edges,
                          size_t *count)
{
    CUgraphNode to[8];
    return table->GraphGetEdges_v2(GRAPH, nodes, nodes != NULL ? to : NULL, edges, count);
}

static CUresult ask_dependencies(const struct cushim_dispatch_table *table, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                 size_t *count)
{
    return table->GraphNodeGetDependencies_v2(NODE, nodes, edges, count);
}

static CUresult ask_dependents(const struct cushim_dispatch_table *table, CUgraphNode *nodes, CUgraphEdgeData *edges,
                               size_t *count)
{
    return table->GraphNodeGetDependentNodes_v2(NODE, nodes, edges, count);
}

static query *const queries[] = {ask_edges, ask_dependencies, ask_dependents};
static const char *const names[] = {"GetEdges", "GetDependencies", "GetDependents"};
static const char *const calls[] = {"GetEdges(5) ", "GetDependencies(6) ", "GetDependents(6) "};

MOCK_TEST(test_graph_query_when_edge_data_is_requested_then_edges_are_plain)
{
    static const CUgraphEdgeData plain[EDGE_COUNT];
    const struct cushim_dispatch_table *table = load("fake_12020");
    for (size_t i = 0; i < 3; i++) {
        CUgraphNode nodes[8] = {0};
        CUgraphEdgeData edges[8];
        size_t count = 8;
        memset(edges, 255, sizeof edges);
        assert_int_equal(queries[i](table, nodes, edges, &count), CUDA_SUCCESS);
        mock_assert_calls(calls[i]);
        assert_int_equal(count, EDGE_COUNT);
        assert_ptr_equal(nodes[0], NODE);
        assert_memory_equal(edges, plain, sizeof plain);
    }
}

MOCK_TEST(test_query_when_there_is_less_room_then_no_more_than_that_is_written)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    for (size_t i = 0; i < 3; i++) {
        CUgraphNode nodes[8];
        CUgraphEdgeData edges[2];
        size_t count = 1;
        memset(edges, 255, sizeof edges);
        assert_int_equal(queries[i](table, nodes, edges, &count), CUDA_SUCCESS);
        assert_int_equal(count, 1);
        assert_int_equal(edges[0].type, 0);
        assert_int_equal(edges[1].type, 255);
    }
}

MOCK_TEST(test_graph_query_when_only_the_count_is_requested_then_returns_it)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    for (size_t i = 0; i < 3; i++) {
        size_t count = 0;
        assert_int_equal(queries[i](table, NULL, NULL, &count), CUDA_SUCCESS);
        assert_int_equal(count, EDGE_COUNT);
    }
}

MOCK_TEST(test_query_when_it_fails_then_edges_are_untouched)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    for (size_t i = 0; i < 3; i++) {
        CUgraphNode nodes[8];
        CUgraphEdgeData edge;
        size_t count = 1;
        memset(&edge, 255, sizeof edge);
        mock_fail(names[i], CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(queries[i](table, nodes, &edge, &count), CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(queries[i](table, nodes, &edge, NULL), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(edge.type, 255);
        assert_int_equal(count, 1);
    }
}

MOCK_TEST(test_graph_query_when_edge_data_is_requested_without_nodes_then_refused)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    for (size_t i = 0; i < 3; i++) {
        CUgraphEdgeData edge;
        size_t count = 1;
        assert_int_equal(queries[i](table, NULL, &edge, &count), CUDA_ERROR_INVALID_VALUE);
        mock_assert_calls("");
    }
}
