/* SPDX-License-Identifier: MIT */
/* Creating nodes from a caller's description, one kind after the other, and the parameters of nodes. */
#include "graph_nodes.h"

#include <string.h>

#include "callback.h"
#include "copy.h"
#include "event.h"
#include "graph.h"
#include "graph_params.h"
#include "kernel.h"
#include "memset.h"
#include "values.h"

CUresult work_from_event(enum work_kind kind, CUevent handle, struct work **out_work)
{
    struct event *event = NULL;
    CUresult result = event_find(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    struct work *work = work_new(kind);
    if (work == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object_ref(event);
    work->event = event;
    *out_work = work;
    return CUDA_SUCCESS;
}

CUresult work_from_child(CUgraph child, struct work **out_work)
{
    struct graph *graph = handle_find(OBJECT_GRAPH, child);
    if (graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct work *work = work_new(WORK_CHILD);
    struct graph *copy = work == NULL ? NULL : graph_copy(graph);
    if (copy == NULL) {
        if (work != NULL)
            work->kind = WORK_EMPTY;
        work_unref(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    copy->embedded = true;
    work->child = copy;
    *out_work = work;
    return CUDA_SUCCESS;
}

static CUresult work_empty(struct work **out_work)
{
    *out_work = work_new(WORK_EMPTY);
    return *out_work == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* Adds a node with that work if the work was created; takes over the reference to it. */
static CUresult node_add(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                         const CUgraphEdgeData *data, size_t numDependencies, CUresult result, struct work *work)
{
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    struct frontier before = {0};
    if (result == CUDA_SUCCESS && (phGraphNode == NULL || graph == NULL))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = graph_read_edges(graph, dependencies, data, numDependencies, false, &before);
    if (result != CUDA_SUCCESS) {
        work_unref(work);
        return result;
    }
    struct node *node = graph_add(graph, work, &before);
    frontier_clear(&before);
    if (node == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraphNode = (CUgraphNode)node;
    return CUDA_SUCCESS;
}

CUresult soft_GraphAddEmptyNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                   size_t numDependencies)
{
    struct work *work = NULL;
    CUresult result = work_empty(&work);
    return node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
}

CUresult soft_GraphAddHostNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct work *work = NULL;
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = work_from_host(nodeParams->fn, nodeParams->userData, &work);
    return node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
}

CUresult soft_GraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    struct work *work = NULL;
    CUresult result = work_from_kernel(nodeParams, &work);
    return node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
}

CUresult soft_GraphAddKernelNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS_v2 params = kernel_params_newer(nodeParams);
    return soft_GraphAddKernelNode_v2(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult soft_GraphAddMemcpyNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct work *work = NULL;
    CUresult result =
        handle_find(OBJECT_CONTEXT, ctx) == NULL ? CUDA_ERROR_INVALID_CONTEXT : work_from_copy(copyParams, &work);
    return node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
}

CUresult soft_GraphAddMemsetNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    struct work *work = NULL;
    CUresult result =
        handle_find(OBJECT_CONTEXT, ctx) == NULL ? CUDA_ERROR_INVALID_CONTEXT : work_from_set(memsetParams, &work);
    return node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
}

CUresult soft_GraphAddChildGraphNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                        size_t numDependencies, CUgraph childGraph)
{
    struct work *work = NULL;
    CUresult result = childGraph == hGraph ? CUDA_ERROR_INVALID_VALUE : work_from_child(childGraph, &work);
    return node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
}

CUresult soft_GraphAddEventRecordNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                         size_t numDependencies, CUevent event)
{
    struct work *work = NULL;
    CUresult result = work_from_event(WORK_RECORD, event, &work);
    return node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
}

CUresult soft_GraphAddEventWaitNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies, CUevent event)
{
    struct work *work = NULL;
    CUresult result = work_from_event(WORK_WAIT, event, &work);
    return node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
}

CUresult soft_GraphAddBatchMemOpNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                        size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    struct work *work = NULL;
    if (nodeParams == NULL || nodeParams->flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = work_from_values(nodeParams->count, nodeParams->paramArray, &work);
    return node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
}

/* The one description for every kind. */
static CUresult work_from_params(const CUgraphNodeParams *params, struct work **out_work)
{
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: /* the third version has the layout of the second */
        memcpy(&kernel, &params->kernel, sizeof(kernel));
        return work_from_kernel(&kernel, out_work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return work_from_copy(&params->memcpy.copyParams, out_work);
    case CU_GRAPH_NODE_TYPE_MEMSET: /* the older version is the beginning of the newer one */
        memcpy(&set, &params->memset, sizeof(set));
        return work_from_set(&set, out_work);
    case CU_GRAPH_NODE_TYPE_HOST:
        return work_from_host(params->host.fn, params->host.userData, out_work);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return work_from_child(params->graph.graph, out_work);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return work_empty(out_work);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return work_from_event(WORK_WAIT, params->eventWait.event, out_work);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return work_from_event(WORK_RECORD, params->eventRecord.event, out_work);
    case 12: /* CU_GRAPH_NODE_TYPE_BATCH_MEM_OP */
        return work_from_values(params->memOp.count, params->memOp.paramArray, out_work);
    case 8:  /* external semaphores */
    case 9:  /* external semaphores */
    case 10: /* CU_GRAPH_NODE_TYPE_MEM_ALLOC */
    case 11: /* CU_GRAPH_NODE_TYPE_MEM_FREE */
    case 13: /* CU_GRAPH_NODE_TYPE_CONDITIONAL */
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult soft_GraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              const CUgraphEdgeData *dependencyData, size_t numDependencies,
                              CUgraphNodeParams *nodeParams)
{
    struct work *work = NULL;
    CUresult result = nodeParams == NULL ? CUDA_ERROR_INVALID_VALUE : work_from_params(nodeParams, &work);
    return node_add(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, result, work);
}

CUresult soft_GraphAddNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    return soft_GraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, nodeParams);
}
