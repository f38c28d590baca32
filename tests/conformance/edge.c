/* SPDX-License-Identifier: MIT */
/* Edges of a graph, and their data: queries, whose answers are a few letters, and changes. */
#include <stdio.h>
#include <string.h>

#include "kernels.h"

enum { ROOM = 5, NODE_COUNT = 4, MAX_TEXT = 300 };

/* The arrays that a query is given. */
enum { FROM = 1, TO = 2, DATA = 4 };

/* Queries of a graph, and of each of its first two nodes. */
enum query { EDGES, DEPENDENCIES_OF_A, DEPENDENCIES_OF_B, DEPENDENTS_OF_A, DEPENDENTS_OF_B };

struct arrays {
    CUgraphNode from[ROOM];
    CUgraphNode to[ROOM];
    CUgraphEdgeData data[ROOM];
};

static void fill(struct arrays *arrays)
{
    for (int i = 0; i < ROOM; i++)
        arrays->from[i] = arrays->to[i] = UNTOUCHED_HANDLE;
    memset(arrays->data, 0x5a, sizeof arrays->data);
}

static char node_letter(CUgraphNode node, CUgraphNode first)
{
    return node == NULL ? '0' : node == UNTOUCHED_HANDLE ? '.' : node == first ? 'a' : 'b';
}

static char data_letter(const CUgraphEdgeData *data)
{
    CUgraphEdgeData sample;
    memset(&sample, 0, sizeof sample);
    if (memcmp(data, &sample, sizeof sample) == 0)
        return '-';
    memset(&sample, 0x5a, sizeof sample);
    return memcmp(data, &sample, sizeof sample) == 0 ? '.' : '!';
}

/* Adds the answer of one query, such as "0:1:ab-00-.........": the code, the count, and three letters for each element
 * of the arrays. The first two letters are the nodes at the beginning and the end of the edge: "a" for the first node
 * of the graph, "b" for another node, "0" for NULL. The third letter is the data: "-" for plain data, "!" for other
 * data. "." means that nothing was written. */
static void add_answer(char *text, enum query query, CUgraph graph, const CUgraphNode *nodes, int given, size_t room)
{
    struct arrays arrays;
    CUresult result;
    fill(&arrays);
    CUgraphNode *from = (given & FROM) != 0 ? arrays.from : NULL;
    CUgraphNode *to = (given & TO) != 0 ? arrays.to : NULL;
    CUgraphEdgeData *data = (given & DATA) != 0 ? arrays.data : NULL;
    if (query == EDGES)
        result = cu->GraphGetEdges_v2(graph, from, to, data, &room);
    else if (query <= DEPENDENCIES_OF_B)
        result = cu->GraphNodeGetDependencies_v2(nodes[query - DEPENDENCIES_OF_A], from, data, &room);
    else
        result = cu->GraphNodeGetDependentNodes_v2(nodes[query - DEPENDENTS_OF_A], to, data, &room);
    size_t length = strlen(text);
    length += (size_t)snprintf(text + length, MAX_TEXT - length, "%s%d", length > 0 ? " " : "", (int)result);
    if (result == CUDA_ERROR_LOSSY_QUERY) /* the results mean nothing */
        return;
    length += (size_t)snprintf(text + length, MAX_TEXT - length, ":%d:", (int)room);
    for (int i = 0; i < ROOM && length + 4 < MAX_TEXT; i++) {
        text[length++] = node_letter(arrays.from[i], nodes[0]);
        text[length++] = node_letter(arrays.to[i], nodes[0]);
        text[length++] = data_letter(&arrays.data[i]);
    }
    text[length] = '\0';
}

static void observe_queries(const char *key, CUgraph graph, const CUgraphNode *nodes)
{
    static const struct {
        int given;
        size_t room;
    } queries[] = {
        {0, 0},
        {FROM | TO | DATA, ROOM - 1},
        {FROM | TO | DATA, 1},
        {FROM | TO | DATA, 0},
        {FROM | TO, 4},
        {DATA, ROOM},
        {FROM, ROOM},
        {TO | DATA, ROOM},
    };
    static const char *const names[] = {"edges", "dependencies-a", "dependencies-b", "dependents-a", "dependents-b"};
    for (int query = EDGES; query <= DEPENDENTS_OF_B; query++) {
        char text[MAX_TEXT] = "";
        for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
            add_answer(text, (enum query)query, graph, nodes, queries[i].given, queries[i].room);
        observe_text(key_of(key, names[query], NULL), text);
    }
}

