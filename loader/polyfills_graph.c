/* SPDX-License-Identifier: MIT */
/* Polyfills: graphs. The entry points of 12.3 add edge data, which before was always plain. */
#include <string.h>

#include "polyfills.h"

CUresult CUDAAPI SHARED_POLYFILL(GraphInstantiateWithFlags_v1)(CUgraphExec *phGraphExec, CUgraph hGraph,
                                                               unsigned long long flags)
{
    const unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
                                     | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
                                     | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if ((flags & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags != 0)
        return cush_fail_polyfill(CUSHIM_SLOT_GraphInstantiateWithFlags_v1,
                                  "Flags for instantiating a graph need a driver for CUDA 11.4.");
    bool has_second = ORIGINS[CUSHIM_SLOT_GraphInstantiate_v2].state == CUSHIM_STATE_NATIVE;
    return has_second ? TABLE->GraphInstantiate_v2(phGraphExec, hGraph, NULL, NULL, 0)
                      : TABLE->GraphInstantiate_v1(phGraphExec, hGraph, NULL, NULL, 0);
}

CUresult CUDAAPI SHARED_POLYFILL(GraphAddDependencies_v2)(CUgraph hGraph, const CUgraphNode *from,
                                                          const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                                          size_t numDependencies)
{
    if (!polyfill_edges_are_plain(edgeData, numDependencies))
        return cush_fail_polyfill(CUSHIM_SLOT_GraphAddDependencies_v2, "Edge data needs a driver for CUDA 12.3.");
    return TABLE->GraphAddDependencies_v1(hGraph, from, to, numDependencies);
}

/* Driver 580 removes the edge between two nodes whatever its data and the given data are. */
CUresult CUDAAPI SHARED_POLYFILL(GraphRemoveDependencies_v2)(CUgraph hGraph, const CUgraphNode *from,
                                                             const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                                             size_t numDependencies)
{
    (void)edgeData;
    return TABLE->GraphRemoveDependencies_v1(hGraph, from, to, numDependencies);
}

/* Completes a query that returned `count` edges. */
static CUresult SHARED_POLYFILL(add_plain_edges)(CUresult result, CUgraphEdgeData *edges, size_t count)
{
    if (result == CUDA_SUCCESS && edges != NULL)
        memset(edges, 0, count * sizeof *edges);
    return result;
}

/* Driver 580 refuses an array for edge data without arrays for nodes. This query, unlike the two below, writes all of
 * the array for edge data, also behind the last edge. */
CUresult CUDAAPI SHARED_POLYFILL(GraphGetEdges_v2)(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                                   CUgraphEdgeData *edgeData, size_t *numEdges)
{
    if (edgeData != NULL && (from == NULL || to == NULL || numEdges == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    size_t room = edgeData != NULL ? *numEdges : 0;
    return SHARED_POLYFILL(add_plain_edges)(TABLE->GraphGetEdges_v1(hGraph, from, to, numEdges), edgeData, room);
}

CUresult CUDAAPI SHARED_POLYFILL(GraphNodeGetDependencies_v2)(CUgraphNode hNode, CUgraphNode *dependencies,
                                                              CUgraphEdgeData *edgeData, size_t *numDependencies)
{
    if (edgeData != NULL && (dependencies == NULL || numDependencies == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = TABLE->GraphNodeGetDependencies_v1(hNode, dependencies, numDependencies);
    return SHARED_POLYFILL(add_plain_edges)(result, edgeData, edgeData != NULL ? *numDependencies : 0);
}

CUresult CUDAAPI SHARED_POLYFILL(GraphNodeGetDependentNodes_v2)(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                                                CUgraphEdgeData *edgeData, size_t *numDependentNodes)
{
    if (edgeData != NULL && (dependentNodes == NULL || numDependentNodes == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = TABLE->GraphNodeGetDependentNodes_v1(hNode, dependentNodes, numDependentNodes);
    return SHARED_POLYFILL(add_plain_edges)(result, edgeData, edgeData != NULL ? *numDependentNodes : 0);
}
