/* SPDX-License-Identifier: MIT */
#ifndef SOFT_GRAPH_EXEC_H
#define SOFT_GRAPH_EXEC_H

#include "graph.h"

struct exec {
    struct object object;
    struct graph *shape;    /* a copy of the graph, whose nodes refer to their originals; owned */
    bool *disabled;         /* for each of its nodes */
    struct work **sequence; /* the work that a launch pushes, in order; owned by the nodes of the shape, except for the
                             * last */
    size_t length;
    struct work *hold; /* the last work of a launch, which keeps the shape and its user objects until every launch has
                        * ended */
    struct op *last;   /* of the latest launch; a reference, or NULL */
    cuuint64_t flags;
};

/* Rebuilds the sequence from the shape. Fails with 1 if there is a cycle, or with 2. */
CUresult exec_rebuild(struct exec *exec);

#endif
