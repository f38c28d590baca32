/* SPDX-License-Identifier: MIT */
/* Graphs: nodes, edges between them, executables. */
#ifndef SOFT_GRAPH_H
#define SOFT_GRAPH_H

#include "soft.h"

#include "work.h"

struct node;

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

struct node {
    struct object object;
    struct graph *graph;
    struct work *work; /* a reference */
    CUgraphNodeType type;
    struct frontier before; /* its dependencies */
    size_t index;           /* in the graph; set when the graph is traversed */
    bool marked;            /* set when the graph is traversed */
    struct node *original;  /* in a clone, for comparison only */
};

/* A user object, and the number of references that a graph holds. */
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
    bool embedded; /* owned by a node */
};

/* Creates an empty, published graph; NULL if out of memory. */
struct graph *graph_new(void);
void graph_destroy(struct graph *graph);
struct graph *graph_copy(struct graph *graph);

/* Adds a node that depends on `before`. Takes over the reference to `work`, also on failure. NULL if out of memory. */
struct node *graph_add(struct graph *graph, struct work *work, const struct frontier *before);

/* Marks the nodes in `from` and all their dependencies, direct and indirect, and no others. */
void graph_mark_ancestors(struct graph *graph, const struct frontier *from);

/* A caller's nodes as a set. Fails with 1 if one is NULL or not in this graph, or if an edge is invalid. `repeats`: a
 * node may be given twice. */
CUresult graph_read_edges(struct graph *graph, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
                          bool repeats, struct frontier *out_frontier);

/* Creates work from a caller's description. Fails with 1, 801, or 2. */
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
