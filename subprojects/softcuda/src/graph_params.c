/* SPDX-License-Identifier: MIT */
/* Queries and changes of the parameters of a node. */
#include "graph_params.h"

#include "callback.h"
#include "copy.h"
#include "event.h"
#include "function.h"
#include "graph.h"
#include "graph_nodes.h"
#include "kernel.h"
#include "memset.h"

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
        *nodeParams = kernel_params_older(&params);
    return result;
}

CUDA_KERNEL_NODE_PARAMS_v1 kernel_params_older(const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    return (CUDA_KERNEL_NODE_PARAMS_v1){.func = params->func,
                                        .gridDimX = params->gridDimX,
                                        .gridDimY = params->gridDimY,
                                        .gridDimZ = params->gridDimZ,
                                        .blockDimX = params->blockDimX,
                                        .blockDimY = params->blockDimY,
                                        .blockDimZ = params->blockDimZ,
                                        .sharedMemBytes = params->sharedMemBytes,
                                        .kernelParams = params->kernelParams,
                                        .extra = params->extra};
}

CUDA_KERNEL_NODE_PARAMS_v2 kernel_params_newer(const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return (CUDA_KERNEL_NODE_PARAMS_v2){.func = params->func,
                                        .gridDimX = params->gridDimX,
                                        .gridDimY = params->gridDimY,
                                        .gridDimZ = params->gridDimZ,
                                        .blockDimX = params->blockDimX,
                                        .blockDimY = params->blockDimY,
                                        .blockDimZ = params->blockDimZ,
                                        .sharedMemBytes = params->sharedMemBytes,
                                        .kernelParams = params->kernelParams,
                                        .extra = params->extra};
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
    const struct node *node = node_find(hNode, WORK_CHILD);
    if (node == NULL || phGraph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = (CUgraph)node->work->child;
    return CUDA_SUCCESS;
}
