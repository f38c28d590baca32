/* SPDX-License-Identifier: MIT */
/* Walks over the nodes of a graph, with one visit to each edge: the ancestors of nodes, and the order of a launch. The
 * nodes that wait to be continued are linked, so that a walk needs no stack, however long a path is. */
#include "engine.h"

void graph_mark_ancestors(struct graph *graph, const struct node_set *from)
{
    struct node *open = NULL;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->visit = VISIT_NONE;
    for (const struct node_set *next = from; next != NULL;) {
        for (size_t k = 0; k < next->count; k++) {
            struct node *node = next->nodes[k];
            if (node->visit == VISIT_NONE) {
                node->visit = VISIT_DONE;
                node->below = open;
                open = node;
            }
        }
        next = open == NULL ? NULL : &open->dependencies;
        open = open == NULL ? NULL : open->below;
    }
}

static void walk_begin(struct graph *graph, struct graph *outer)
{
    for (size_t i = 0; i < graph->count; i++) {
        graph->nodes[i]->index = i;
        graph->nodes[i]->visit = VISIT_NONE;
    }
    graph->outer = outer;
    graph->walked = 0;
    graph->open = NULL;
}

static bool sequence_add(struct sequence *sequence, struct work *work)
{
    if (!soft_reserve((void **)&sequence->items, &sequence->capacity, sequence->count + 1, sizeof(struct work *)))
        return false;
    sequence->items[sequence->count++] = work;
    return true;
}

static void walk_open(struct graph *graph, struct node *node)
{
    node->visit = VISIT_OPEN;
    node->walked = 0;
    node->below = graph->open;
    graph->open = node;
}

/* Opens a node that comes next: a dependency of the innermost open node, or else the next one of the graph. Returns a
 * node whose dependencies are all done, or NULL. *out_cycle is set if the node waits for itself. */
static struct node *walk_step(struct graph *graph, bool *out_cycle)
{
    struct node *node = graph->open, *next;
    if (node != NULL && node->walked == node->dependencies.count) {
        graph->open = node->below;
        node->visit = VISIT_DONE;
        return node;
    }
    next = node == NULL ? graph->nodes[graph->walked++] : node->dependencies.nodes[node->walked++];
    *out_cycle = next->visit == VISIT_OPEN;
    if (next->visit == VISIT_NONE)
        walk_open(graph, next);
    return NULL;
}

CUresult graph_flatten(struct graph *graph, const bool *disabled, struct sequence *sequence)
{
    const struct graph *whole = graph;
    walk_begin(graph, NULL);
    while (graph != NULL) {
        bool cycle = false;
        if (graph->open == NULL && graph->walked == graph->count) {
            graph = graph->outer;
            continue;
        }
        struct node *node = walk_step(graph, &cycle);
        if (cycle)
            return CUDA_ERROR_INVALID_VALUE;
        if (node == NULL || (graph == whole && disabled[node->index]))
            continue;
        if (node->work->kind == WORK_CHILD) {
            walk_begin(node->work->child, graph);
            graph = node->work->child;
        } else if (!sequence_add(sequence, node->work)) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return CUDA_SUCCESS;
}
