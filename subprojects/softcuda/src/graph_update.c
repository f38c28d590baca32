/* SPDX-License-Identifier: MIT */
/* Updating an executable: to another graph of the same shape, or one node of it. */
#include "graph_exec.h"

#include <stdlib.h>

#include "callback.h"
#include "copy.h"
#include "graph_nodes.h"
#include "graph_params.h"
#include "kernel.h"
#include "memset.h"

static void shape_number(struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->index = i;
}

static bool node_depends_on(const struct node *node, size_t index)
{
    for (size_t k = 0; k < node->before.count; k++)
        if (node->before.nodes[k]->index == index)
            return true;
    return false;
}

/* Compares node by node, in the order of their creation. */
static CUgraphExecUpdateResult shape_compare(struct graph *old, struct graph *new, struct node **out_node)
{
    shape_number(old);
    shape_number(new);
    *out_node = NULL;
    if (old->count != new->count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < new->count; i++) {
        *out_node = new->nodes[i];
        if (old->nodes[i]->before.count != new->nodes[i]->before.count)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        for (size_t k = 0; k < new->nodes[i]->before.count; k++)
            if (!node_depends_on(old->nodes[i], new->nodes[i]->before.nodes[k]->index))
                return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        if (old->nodes[i]->type != new->nodes[i]->type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (new->nodes[i]->type == CU_GRAPH_NODE_TYPE_GRAPH) {
            struct node *inner;
            CUgraphExecUpdateResult result =
                shape_compare(old->nodes[i]->work->child, new->nodes[i]->work->child, &inner);
            if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
                return result;
        }
    }
    *out_node = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUresult exec_replace_work(struct exec *exec, struct graph *graph)
{
    struct graph *before = exec->shape;
    struct graph *shape = graph_copy(graph);
    if (shape == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < shape->count; i++) /* later calls still use the old nodes */
        shape->nodes[i]->original = before->nodes[i]->original;
    exec->shape = shape;
    CUresult result = exec_rebuild(exec);
    if (result != CUDA_SUCCESS) {
        exec->shape = before;
        graph_destroy(shape);
        return result;
    }
    graph_destroy(before);
    return CUDA_SUCCESS;
}

CUresult soft_GraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    struct exec *exec = handle_find(OBJECT_EXEC, hGraphExec);
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    if (exec == NULL || graph == NULL || resultInfo == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct node *node;
    CUgraphExecUpdateResult compared = shape_compare(exec->shape, graph, &node);
    *resultInfo = (CUgraphExecUpdateResultInfo){compared, (CUgraphNode)node, NULL};
    return compared == CU_GRAPH_EXEC_UPDATE_SUCCESS ? exec_replace_work(exec, graph)
                                                    : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult soft_GraphExecUpdate_v1(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                                 CUgraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info;
    if (updateResult_out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = soft_GraphExecUpdate_v2(hGraphExec, hGraph, &info);
    if (result == CUDA_ERROR_INVALID_VALUE)
        return result;
    *updateResult_out = info.result;
    if (hErrorNode_out != NULL)
        *hErrorNode_out = info.errorNode;
    return result;
}

/* The node of the executable that was made from a node of the graph. */
static struct node *exec_find_node(const struct exec *exec, CUgraphNode original, size_t *out_index)
{
    for (size_t i = 0; exec != NULL && original != NULL && i < exec->shape->count; i++) {
        if ((CUgraphNode)exec->shape->nodes[i]->original == original) {
            *out_index = i;
            return exec->shape->nodes[i];
        }
    }
    return NULL;
}

/* Replaces the work of the node if the new work was created; takes over the reference to it. */
static CUresult exec_set_work(CUgraphExec hGraphExec, CUgraphNode hNode, enum work_kind kind, CUresult result,
                              struct work *work)
{
    struct exec *exec = handle_find(OBJECT_EXEC, hGraphExec);
    size_t index;
    struct node *node = exec_find_node(exec, hNode, &index);
    if (result == CUDA_SUCCESS && node == NULL)
        result = CUDA_ERROR_INVALID_VALUE;
    result = node_set_work((CUgraphNode)node, kind, result, work);
    return result == CUDA_SUCCESS ? exec_rebuild(exec) : result;
}

CUresult soft_GraphExecHostNodeSetParams_v1(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct work *work = NULL;
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = work_from_host(nodeParams->fn, nodeParams->userData, &work);
    return exec_set_work(hGraphExec, hNode, WORK_HOST, result, work);
}

CUresult soft_GraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                              const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    struct work *work = NULL;
    CUresult result = work_from_kernel(nodeParams, &work);
    return exec_set_work(hGraphExec, hNode, WORK_KERNEL, result, work);
}

CUresult soft_GraphExecKernelNodeSetParams_v1(CUgraphExec hGraphExec, CUgraphNode hNode,
                                              const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS_v2 params = kernel_params_newer(nodeParams);
    return soft_GraphExecKernelNodeSetParams_v2(hGraphExec, hNode, &params);
}

CUresult soft_GraphExecMemcpyNodeSetParams_v1(CUgraphExec hGraphExec, CUgraphNode hNode,
                                              const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct work *work = NULL;
    CUresult result =
        handle_find(OBJECT_CONTEXT, ctx) == NULL ? CUDA_ERROR_INVALID_CONTEXT : work_from_copy(copyParams, &work);
    return exec_set_work(hGraphExec, hNode, WORK_COPY, result, work);
}

CUresult soft_GraphExecMemsetNodeSetParams_v1(CUgraphExec hGraphExec, CUgraphNode hNode,
                                              const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    struct work *work = NULL;
    CUresult result =
        handle_find(OBJECT_CONTEXT, ctx) == NULL ? CUDA_ERROR_INVALID_CONTEXT : work_from_set(memsetParams, &work);
    return exec_set_work(hGraphExec, hNode, WORK_SET, result, work);
}

CUresult soft_GraphExecEventRecordNodeSetEvent_v1(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    struct work *work = NULL;
    CUresult result = work_from_event(WORK_RECORD, event, &work);
    return exec_set_work(hGraphExec, hNode, WORK_RECORD, result, work);
}

CUresult soft_GraphExecEventWaitNodeSetEvent_v1(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    struct work *work = NULL;
    CUresult result = work_from_event(WORK_WAIT, event, &work);
    return exec_set_work(hGraphExec, hNode, WORK_WAIT, result, work);
}

/* Kernels, copies and memsets can be disabled. */
static bool node_can_be_disabled(const struct node *node)
{
    return node->work->kind == WORK_KERNEL || node->work->kind == WORK_COPY || node->work->kind == WORK_SET;
}

CUresult soft_GraphNodeSetEnabled_v1(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    struct exec *exec = handle_find(OBJECT_EXEC, hGraphExec);
    size_t index;
    const struct node *node = exec_find_node(exec, hNode, &index);
    if (node == NULL || !node_can_be_disabled(node))
        return CUDA_ERROR_INVALID_VALUE;
    exec->disabled[index] = isEnabled == 0;
    return exec_rebuild(exec);
}

CUresult soft_GraphNodeGetEnabled_v1(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled)
{
    const struct exec *exec = handle_find(OBJECT_EXEC, hGraphExec);
    size_t index;
    const struct node *node = exec_find_node(exec, hNode, &index);
    if (node == NULL || isEnabled == NULL || !node_can_be_disabled(node))
        return CUDA_ERROR_INVALID_VALUE;
    *isEnabled = !exec->disabled[index];
    return CUDA_SUCCESS;
}
