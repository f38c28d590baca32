/* SPDX-License-Identifier: MIT */
/* Graphs as a whole: creation, copies, and lists of their nodes and edges. */
#include "graph.h"

#include <stdlib.h>

#include "graph_nodes.h"
#include "user_object.h"

static void node_free(void *object)
{
    struct node *node = object;
    handle_withdraw(node);
    work_unref(node->work);
    frontier_clear(&node->before);
    free(node);
}

static void graph_free(void *object)
{
    struct graph *graph = object;
    for (size_t i = 0; i < graph->count; i++)
        object_unref(graph->nodes[i]);
    for (size_t i = 0; i < graph->holding_count; i++)
        user_object_unref(graph->holdings[i].object, graph->holdings[i].count);
    free(graph->nodes);
    free(graph->holdings);
    free(graph);
}

struct graph *graph_new(void)
{
    struct graph *graph = object_new(OBJECT_GRAPH, sizeof(*graph), graph_free);
    if (graph == NULL || !handle_publish(graph)) {
        free(graph);
        return NULL;
    }
    return graph;
}

void graph_destroy(struct graph *graph)
{
    handle_withdraw(graph);
    object_unref(graph);
}

static CUgraphNodeType node_type(enum work_kind kind)
{
    switch (kind) {
    case WORK_KERNEL:
        return CU_GRAPH_NODE_TYPE_KERNEL;
    case WORK_COPY:
        return CU_GRAPH_NODE_TYPE_MEMCPY;
    case WORK_SET:
        return CU_GRAPH_NODE_TYPE_MEMSET;
    case WORK_HOST:
        return CU_GRAPH_NODE_TYPE_HOST;
    case WORK_RECORD:
        return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case WORK_WAIT:
        return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case WORK_ALLOC:
        return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    case WORK_FREE:
        return CU_GRAPH_NODE_TYPE_MEM_FREE;
    case WORK_VALUES:
        return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    case WORK_CHILD:
        return CU_GRAPH_NODE_TYPE_GRAPH;
    case WORK_STATUS:
    case WORK_EMPTY:
    case WORK_KEEP_GRAPH:
        break;
    }
    return CU_GRAPH_NODE_TYPE_EMPTY;
}

struct node *graph_add(struct graph *graph, struct work *work, const struct frontier *before)
{
    struct node *node = work == NULL ? NULL : object_new(OBJECT_NODE, sizeof(*node), node_free);
    if (node == NULL) {
        work_unref(work);
        return NULL;
    }
    node->work = work;
    node->type = node_type(work->kind);
    node->graph = graph;
    bool whole = frontier_add_all(&node->before, before)
                 && soft_reserve((void **)&graph->nodes, &graph->capacity, graph->count + 1, sizeof(struct node *))
                 && handle_publish(node);
    if (!whole) {
        object_unref(node);
        return NULL;
    }
    graph->nodes[graph->count++] = node;
    return node;
}

void graph_mark_ancestors(struct graph *graph, const struct frontier *from)
{
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->marked = false;
    for (size_t i = 0; i < from->count; i++)
        from->nodes[i]->marked = true;
    /* Nodes mostly depend on older ones, so one pass from the newest on is usually sufficient; a second one confirms
     * it. */
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = graph->count; i-- > 0;) {
            const struct node *node = graph->nodes[i];
            for (size_t k = 0; node->marked && k < node->before.count; k++) {
                changed = changed || !node->before.nodes[k]->marked;
                node->before.nodes[k]->marked = true;
            }
        }
    }
}

/* A copy has its own child graphs, because those of the original can be obtained and changed. */
static struct work *work_copy(struct work *work)
{
    struct work *copy = NULL;
    if (work->kind == WORK_CHILD) {
        (void)work_from_child((CUgraph)work->child, &copy);
        return copy;
    }
    work_ref(work);
    return work;
}

static bool graph_copy_nodes(struct graph *copy, const struct graph *graph)
{
    static const struct frontier none;
    for (size_t i = 0; i < graph->count; i++) {
        struct node *from = graph->nodes[i];
        struct node *node = graph_add(copy, work_copy(from->work), &none);
        if (node == NULL)
            return false;
        node->original = from;
        from->index = i;
    }
    for (size_t i = 0; i < graph->count; i++) {
        const struct frontier *before = &graph->nodes[i]->before;
        for (size_t k = 0; k < before->count; k++)
            if (!frontier_add(&copy->nodes[i]->before, copy->nodes[before->nodes[k]->index], &before->data[k]))
                return false;
    }
    return true;
}

struct graph *graph_copy(struct graph *graph)
{
    struct graph *copy = graph_new();
    if (copy == NULL)
        return NULL;
    bool room =
        soft_reserve((void **)&copy->holdings, &copy->holding_capacity, graph->holding_count, sizeof(struct holding));
    if (!room || !graph_copy_nodes(copy, graph)) {
        graph_destroy(copy);
        return NULL;
    }
    for (size_t i = 0; i < graph->holding_count; i++) {
        copy->holdings[i] = (struct holding){graph->holdings[i].object, 1};
        user_object_ref(graph->holdings[i].object, 1);
    }
    copy->holding_count = graph->holding_count;
    return copy;
}

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
    struct graph *copy = graph_copy(graph);
    if (copy == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraphClone = (CUgraph)copy;
    return CUDA_SUCCESS;
}

CUresult soft_GraphNodeFindInClone_v1(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    const struct graph *clone = handle_find(OBJECT_GRAPH, hClonedGraph);
    const struct node *original = handle_find(OBJECT_NODE, hOriginalNode);
    if (phNode == NULL || clone == NULL || original == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < clone->count; i++) {
        if (clone->nodes[i]->original == original) {
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
    struct graph *graph = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->count; i++) {
        frontier_remove(&graph->nodes[i]->before, node);
        if (graph->nodes[i] != node)
            graph->nodes[kept++] = graph->nodes[i];
    }
    graph->count = kept;
    object_unref(node);
    return CUDA_SUCCESS;
}
