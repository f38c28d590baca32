/* SPDX-License-Identifier: MIT */
/* Sets of nodes, each with the data of an edge from it. */
#include "frontier.h"

#include <stdlib.h>
#include <string.h>

#include "graph.h"

static const CUgraphEdgeData plain;

bool frontier_add(struct frontier *frontier, struct node *node, const CUgraphEdgeData *data)
{
    if (data == NULL)
        data = &plain;
    for (size_t i = 0; i < frontier->count; i++)
        if (frontier->nodes[i] == node)
            return true;
    size_t count = frontier->count + 1;
    if (!soft_reserve((void **)&frontier->nodes, &frontier->node_capacity, count, sizeof(struct node *))
        || !soft_reserve((void **)&frontier->data, &frontier->data_capacity, count, sizeof(CUgraphEdgeData)))
        return false;
    frontier->nodes[frontier->count] = node;
    frontier->data[frontier->count] = *data;
    frontier->count = count;
    return true;
}

bool frontier_add_all(struct frontier *frontier, const struct frontier *more)
{
    size_t before = frontier->count;
    for (size_t i = 0; i < more->count; i++) {
        if (!frontier_add(frontier, more->nodes[i], &more->data[i])) {
            frontier->count = before;
            return false;
        }
    }
    return true;
}

void frontier_remove(struct frontier *frontier, const struct node *node)
{
    for (size_t i = 0; i < frontier->count; i++) {
        if (frontier->nodes[i] != node)
            continue;
        size_t rest = --frontier->count - i;
        memmove(&frontier->nodes[i], &frontier->nodes[i + 1], rest * sizeof(struct node *));
        memmove(&frontier->data[i], &frontier->data[i + 1], rest * sizeof(CUgraphEdgeData));
        return;
    }
}

void frontier_clear(struct frontier *frontier)
{
    free(frontier->nodes);
    free(frontier->data);
    *frontier = (struct frontier){0};
}

bool frontier_has_data(const struct frontier *frontier)
{
    for (size_t i = 0; i < frontier->count; i++)
        if (memcmp(&frontier->data[i], &plain, sizeof(plain)) != 0)
            return true;
    return false;
}

/* Only a kernel can signal before its end, and only to a programmatic edge. */
static bool edge_is_allowed(const struct node *from, const CUgraphEdgeData *data)
{
    if (memcmp(data, &plain, sizeof(plain)) == 0)
        return true;
    static const unsigned char none[sizeof(data->reserved)];
    return from->work->kind == WORK_KERNEL && data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
           && data->from_port <= CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER && data->to_port == 0
           && memcmp(data->reserved, none, sizeof(none)) == 0;
}

CUresult graph_read_edges(struct graph *graph, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
                          bool repeats, struct frontier *out_frontier)
{
    CUresult result = count > 0 && nodes == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct node *node = handle_find(OBJECT_NODE, nodes[i]);
        if (node == NULL || node->graph != graph || (data != NULL && !edge_is_allowed(node, &data[i])))
            result = CUDA_ERROR_INVALID_VALUE;
        else if (!frontier_add(out_frontier, node, data == NULL ? NULL : &data[i]))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        else if (!repeats && out_frontier->count != i + 1) /* a node was given twice */
            result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result != CUDA_SUCCESS)
        frontier_clear(out_frontier);
    return result;
}
