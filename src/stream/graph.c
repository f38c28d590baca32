/* SPDX-License-Identifier: MIT */
/* Graphs and executable graphs. */
#include "stream_internal.h"

#include <stdlib.h>

struct cushim_graph *cush_graph_new(CUgraph handle, bool owned)
{
    struct cushim_graph *graph = calloc(1, sizeof *graph);
    if (graph != NULL) {
        atomic_init(&graph->references, 1);
        atomic_init(&graph->handle, handle);
        graph->owned = owned;
    }
    return graph;
}

struct cushim_graph *cush_graph_ref(struct cushim_graph *graph)
{
    atomic_fetch_add_explicit(&graph->references, 1, memory_order_relaxed);
    return graph;
}

CUresult cush_graph_unref(struct cushim_graph *graph)
{
    CUresult result = CUDA_SUCCESS;
    if (graph == NULL || atomic_fetch_sub_explicit(&graph->references, 1, memory_order_acq_rel) != 1)
        return CUDA_SUCCESS;
    CUgraph handle = atomic_load(&graph->handle);
    if (graph->owned && handle != NULL)
        result = cushim_table_legacy()->GraphDestroy_v1(handle);
    free(graph);
    return result;
}

CUresult cushim_graph_create(struct cushim_graph **out_graph)
{
    static const char function[] = "cushim_graph_create";
    CUgraph handle = NULL;
    if (out_graph == NULL)
        return fail_null_output(function);
    struct cushim_graph *graph = cush_graph_new(NULL, true);
    if (graph == NULL)
        return fail_out_of_memory(function);
    CUresult result = CUSH_CALL(GraphCreate_v1, &handle, 0);
    if (result != CUDA_SUCCESS) {
        free(graph);
        return result;
    }
    atomic_store(&graph->handle, handle);
    *out_graph = graph;
    return CUDA_SUCCESS;
}

static CUresult graph_wrap(const char *function, CUgraph handle, bool owned, struct cushim_graph **out_graph)
{
    if (handle == NULL)
        return fail_null_graph(function);
    if (out_graph == NULL)
        return fail_null_output(function);
    struct cushim_graph *graph = cush_graph_new(handle, owned);
    if (graph == NULL)
        return fail_out_of_memory(function);
    *out_graph = graph;
    return CUDA_SUCCESS;
}

CUresult cushim_graph_adopt(CUgraph handle, struct cushim_graph **out_graph)
{
    return graph_wrap("cushim_graph_adopt", handle, true, out_graph);
}

CUresult cushim_graph_borrow(CUgraph handle, struct cushim_graph **out_graph)
{
    return graph_wrap("cushim_graph_borrow", handle, false, out_graph);
}

CUresult cushim_graph_release(struct cushim_graph **graph, CUgraph *out_handle)
{
    static const char function[] = "cushim_graph_release";
    if (graph == NULL || cushim_graph_handle(*graph) == NULL)
        return fail_null_graph(function);
    if (out_handle == NULL)
        return fail_null_output(function);
    if (atomic_load(&(*graph)->captures) != 0)
        return cushim_error_set(CUDA_ERROR_ILLEGAL_STATE, function,
                                "A capture into the graph is open. End the capture first.");
    *out_handle = cushim_graph_handle(*graph);
    free(*graph);
    *graph = NULL;
    return CUDA_SUCCESS;
}

CUresult cushim_graph_destroy(struct cushim_graph **graph)
{
    if (graph == NULL)
        return CUDA_SUCCESS;
    struct cushim_graph *destroyed = *graph;
    *graph = NULL;
    return cushim_error_set_driver(cush_graph_unref(destroyed), CUSHIM_SLOT_GraphDestroy_v1);
}

CUgraph cushim_graph_handle(const struct cushim_graph *graph)
{
    return graph != NULL ? atomic_load(&((struct cushim_graph *)without_const(graph))->handle) : NULL;
}

struct cushim_graph_exec {
    CUgraphExec handle;
    struct cushim_context *context; /* or NULL */
};

static CUresult fail_null_exec(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_HANDLE, function, "The executable graph is NULL or was destroyed.");
}

