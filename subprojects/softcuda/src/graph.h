/* SPDX-License-Identifier: MIT */
/* Graphs: nodes, edges between them, executables. */
#ifndef SOFT_GRAPH_H
#define SOFT_GRAPH_H

#include "soft.h"

#include "frontier.h"
#include "work.h"

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

#endif
