/* SPDX-License-Identifier: MIT */
/* Executables: a copy of a graph, and its work in an order that respects every edge; launches and updates. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

struct exec {
    struct object object;
    struct graph *shape; /* a copy of the graph, whose nodes refer to their originals; owned */
    bool *disabled;      /* for each of its nodes */
    struct sequence sequence;
    struct work *keeper; /* ends a launch: keeps the shape and its user objects until every launch has ended */
    struct op *last;     /* of the latest launch; a reference, or NULL */
    cuuint64_t flags;
    const void *source; /* the handle and the id of the graph, if it allocates or frees memory */
    uint64_t source_id;
};

static void exec_free(void *object)
{
    struct exec *exec = object;
    struct graph *source = handle_find(OBJECT_GRAPH, exec->source);
    if (source != NULL && source->id == exec->source_id)
        source->is_instantiated = false;
    if (exec->shape != NULL)
        graph_destroy(exec->shape);
    if (exec->last != NULL)
        op_unref(exec->last);
    work_unref(exec->keeper);
    free(exec->sequence.items);
    free(exec->disabled);
    free(exec);
}

static struct work *exec_keep_graph(struct graph *shape)
{
    struct work *work = work_new(WORK_KEEP_GRAPH);
    if (work != NULL) {
        object_ref(shape);
        work->kept = shape;
    }
    return work;
}

/* Rebuilds the sequence from the shape. Fails with 1 if there is a cycle, or with 2. */
static CUresult exec_rebuild(struct exec *exec)
{
    struct sequence sequence = {0};
    CUresult result = graph_flatten(exec->shape, exec->disabled, &sequence);
    struct work *keeper = result == CUDA_SUCCESS ? exec_keep_graph(exec->shape) : NULL;
    if (result == CUDA_SUCCESS && keeper == NULL)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        free(sequence.items);
        return result;
    }
    work_unref(exec->keeper);
    exec->keeper = keeper;
    free(exec->sequence.items);
    exec->sequence = sequence;
    return CUDA_SUCCESS;
}

