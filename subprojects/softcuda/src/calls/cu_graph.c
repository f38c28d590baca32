/* SPDX-License-Identifier: MIT */
/* Graphs, queries of their shape, and their edges. */
#include "calls.h"

#include <string.h>

CUresult soft_GraphCreate_v1(CUgraph *phGraph, unsigned int flags)
{
    if (phGraph == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct graph *graph = graph_new();
    if (graph == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraph = (CUgraph)graph;
    return CUDA_SUCCESS;
}

CUresult soft_GraphDestroy_v1(CUgraph hGraph)
{
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    if (graph == NULL || graph->in_capture || graph->embedded)
        return CUDA_ERROR_INVALID_VALUE;
    graph_destroy(graph);
    return CUDA_SUCCESS;
}

CUresult soft_GraphClone_v1(CUgraph *phGraphClone, CUgraph originalGraph)
{
    struct graph *graph = handle_find(OBJECT_GRAPH, originalGraph);
    if (phGraphClone == NULL || graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (graph->memory_nodes > 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct graph *copy = graph_copy(graph);
    if (copy == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraphClone = (CUgraph)copy;
    return CUDA_SUCCESS;
}

/* The child graphs of a graph and of its clone were one until the program obtained them. */
static bool node_is_copy_of(const struct node *node, const struct node *original)
{
    bool are_children = node->graph->embedded && original->graph->embedded && node->original != NULL;
    return node->original == original || (are_children && node->original == original->original);
}

CUresult soft_GraphNodeFindInClone_v1(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    const struct graph *clone = handle_find(OBJECT_GRAPH, hClonedGraph);
    const struct node *original = handle_find(OBJECT_NODE, hOriginalNode);
    if (phNode == NULL || clone == NULL || original == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < clone->count; i++) {
        if (node_is_copy_of(clone->nodes[i], original)) {
            *phNode = (CUgraphNode)clone->nodes[i];
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult soft_GraphDestroyNode_v1(CUgraphNode hNode)
{
    struct node *node = handle_find(OBJECT_NODE, hNode);
    if (node == NULL || node->graph->in_capture)
        return CUDA_ERROR_INVALID_VALUE;
    if (work_is_of_memory(node->work))
        return CUDA_ERROR_NOT_SUPPORTED;
    graph_remove(node->graph, node);
    return CUDA_SUCCESS;
}

/*
 * All queries of this kind work in the same way. Without an array they write the count. With one they fill as many
 * elements as the count says, set the rest of the array to zero, and write the number of elements. There are two arrays
 * of nodes, and one of edge data. Only the query for the edges of a whole graph sets the rest of the edge data to zero.
 */
struct answer {
    CUgraphNode *first, *second;
    CUgraphEdgeData *data;
    size_t room, found;
    bool lossy; /* an edge has data that the caller has no array for */
};

static void answer_put(struct answer *answer, struct node *first, struct node *second, const CUgraphEdgeData *data)
{
    static const CUgraphEdgeData plain;
    size_t at = answer->found++;
    if (at >= answer->room)
        return;
    if (answer->first != NULL)
        answer->first[at] = (CUgraphNode)first;
    if (answer->second != NULL)
        answer->second[at] = (CUgraphNode)second;
    if (answer->data != NULL)
        answer->data[at] = *data;
    else if (answer->first != NULL && data != NULL && memcmp(data, &plain, sizeof plain) != 0)
        answer->lossy = true;
}

static CUresult answer_finish(const struct answer *answer, size_t *count)
{
    if (answer->lossy)
        return CUDA_ERROR_LOSSY_QUERY;
    for (size_t at = answer->found; at < answer->room; at++) {
        if (answer->first != NULL)
            answer->first[at] = NULL;
        if (answer->second != NULL)
            answer->second[at] = NULL;
        if (answer->data != NULL && answer->second != NULL)
            memset(&answer->data[at], 0, sizeof answer->data[at]);
    }
    *count = answer->first != NULL && answer->found > answer->room ? answer->room : answer->found;
    return CUDA_SUCCESS;
}

/* Returns whether a query for edges is refused: the count is missing, an array of nodes has no room, or there is an
 * array of edge data without an array of nodes. */
static bool room_is_wrong(CUgraphNode *nodes, const CUgraphEdgeData *data, const size_t *count)
{
    return count == NULL || (nodes == NULL && data != NULL) || (nodes != NULL && *count == 0);
}

static struct answer answer_of(CUgraphNode *first, CUgraphNode *second, CUgraphEdgeData *data, const size_t *count)
{
    return (struct answer){.first = first, .second = second, .data = data, .room = first == NULL ? 0 : *count};
}

CUresult soft_GraphGetNodes_v1(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    const struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    if (graph == NULL || numNodes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct answer answer = answer_of(nodes, NULL, NULL, numNodes);
    for (size_t i = 0; i < graph->count; i++)
        answer_put(&answer, graph->nodes[i], NULL, NULL);
    return answer_finish(&answer, numNodes);
}

CUresult soft_GraphGetRootNodes_v1(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    const struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    if (graph == NULL || numRootNodes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct answer answer = answer_of(rootNodes, NULL, NULL, numRootNodes);
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->dependencies.count == 0)
            answer_put(&answer, graph->nodes[i], NULL, NULL);
    return answer_finish(&answer, numRootNodes);
}

CUresult soft_GraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
                               size_t *numEdges)
{
    const struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    if (graph == NULL || (from == NULL) != (to == NULL) || room_is_wrong(from, edgeData, numEdges))
        return CUDA_ERROR_INVALID_VALUE;
    struct answer answer = answer_of(from, to, edgeData, numEdges);
    for (size_t i = 0; i < graph->count; i++) {
        struct node *node = graph->nodes[i];
        for (size_t k = 0; k < node->dependencies.count; k++)
            answer_put(&answer, node->dependencies.nodes[k], node, &node->dependencies.data[k]);
    }
    return answer_finish(&answer, numEdges);
}

CUresult soft_GraphGetEdges_v1(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    return soft_GraphGetEdges_v2(hGraph, from, to, NULL, numEdges);
}

CUresult soft_GraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
                                          size_t *numDependencies)
{
    const struct node *node = handle_find(OBJECT_NODE, hNode);
    if (node == NULL || room_is_wrong(dependencies, edgeData, numDependencies))
        return CUDA_ERROR_INVALID_VALUE;
    struct answer answer = answer_of(dependencies, NULL, edgeData, numDependencies);
    for (size_t k = 0; k < node->dependencies.count; k++)
        answer_put(&answer, node->dependencies.nodes[k], NULL, &node->dependencies.data[k]);
    return answer_finish(&answer, numDependencies);
}

CUresult soft_GraphNodeGetDependencies_v1(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies)
{
    return soft_GraphNodeGetDependencies_v2(hNode, dependencies, NULL, numDependencies);
}

CUresult soft_GraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,
                                            size_t *numDependentNodes)
{
    const struct node *node = handle_find(OBJECT_NODE, hNode);
    if (node == NULL || room_is_wrong(dependentNodes, edgeData, numDependentNodes))
        return CUDA_ERROR_INVALID_VALUE;
    struct answer answer = answer_of(dependentNodes, NULL, edgeData, numDependentNodes);
    for (size_t i = 0; i < node->graph->count; i++) {
        struct node *other = node->graph->nodes[i];
        for (size_t k = 0; k < other->dependencies.count; k++)
            if (other->dependencies.nodes[k] == node)
                answer_put(&answer, other, NULL, &other->dependencies.data[k]);
    }
    return answer_finish(&answer, numDependentNodes);
}

CUresult soft_GraphNodeGetDependentNodes_v1(CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes)
{
    return soft_GraphNodeGetDependentNodes_v2(hNode, dependentNodes, NULL, numDependentNodes);
}

CUresult soft_GraphNodeGetType_v1(CUgraphNode hNode, CUgraphNodeType *type)
{
    const struct node *node = handle_find(OBJECT_NODE, hNode);
    if (node == NULL || type == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->type;
    return CUDA_SUCCESS;
}

/* All edges of a caller, checked before the first is changed. */
static CUresult graph_check_edges(struct graph *graph, const CUgraphNode *from, const CUgraphNode *to,
                                  const CUgraphEdgeData *data, size_t count, bool present)
{
    if (graph == NULL || (count > 0 && (from == NULL || to == NULL)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        struct node_set one = {0};
        const struct node *target = handle_find(OBJECT_NODE, to[i]);
        CUresult result = graph_read_edges(graph, &from[i], data == NULL ? NULL : &data[i], 1, false, &one);
        bool valid = result == CUDA_SUCCESS && target != NULL && target->graph == graph && target != one.nodes[0]
                     && (node_set_find(&target->dependencies, one.nodes[0]) != NODE_SET_NONE) == present;
        node_set_clear(&one);
        if (!valid)
            return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
    }
    return CUDA_SUCCESS;
}

CUresult soft_GraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    CUresult result = graph_check_edges(graph, from, to, edgeData, numDependencies, false);
    for (size_t i = 0; i < numDependencies && result == CUDA_SUCCESS; i++) {
        struct node *target = handle_find(OBJECT_NODE, to[i]);
        if (!node_depend(target, handle_find(OBJECT_NODE, from[i]), edgeData == NULL ? NULL : &edgeData[i]))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return result;
}

CUresult soft_GraphAddDependencies_v1(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                      size_t numDependencies)
{
    return soft_GraphAddDependencies_v2(hGraph, from, to, NULL, numDependencies);
}

/* Like driver 580, ignores the data. */
CUresult soft_GraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                         const CUgraphEdgeData *edgeData, size_t numDependencies)
{
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    CUresult result = graph_check_edges(graph, from, to, NULL, numDependencies, true);
    (void)edgeData;
    for (size_t i = 0; i < numDependencies && result == CUDA_SUCCESS; i++)
        node_release(handle_find(OBJECT_NODE, to[i]), handle_find(OBJECT_NODE, from[i]));
    return result;
}

CUresult soft_GraphRemoveDependencies_v1(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                         size_t numDependencies)
{
    return soft_GraphRemoveDependencies_v2(hGraph, from, to, NULL, numDependencies);
}
