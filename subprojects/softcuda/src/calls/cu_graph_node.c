/* SPDX-License-Identifier: MIT */
/* Adding nodes to graphs, and the parameters of a node. */
#include "calls.h"

#include <string.h>

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

static CUresult work_from_child(CUgraph child, struct work **out_work)
{
    struct graph *graph = handle_find(OBJECT_GRAPH, child);
    if (graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (graph->memory_nodes > 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    *out_work = work_new_child(graph);
    return *out_work == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult work_empty(struct work **out_work)
{
    *out_work = work_new(WORK_EMPTY);
    return *out_work == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS_v2 kernel_params_newer(const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    CUDA_KERNEL_NODE_PARAMS_v2 newer = {.func = params->func};
    memcpy(&newer, params, sizeof *params);
    return newer;
}

/* Adds a node with that work if the work was created; takes over the reference to it. */
static CUresult node_add(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                         const CUgraphEdgeData *data, size_t numDependencies, CUresult result, struct work *work)
{
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    struct node_set before = {0};
    if (result == CUDA_SUCCESS && (phGraphNode == NULL || graph == NULL))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = graph_read_edges(graph, dependencies, data, numDependencies, false, &before);
    if (result != CUDA_SUCCESS) {
        work_unref(work);
        return result;
    }
    struct node *node = graph_add(graph, work, &before);
    node_set_clear(&before);
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

CUresult soft_GraphAddMemAllocNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                      size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    struct work *work = NULL;
    CUresult result = work_from_allocation(nodeParams, &work);
    CUdeviceptr address = work == NULL ? 0 : (CUdeviceptr)(uintptr_t)work->block->base;
    result = node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
    if (result == CUDA_SUCCESS)
        nodeParams->dptr = address;
    return result;
}

CUresult soft_GraphAddMemFreeNode_v1(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                     size_t numDependencies, CUdeviceptr dptr)
{
    struct work *work = NULL;
    const struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    CUresult result = work_from_free(dptr, graph, &work);
    struct block *block = work == NULL ? NULL : work->block;
    result = node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, result, work);
    if (result == CUDA_SUCCESS)
        block->freed_in = graph->id; /* analyzer: without a block, node_add() fails */
    return result;
}

CUresult work_from_params(const CUgraphNodeParams *params, struct work **out_work)
{
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: /* the third version has the layout of the second */
        memcpy(&kernel, &params->kernel, sizeof kernel);
        return work_from_kernel(&kernel, out_work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return work_from_copy(&params->memcpy.copyParams, out_work);
    case CU_GRAPH_NODE_TYPE_MEMSET: /* the older version is the beginning of the newer one */
        memcpy(&set, &params->memset, sizeof set);
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

static struct node *node_find(CUgraphNode handle, enum work_kind kind)
{
    struct node *node = handle_find(OBJECT_NODE, handle);
    return node != NULL && node->work->kind == kind ? node : NULL;
}

CUresult node_set_work(CUgraphNode handle, enum work_kind kind, CUresult result, struct work *work)
{
    struct node *node = node_find(handle, kind);
    if (result == CUDA_SUCCESS && node == NULL)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS) {
        work_unref(work);
        return result;
    }
    work_unref(node->work);
    node->work = work;
    return CUDA_SUCCESS;
}

CUresult soft_GraphMemAllocNodeGetParams_v1(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
    const struct node *node = node_find(hNode, WORK_ALLOC);
    if (node == NULL || params_out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct block *block = node->work->block;
    memset(params_out, 0, sizeof *params_out);
    params_out->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params_out->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params_out->poolProps.location.id = block->context->device;
    params_out->bytesize = block->size;
    params_out->dptr = (CUdeviceptr)(uintptr_t)block->base;
    return CUDA_SUCCESS;
}

CUresult soft_GraphMemFreeNodeGetParams_v1(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    const struct node *node = node_find(hNode, WORK_FREE);
    if (node == NULL || dptr_out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *dptr_out = (CUdeviceptr)(uintptr_t)node->work->block->base;
    return CUDA_SUCCESS;
}

CUresult soft_GraphNodeSetParams_v1(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct work *work = NULL;
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = work_from_params(nodeParams, &work);
    return node_set_work(hNode, work == NULL ? WORK_EMPTY : work->kind, result, work);
}

CUresult soft_GraphHostNodeGetParams_v1(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
    const struct node *node = node_find(hNode, WORK_HOST);
    if (node == NULL || nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    nodeParams->fn = node->work->host.function;
    nodeParams->userData = node->work->host.data;
    return CUDA_SUCCESS;
}

CUresult soft_GraphHostNodeSetParams_v1(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct work *work = NULL;
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = work_from_host(nodeParams->fn, nodeParams->userData, &work);
    return node_set_work(hNode, WORK_HOST, result, work);
}

CUresult soft_GraphMemcpyNodeGetParams_v1(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    const struct node *node = node_find(hNode, WORK_COPY);
    if (node == NULL || nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *nodeParams = node->work->params.copy;
    return CUDA_SUCCESS;
}

CUresult soft_GraphMemcpyNodeSetParams_v1(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)
{
    struct work *work = NULL;
    CUresult result = work_from_copy(nodeParams, &work);
    return node_set_work(hNode, WORK_COPY, result, work);
}

CUresult soft_GraphMemsetNodeGetParams_v1(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    const struct node *node = node_find(hNode, WORK_SET);
    if (node == NULL || nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *nodeParams = node->work->params.set;
    return CUDA_SUCCESS;
}

CUresult soft_GraphMemsetNodeSetParams_v1(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    struct work *work = NULL;
    CUresult result = work_from_set(nodeParams, &work);
    return node_set_work(hNode, WORK_SET, result, work);
}

CUresult soft_GraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    const struct node *node = node_find(hNode, WORK_KERNEL);
    if (node == NULL || nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct kernel *kernel = &node->work->kernel;
    *nodeParams = (CUDA_KERNEL_NODE_PARAMS_v2){.func = (CUfunction)(void *)kernel->function,
                                               .gridDimX = kernel->grid[0],
                                               .gridDimY = kernel->grid[1],
                                               .gridDimZ = kernel->grid[2],
                                               .blockDimX = kernel->block[0],
                                               .blockDimY = kernel->block[1],
                                               .blockDimZ = kernel->block[2],
                                               .sharedMemBytes = kernel->shared,
                                               .kernelParams = kernel->arguments};
    return CUDA_SUCCESS;
}

CUresult soft_GraphKernelNodeGetParams_v1(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    CUresult result = nodeParams == NULL ? CUDA_ERROR_INVALID_VALUE : soft_GraphKernelNodeGetParams_v2(hNode, &params);
    if (result == CUDA_SUCCESS)
        memcpy(nodeParams, &params, sizeof *nodeParams); /* the newer description begins with the older one */
    return result;
}

CUresult soft_GraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    struct work *work = NULL;
    CUresult result = work_from_kernel(nodeParams, &work);
    return node_set_work(hNode, WORK_KERNEL, result, work);
}

CUresult soft_GraphKernelNodeSetParams_v1(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS_v2 params = kernel_params_newer(nodeParams);
    return soft_GraphKernelNodeSetParams_v2(hNode, &params);
}

static CUresult node_get_event(CUgraphNode hNode, enum work_kind kind, CUevent *event_out)
{
    const struct node *node = node_find(hNode, kind);
    if (node == NULL || event_out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *event_out = (CUevent)node->work->event;
    return CUDA_SUCCESS;
}

static CUresult node_set_event(CUgraphNode hNode, enum work_kind kind, CUevent event)
{
    struct work *work = NULL;
    CUresult result = work_from_event(kind, event, &work);
    return node_set_work(hNode, kind, result, work);
}

CUresult soft_GraphEventRecordNodeGetEvent_v1(CUgraphNode hNode, CUevent *event_out)
{
    return node_get_event(hNode, WORK_RECORD, event_out);
}

CUresult soft_GraphEventRecordNodeSetEvent_v1(CUgraphNode hNode, CUevent event)
{
    return node_set_event(hNode, WORK_RECORD, event);
}

CUresult soft_GraphEventWaitNodeGetEvent_v1(CUgraphNode hNode, CUevent *event_out)
{
    return node_get_event(hNode, WORK_WAIT, event_out);
}

CUresult soft_GraphEventWaitNodeSetEvent_v1(CUgraphNode hNode, CUevent event)
{
    return node_set_event(hNode, WORK_WAIT, event);
}

CUresult soft_GraphChildGraphNodeGetGraph_v1(CUgraphNode hNode, CUgraph *phGraph)
{
    struct node *node = node_find(hNode, WORK_CHILD);
    if (node == NULL || phGraph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct graph *child = node_child(node);
    if (child == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraph = (CUgraph)child;
    return CUDA_SUCCESS;
}
