/* SPDX-License-Identifier: MIT */
#include "captured_call.h"

#include <stdlib.h>

/*
 * What the user object of the graph holds. A driver may destroy the object later and on another thread, or, after a
 * sticky error, never. A refused call is released before the refusal returns, and the calls of a capture that was ended
 * with a sticky error are released with it: so whoever comes first does it.
 */
struct captured_call {
    struct host_call call;
    atomic_bool released;
    atomic_uint holders; /* the object, the registration while it lasts, the capture while it is open */
    struct captured_call *next;
};

void cush_captured_call_unref(struct captured_call *captured)
{
    if (atomic_fetch_sub(&captured->holders, 1) == 1)
        free(captured);
}

static void captured_call_release(struct captured_call *captured)
{
    if (!atomic_exchange(&captured->released, true))
        host_call_release(&captured->call, CUDA_SUCCESS);
    cush_captured_call_unref(captured);
}

struct captured_call **cush_captured_call_ref_next(struct captured_call *call)
{
    atomic_fetch_add(&call->holders, 1);
    return &call->next;
}

void cush_captured_calls_end(struct captured_call *calls, bool is_dead)
{
    while (calls != NULL) {
        struct captured_call *next = calls->next;
        if (is_dead)
            captured_call_release(calls);
        else
            cush_captured_call_unref(calls);
        calls = next;
    }
}

static void CUDA_CB captured_call_on_destroyed(void *user)
{
    captured_call_release(user);
}

/* Makes the user object, as the graph's to release. On failure it is gone, or will be. */
static CUresult captured_call_give_to_graph(CUgraph graph, struct captured_call *captured, CUuserObject *out_object)
{
    const struct cushim_dispatch_table *table = cushim_table();
    CUresult result = table->UserObjectCreate_v1(out_object, captured, captured_call_on_destroyed, 1,
                                                 CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (result != CUDA_SUCCESS) {
        atomic_store(&captured->holders, 1);
        return cushim_set_driver_error(result, CUSHIM_SLOT_UserObjectCreate_v1);
    }
    result = table->GraphRetainUserObject_v1(graph, *out_object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (result != CUDA_SUCCESS)
        table->UserObjectRelease_v1(*out_object, 1);
    return cushim_set_driver_error(result, CUSHIM_SLOT_GraphRetainUserObject_v1);
}

/* The object is there before the node: a node without it could not be taken back. */
static CUresult captured_call_launch(CUstream stream, CUgraph graph, struct captured_call *captured)
{
    const struct cushim_dispatch_table *table = cushim_table();
    CUuserObject object = NULL;
    CUresult result = captured_call_give_to_graph(graph, captured, &object);
    if (result != CUDA_SUCCESS)
        return result;
    result = table->LaunchHostFunc_v1(stream, captured->call.host, captured->call.user);
    if (result != CUDA_SUCCESS)
        table->GraphReleaseUserObject_v1(graph, object, 1);
    return cushim_set_driver_error(result, CUSHIM_SLOT_LaunchHostFunc_v1);
}

CUresult cush_captured_call_launch(const char *function, CUstream stream, CUgraph graph, const struct host_call *call,
                                   struct captured_call **out_call)
{
    struct captured_call *captured = malloc(sizeof *captured);
    if (captured == NULL)
        return host_call_release(call, fail_no_memory(function));
    captured->call = *call;
    atomic_init(&captured->released, false);
    atomic_init(&captured->holders, 2);
    captured->next = NULL;
    CUresult result = captured_call_launch(stream, graph, captured);
    if (result != CUDA_SUCCESS) {
        captured_call_release(captured);
        return result;
    }
    *out_call = captured;
    return CUDA_SUCCESS;
}