static void observe_change(const char *key, CUgraph graph, CUresult result)
{
    observe_format(key, "%d, %d edges", (int)result, graph_edges(graph));
}

static CUgraph graph_of(CUgraphNode *out_nodes, int count)
{
    CUgraph graph = graph_new();
    for (int i = 0; i < count; i++)
        require("node", cu->GraphAddEmptyNode_v1(&out_nodes[i], graph, NULL, 0));
    return graph;
}

/* Adds three edges, from the first node to each other node, and removes them again, with unusual calls in between. */
CHECK(plain, "edge.plain", .needs = {S(GraphAddDependencies_v2), S(GraphRemoveDependencies_v2), S(GraphGetEdges_v2)})
{
    static const CUgraphEdgeData none[2];
    static const CUgraphEdgeData data = {.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraphNode nodes[NODE_COUNT];
    CUgraphNode foreign;
    CUgraph graph = graph_of(nodes, NODE_COUNT);
    (void)graph_of(&foreign, 1);
    const CUgraphNode twice[] = {nodes[0], nodes[0]};
    const struct {
        const char *key;
        bool adds;
        const CUgraphNode *from;
        const CUgraphNode *to;
        const CUgraphEdgeData *data;
        size_t count;
    } calls[] = {
        {"add-one", true, &nodes[0], &nodes[1], NULL, 1},
        {"add-two-plain", true, twice, &nodes[2], none, 2},
        {"add-again", true, &nodes[0], &nodes[1], NULL, 1},
        {"add-to-itself", true, &nodes[0], &nodes[0], NULL, 1},
        {"add-backwards", true, &nodes[1], &nodes[0], NULL, 1},
        {"remove-backwards", false, &nodes[1], &nodes[0], NULL, 1},
        {"add-foreign", true, &foreign, &nodes[1], NULL, 1},
        {"add-none", true, twice, &nodes[2], NULL, 0},
        {"add-none-null", true, NULL, NULL, NULL, 0},
        {"add-data", true, &nodes[1], &nodes[2], &data, 1},
        {"add-data-of-none", true, &nodes[1], &nodes[2], &data, 0},
        {"remove-data", false, &nodes[0], &nodes[1], &data, 1},
        {"remove-absent", false, &nodes[1], &nodes[2], NULL, 1},
        {"remove-none", false, twice, &nodes[2], NULL, 0},
    };
    observe_queries("empty", graph, nodes);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        CUresult result =
            calls[i].adds
                ? cu->GraphAddDependencies_v2(graph, calls[i].from, calls[i].to, calls[i].data, calls[i].count)
                : cu->GraphRemoveDependencies_v2(graph, calls[i].from, calls[i].to, calls[i].data, calls[i].count);
        observe_change(calls[i].key, graph, result);
    }
    observe_queries("three", graph, nodes);
    observe_change("remove-one", graph, cu->GraphRemoveDependencies_v2(graph, &nodes[0], &nodes[1], NULL, 1));
    observe_change("remove-two-plain", graph, cu->GraphRemoveDependencies_v2(graph, twice, &nodes[2], none, 2));
    observe_queries("emptied", graph, nodes);
}

/* A programmatic edge: a kernel may start before the one that it depends on has ended. */
CHECK(programmatic, "edge.programmatic", .needs = {S(GraphAddDependencies_v2), S(GraphAddKernelNode_v2)})
{
    static const CUgraphEdgeData data = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                         .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    const CUDA_KERNEL_NODE_PARAMS_v2 parameters = {.func = kernel_new("conformance_nothing"),
                                                   .gridDimX = 1,
                                                   .gridDimY = 1,
                                                   .gridDimZ = 1,
                                                   .blockDimX = 1,
                                                   .blockDimY = 1,
                                                   .blockDimZ = 1};
    CUgraphNode nodes[2] = {NULL, NULL};
    CUgraph graph = graph_of(nodes, 0);
    for (int i = 0; i < 2; i++)
        require("node", cu->GraphAddKernelNode_v2(&nodes[i], graph, NULL, 0, &parameters));
    observe_change("add", graph, cu->GraphAddDependencies_v2(graph, &nodes[0], &nodes[1], &data, 1));
    observe_queries("one", graph, nodes);
    observe_change("remove-plain", graph, cu->GraphRemoveDependencies_v2(graph, &nodes[0], &nodes[1], NULL, 1));
    observe_change("remove", graph, cu->GraphRemoveDependencies_v2(graph, &nodes[0], &nodes[1], &data, 1));
}
