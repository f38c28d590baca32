/* SPDX-License-Identifier: MIT */
/* Executables: a copy of a graph, and its work in an order that respects every edge. */
#include "graph_exec.h"

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "context.h"
#include "queue.h"
#include "stream.h"

static void exec_free(void *object)
{
    struct exec *exec = object;
    if (exec->shape != NULL)
        graph_destroy(exec->shape);
    if (exec->last != NULL)
        op_unref(exec->last);
    work_unref(exec->hold);
    free(exec->sequence);
    free(exec->disabled);
    free(exec);
}

struct sequence {
    struct work **items;
    size_t count, capacity;
};

static bool exec_add(struct sequence *sequence, struct work *work)
{
    if (!soft_reserve((void **)&sequence->items, &sequence->capacity, sequence->count + 1, sizeof(struct work *)))
        return false;
    sequence->items[sequence->count++] = work;
    return true;
}

/* Adds the graph's work, that of child graphs included. Nodes without an order between them stay in the order of
 * creation. */
static CUresult exec_flatten(struct graph *graph, const bool *disabled, struct sequence *sequence)
{
    size_t left = graph->count;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->marked = false;
    while (left > 0) {
        size_t before_pass = left;
        for (size_t i = 0; i < graph->count; i++) {
            struct node *node = graph->nodes[i];
            bool ready = !node->marked;
            for (size_t k = 0; ready && k < node->before.count; k++)
                ready = node->before.nodes[k]->marked;
            if (!ready)
                continue;
            node->marked = true;
            left--;
            CUresult result = CUDA_SUCCESS;
            if (node->work->kind == WORK_CHILD)
                result = exec_flatten(node->work->child, NULL, sequence);
            else if (disabled != NULL && disabled[i])
                continue;
            else if (!exec_add(sequence, node->work))
                result = CUDA_ERROR_OUT_OF_MEMORY;
            if (result != CUDA_SUCCESS)
                return result;
        }
        if (left == before_pass)
            return CUDA_ERROR_INVALID_VALUE; /* a cycle */
    }
    return CUDA_SUCCESS;
}

static struct work *exec_keep_graph(struct graph *shape)
{
    struct work *work = work_new(WORK_KEEP_GRAPH);
    if (work != NULL) {
        object_ref(shape);
        work->held = shape;
    }
    return work;
}

CUresult exec_rebuild(struct exec *exec)
{
    struct sequence sequence = {0};
    CUresult result = exec_flatten(exec->shape, exec->disabled, &sequence);
    struct work *last = result == CUDA_SUCCESS ? exec_keep_graph(exec->shape) : NULL;
    if (result == CUDA_SUCCESS && (last == NULL || !exec_add(&sequence, last)))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        work_unref(last);
        free(sequence.items);
        return result;
    }
    work_unref(exec->hold);
    exec->hold = last;
    free(exec->sequence);
    exec->sequence = sequence.items;
    exec->length = sequence.count;
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
    struct exec *exec = object_new(OBJECT_EXEC, sizeof(*exec), exec_free);
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

/* Every launch of an executable waits for the one before, even if that was in another stream. */
static CUresult exec_push(struct stream *stream, struct exec *exec)
{
    struct op *op = exec->last;
    if (!queue_reserve(stream))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < exec->length; i++) {
        op = queue_push(stream, exec->sequence[i], i == 0 ? op : NULL);
        if (op == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    op_ref(op);
    if (exec->last != NULL)
        op_unref(exec->last);
    exec->last = op;
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
    if (result == CUDA_SUCCESS && soft_forked())
        result = CUDA_ERROR_NOT_INITIALIZED;
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
