/* SPDX-License-Identifier: MIT */
/* Graphs: nodes, edges between them, executables. */
#ifndef SOFT_GRAPH_H
#define SOFT_GRAPH_H

#include "soft.h"

#include "work.h"

struct node;

/* A set of nodes with the data of an edge from each: what a node depends on, or a stream in capture will. */
struct frontier {
    struct node **nodes;
    CUgraphEdgeData *data;
    size_t count, node_capacity, data_capacity;
};

/* Adds a node unless it is in already; false without memory. */
bool frontier_add(struct frontier *frontier, struct node *node, const CUgraphEdgeData *data);
bool frontier_add_all(struct frontier *frontier, const struct frontier *more);
void frontier_remove(struct frontier *frontier, const struct node *node);
void frontier_clear(struct frontier *frontier);
/* Whether an edge carries more than full serialisation. */
bool frontier_has_data(const struct frontier *frontier);

struct node {
    struct object object;
    struct graph *graph;
    struct work *work; /* a reference */
    CUgraphNodeType type;
    struct frontier before; /* what it depends on */
    size_t index;           /* in the graph; set when the graph is walked */
    bool marked;            /* likewise */
    struct node *original;  /* in a clone, for comparison only */
};

/* A user object that a graph holds so many references to. */
struct holding {
    struct user_object *object;
    unsigned count;
};

struct graph {
    struct object object;
    struct node **nodes;
    size_t count, capacity;
    struct holding *holdings;
    size_t holding_count, holding_capacity;
    bool in_capture;
    bool embedded; /* in a node, which owns it */
};

/* An empty graph, published; NULL without memory. */
struct graph *graph_new(void);
void graph_destroy(struct graph *graph);
struct graph *graph_copy(struct graph *graph);

/* Adds a node that depends on `before`. Takes over the reference to `work`, in failure too. NULL without memory. */
struct node *graph_add(struct graph *graph, struct work *work, const struct frontier *before);

/* Marks every node that is in `from` or that one of those depends on, and no other. */
void graph_mark_ancestors(struct graph *graph, const struct frontier *from);

/* Nodes given by a caller, as a set (1 where one is NULL, not of this graph, or an edge cannot be). `repeats`:
 * one may be given twice. */
CUresult graph_read_edges(struct graph *graph, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
                          bool repeats, struct frontier *out_frontier);

/* Makes work from what callers describe. 1, 801, or 2. */
CUresult work_from_copy(const CUDA_MEMCPY3D *params, struct work **out_work);
CUresult work_from_set(const CUDA_MEMSET_NODE_PARAMS *params, struct work **out_work);
CUresult work_from_host(CUhostFn function, void *data, struct work **out_work);
CUresult work_from_kernel(const CUDA_KERNEL_NODE_PARAMS_v2 *params, struct work **out_work);
CUresult work_from_event(enum work_kind kind, CUevent event, struct work **out_work);
CUresult work_from_values(unsigned count, const CUstreamBatchMemOpParams *items, struct work **out_work);
CUresult work_from_child(CUgraph child, struct work **out_work);

/* User objects. */
void user_object_release(struct user_object *object, unsigned count);
void user_object_retain(struct user_object *object, unsigned count);

#endif