static CUresult graph_instantiate_handle(CUgraph graph, struct cushim_context *context, unsigned flags,
                                         CUgraphExec *out_handle)
{
    CUcontext before = NULL;
    CUresult result = context != NULL ? cushim_context_enter(context, &before) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(GraphInstantiateWithFlags_v1, out_handle, graph, flags);
    CUresult left = context != NULL ? cushim_context_leave(before) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && left != CUDA_SUCCESS)
        cushim_table_legacy()->GraphExecDestroy_v1(*out_handle);
    return result != CUDA_SUCCESS ? result : left;
}

CUresult cushim_graph_instantiate(struct cushim_graph *graph, struct cushim_context *context, unsigned flags,
                                  struct cushim_graph_exec **out_exec)
{
    static const char function[] = "cushim_graph_instantiate";
    CUgraph handle = cushim_graph_handle(graph);
    if (handle == NULL)
        return fail_null_graph(function);
    if (out_exec == NULL)
        return fail_null_output(function);
    struct cushim_graph_exec *exec = calloc(1, sizeof *exec);
    if (exec == NULL)
        return fail_out_of_memory(function);
    CUresult result = graph_instantiate_handle(handle, context, flags, &exec->handle);
    if (result != CUDA_SUCCESS) {
        free(exec);
        return result;
    }
    exec->context = cush_context_ref(context);
    *out_exec = exec;
    return CUDA_SUCCESS;
}

CUresult cushim_graph_exec_destroy(struct cushim_graph_exec **exec)
{
    if (exec == NULL || *exec == NULL)
        return CUDA_SUCCESS;
    struct cushim_graph_exec *destroyed = *exec;
    *exec = NULL;
    /* A refusal would leave the driver's executable behind, and user data that is never destroyed. */
    CUstreamCaptureMode mode;
    bool changed = cush_capture_mode_relax(&mode);
    CUresult result = CUSH_CALL(GraphExecDestroy_v1, destroyed->handle);
    cush_capture_mode_restore(changed, mode);
    CUresult unref = cush_context_unref(destroyed->context);
    free(destroyed);
    return result != CUDA_SUCCESS ? result : unref;
}

CUgraphExec cushim_graph_exec_handle(const struct cushim_graph_exec *exec)
{
    return exec != NULL ? exec->handle : NULL;
}

CUresult cushim_graph_exec_launch(struct cushim_graph_exec *exec, struct cushim_stream *stream)
{
    if (exec == NULL)
        return fail_null_exec("cushim_graph_exec_launch");
    if (stream == NULL)
        return fail_null_stream("cushim_graph_exec_launch");
    return CUSH_CALL(GraphLaunch_v1, exec->handle, stream->handle);
}

CUresult cushim_graph_exec_upload(struct cushim_graph_exec *exec, struct cushim_stream *stream)
{
    if (exec == NULL)
        return fail_null_exec("cushim_graph_exec_upload");
    if (stream == NULL)
        return fail_null_stream("cushim_graph_exec_upload");
    return CUSH_CALL(GraphUpload_v1, exec->handle, stream->handle);
}

CUresult cushim_graph_exec_update(struct cushim_graph_exec *exec, struct cushim_graph *graph,
                                  CUgraphExecUpdateResult *out_result)
{
    static const char function[] = "cushim_graph_exec_update";
    CUgraph handle = cushim_graph_handle(graph);
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    enum cushim_slot slot = CUSHIM_SLOT_GraphExecUpdate_v2;
    CUresult result;
    if (exec == NULL)
        return fail_null_exec(function);
    if (handle == NULL)
        return fail_null_graph(function);
    if (cushim_slot_get_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING) {
        result = cushim_table_legacy()->GraphExecUpdate_v2(exec->handle, handle, &info);
    } else {
        CUgraphNode node = NULL;
        slot = CUSHIM_SLOT_GraphExecUpdate_v1;
        result = cushim_table_legacy()->GraphExecUpdate_v1(exec->handle, handle, &node, &info.result);
    }
    if (out_result != NULL && (result == CUDA_SUCCESS || result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE))
        *out_result = info.result;
    return cushim_error_set_driver(result, slot);
}
