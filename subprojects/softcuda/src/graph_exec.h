/* SPDX-License-Identifier: MIT */
#ifndef SOFT_GRAPH_EXEC_H
#define SOFT_GRAPH_EXEC_H

#include "graph.h"

struct exec {
    struct object object;
    struct graph *shape;    /* a copy of the graph, whose nodes know their originals; owned */
    bool *disabled;         /* of each of its nodes */
    struct work **sequence; /* what a launch pushes, in order; the nodes of the shape own it, but for the last */
    size_t length;
    struct work *hold; /* the last: so the shape, and the user objects that it holds, outlive every launch of it */
    struct op *last;   /* of the latest launch; a reference, or NULL */
    cuuint64_t flags;
};

/* Makes the sequence anew from the shape. 1 where there is a circle, or 2. */
CUresult exec_rebuild(struct exec *exec);

#endif
