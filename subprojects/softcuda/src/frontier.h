/* SPDX-License-Identifier: MIT */
/* Sets of nodes. */
#ifndef SOFT_FRONTIER_H
#define SOFT_FRONTIER_H

#include "soft.h"

struct node;
struct graph;

/* A set of nodes, each with the data of an edge from it: the dependencies of a node, or of the next node of a capturing
 * stream. */
struct frontier {
    struct node **nodes;
    CUgraphEdgeData *data;
    size_t count, node_capacity, data_capacity;
};

/* Adds a node unless the set contains it; false if out of memory. */
bool frontier_add(struct frontier *frontier, struct node *node, const CUgraphEdgeData *data);
bool frontier_add_all(struct frontier *frontier, const struct frontier *more);
void frontier_remove(struct frontier *frontier, const struct node *node);
void frontier_clear(struct frontier *frontier);
/* Whether an edge has data other than full serialisation. */
bool frontier_has_data(const struct frontier *frontier);

/* A caller's nodes as a set. Fails with 1 if one is NULL or not in this graph, or if an edge is invalid. `repeats`: a
 * node may be given twice. */
CUresult graph_read_edges(struct graph *graph, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
                          bool repeats, struct frontier *out_frontier);

#endif
