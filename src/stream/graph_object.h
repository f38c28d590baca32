/* SPDX-License-Identifier: MIT */
/* The graph object: graph.c. */
#ifndef CUSHIM_GRAPH_OBJECT_H
#define CUSHIM_GRAPH_OBJECT_H

#include <stdatomic.h>

#include "cushim/graph.h"

struct cushim_graph {
    atomic_uint references;  /* the caller, and each open capture into the graph */
    _Atomic(CUgraph) handle; /* NULL: the driver destroyed the graph */
    bool owned;
    atomic_uint captures; /* open captures into the graph */
};

/* Creates an object; handle may be NULL and be set later. Returns NULL if the host is out of memory. */
struct cushim_graph *cush_graph_new(CUgraph handle, bool owned);

struct cushim_graph *cush_graph_ref(struct cushim_graph *graph);

/* Accepts NULL. Dropping the last reference destroys an owned graph and returns the driver's code; records no error. */
CUresult cush_graph_unref(struct cushim_graph *graph);

#endif