static CUresult exec_instantiate(CUgraphExec *phGraphExec, CUgraph hGraph, cuuint64_t flags)
{
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    if (phGraphExec == NULL || graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = capture_unsafe();
    struct context *context;
    if (result == CUDA_SUCCESS)
        result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (graph->is_instantiated)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct exec *exec = object_new(OBJECT_EXEC, sizeof *exec, exec_free);
    if (exec == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->flags = flags;
    exec->shape = graph_copy(graph);
    exec->disabled = calloc(graph->count + 1, sizeof(bool));
    result = exec->shape == NULL || exec->disabled == NULL ? CUDA_ERROR_OUT_OF_MEMORY : exec_rebuild(exec);
    if (result == CUDA_SUCCESS && !handle_publish(exec))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        exec_free(exec);
        return result;
    }
    if (graph->memory_nodes > 0) {
        graph->is_instantiated = true;
        exec->source = graph;
        exec->source_id = graph->id;
    }
    *phGraphExec = (CUgraphExec)exec;
    return CUDA_SUCCESS;
}

CUresult soft_GraphInstantiateWithFlags_v1(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    unsigned known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    if (soft_version >= 11070)
        known |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if ((flags & ~(unsigned long long)known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return exec_instantiate(phGraphExec, hGraph, flags);
}

CUresult soft_GraphInstantiateWithParams_v1(CUgraphExec *phGraphExec, CUgraph hGraph,
                                            CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    if (instantiateParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((instantiateParams->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (instantiateParams->flags > 0xf)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = exec_instantiate(phGraphExec, hGraph, instantiateParams->flags);
    instantiateParams->hErrNode_out = NULL;
    instantiateParams->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult soft_GraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                                  size_t bufferSize)
{
    if (logBuffer != NULL && bufferSize > 0)
        logBuffer[0] = '\0';
    CUresult result = exec_instantiate(phGraphExec, hGraph, 0);
    if (phErrorNode != NULL)
        *phErrorNode = NULL;
    return result;
}

CUresult soft_GraphInstantiate_v1(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                                  size_t bufferSize)
{
    return soft_GraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult soft_GraphExecGetFlags_v1(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    const struct exec *exec = handle_find(OBJECT_EXEC, hGraphExec);
    if (exec == NULL || flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

CUresult soft_GraphExecDestroy_v1(CUgraphExec hGraphExec)
{
    struct exec *exec = handle_find(OBJECT_EXEC, hGraphExec);
    if (exec == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = capture_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    handle_withdraw(exec);
    object_unref(exec); /* pending launches keep the work that they need */
    return CUDA_SUCCESS;
}

/* Memory that a launch allocates must be freed before the next one, unless that frees it. Memory that it frees must be
 * allocated by an earlier launch, or by this one. */
static CUresult exec_check_memory(const struct exec *exec)
{
    bool frees = (exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    for (size_t i = 0; i < exec->sequence.count; i++) {
        const struct work *work = exec->sequence.items[i];
        if (work->kind == WORK_ALLOC && work->block->is_allocated && !frees)
            return CUDA_ERROR_INVALID_VALUE;
        if (work->kind == WORK_FREE && !work->block->is_allocated && work->block->allocated_in != exec->source_id)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static void exec_launch_memory(const struct exec *exec)
{
    for (size_t i = 0; i < exec->sequence.count; i++) {
        const struct work *work = exec->sequence.items[i];
        if (work_is_of_memory(work))
            block_launch(work->block, work->kind == WORK_ALLOC);
    }
}

/* Every launch of an executable waits for the one before, even if that was in another stream. */
static CUresult exec_push(struct stream *stream, struct exec *exec)
{
    struct op *op = exec->last;
    if (!queue_reserve(stream))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i <= exec->sequence.count; i++) {
        struct work *work = i < exec->sequence.count ? exec->sequence.items[i] : exec->keeper;
        op = queue_push(stream, work, i == 0 ? op : NULL);
        if (op == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    op_ref(op);
    if (exec->last != NULL)
        op_unref(exec->last);
    exec->last = op;
    exec_launch_memory(exec);
    return CUDA_SUCCESS;
}

CUresult soft_GraphLaunch_v1(CUgraphExec hGraph, CUstream hStream)
{
    struct exec *exec = handle_find(OBJECT_EXEC, hGraph);
    struct stream *stream = NULL;
    if (exec == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_find(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = capture_forbid(stream); /* it does not become a child graph */
    if (result == CUDA_SUCCESS)
        result = capture_implicit(stream, true);
    if (result == CUDA_SUCCESS && queue_is_forked())
        result = CUDA_ERROR_NOT_INITIALIZED;
    if (result == CUDA_SUCCESS)
        result = exec_check_memory(exec);
    return result == CUDA_SUCCESS ? exec_push(stream, exec) : result;
}

/* softcuda has no device to upload to. */
CUresult soft_GraphUpload_v1(CUgraphExec hGraph, CUstream hStream)
{
    struct stream *stream = NULL;
    if (handle_find(OBJECT_EXEC, hGraph) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_find(hStream, &stream);
    return result == CUDA_SUCCESS ? capture_forbid(stream) : result;
}

static void shape_number(struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->index = i;
}

/* Compares node by node, in the order of their creation. */
static CUgraphExecUpdateResult shape_compare(struct graph *old, struct graph *new, struct node **out_node)
{
    *out_node = NULL;
    if (old == new) /* a child graph that both share */
        return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    shape_number(new);
    if (old->count != new->count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < new->count; i++) {
        *out_node = new->nodes[i];
        if (old->nodes[i]->dependencies.count != new->nodes[i]->dependencies.count)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        for (size_t k = 0; k < new->nodes[i]->dependencies.count; k++)
            if (node_set_find(&old->nodes[i]->dependencies, old->nodes[new->nodes[i]->dependencies.nodes[k]->index])
                == NODE_SET_NONE)
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

CUresult soft_GraphExecNodeSetParams_v1(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct work *work = NULL;
    if (nodeParams == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = work_from_params(nodeParams, &work);
    return exec_set_work(hGraphExec, hNode, work == NULL ? WORK_EMPTY : work->kind, result, work);
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
