/* SPDX-License-Identifier: MIT */
/* graph.h - graphs: their nodes and edges, and what they hold. */
#ifndef SOFT_GRAPH_H
#define SOFT_GRAPH_H

#include "soft.h"

struct graph;
struct node;
struct work;

/* A set of nodes, each with the data of an edge from it: the dependencies of a node, or of the next node of a capturing
 * stream. */
struct node_set {
    struct node **nodes;
    CUgraphEdgeData *data;
    size_t count, node_capacity, data_capacity;
    size_t *index; /* finds the position of a node, if there are many */
    size_t index_size;
};

#define NODE_SET_NONE SIZE_MAX

/* The position of the node, or NODE_SET_NONE. */
size_t node_set_find(const struct node_set *set, const struct node *node);
/* Adds a node unless the set contains it; false if out of memory. */
bool node_set_add(struct node_set *set, struct node *node, const CUgraphEdgeData *data);
bool node_set_add_all(struct node_set *set, const struct node_set *more);
void node_set_remove(struct node_set *set, const struct node *node);
void node_set_clear(struct node_set *set);
/* Whether an edge has data other than full serialisation. */
bool node_set_has_data(const struct node_set *set);

/* A caller's nodes as a set. Fails with 1 if one is NULL or not in this graph, or if an edge is invalid. `repeats`: a
 * node may be given twice. */
CUresult graph_read_edges(struct graph *graph, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
                          bool repeats, struct node_set *out_set);

/* User objects, whose references have a count for each holder. */
struct user_object {
    struct object object;
    int64_t count; /* of all references of all holders; negative for ever once too many were dropped */
    CUhostFn destroy;
    void *data;
};

void user_object_ref(struct user_object *object, unsigned count);
void user_object_unref(struct user_object *object, unsigned count);

struct node {
    struct object object;
    struct graph *graph;
    struct work *work; /* a reference */
    CUgraphNodeType type;
    struct node_set dependencies;
    size_t dependents;     /* nodes that depend on this one */
    struct node *original; /* in a clone, for comparison only */

    /* Used by walks over the graph. */
    enum { VISIT_NONE, VISIT_OPEN, VISIT_DONE } visit;
    size_t index;       /* in the graph */
    size_t walked;      /* dependencies that were visited */
    struct node *below; /* the node to continue with after this one */
};

/* A user object, and the number of references that a graph holds. */
struct retained {
    struct user_object *object;
    unsigned count;
};

struct graph {
    struct object object;
    struct node **nodes;
    size_t count, capacity;
    struct retained *retained;
    size_t retained_count, retained_capacity;
    uint64_t id;
    size_t memory_nodes;  /* nodes that allocate or free memory */
    bool is_instantiated; /* of a graph with such nodes, which may have one executable at a time */
    bool in_capture;
    bool embedded; /* owned by a node, */
    bool obtained; /* whose program has its handle, so that it can change */

    /* Used by walks over the graph. */
    size_t walked;       /* nodes that were visited */
    struct node *open;   /* the innermost node that is visited */
    struct graph *outer; /* the graph to continue with after this one */
};

/* Creates an empty, published graph; NULL if out of memory. */
struct graph *graph_new(void);
void graph_destroy(struct graph *graph);
struct graph *graph_copy(struct graph *graph);

/* Work that executes a copy of the graph; NULL if out of memory. */
struct work *work_new_child(struct graph *graph);

/* The graph of a child node for the program, which can change it: from now on, no other node shares it. NULL if out of
 * memory. */
struct graph *node_child(struct node *node);

/* Adds a node with these dependencies. Takes over the reference to `work`, also on failure. NULL if out of memory. */
struct node *graph_add(struct graph *graph, struct work *work, const struct node_set *dependencies);
void graph_remove(struct graph *graph, struct node *node);

/* Adds an edge between nodes of one graph unless there is one; false if out of memory. */
bool node_depend(struct node *node, struct node *before, const CUgraphEdgeData *data);
/* Removes an edge, if there is one. */
void node_release(struct node *node, struct node *before);

/* Sets `visit` to VISIT_DONE in the nodes in `from` and in all their dependencies, direct and indirect, and to
 * VISIT_NONE in all others. */
void graph_mark_ancestors(struct graph *graph, const struct node_set *from);

/* The work of a launch, in order. It belongs to the nodes. */
struct sequence {
    struct work **items;
    size_t count, capacity;
};

/* Adds the work of the graph without its disabled nodes, and of its child graphs: after that of the dependencies, and
 * otherwise in the order of creation. Fails with 1 if there is a cycle, or with 2. */
CUresult graph_flatten(struct graph *graph, const bool *disabled, struct sequence *sequence);

#endif
