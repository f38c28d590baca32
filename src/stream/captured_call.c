/* SPDX-License-Identifier: MIT */
#include "stream_internal.h"

#include <stdlib.h>

/*
 * The user object of the graph points to this. A driver may destroy the user object later and on another thread, or,
 * after a sticky error, never. A refused call is released before the refusal returns, and the calls of a capture that
 * ended with a sticky error are released with the capture. Whichever runs first releases the user data.
 */
struct captured_call {
    struct host_call call;
    atomic_bool released;
    atomic_uint references; /* the user object, the caller during the launch, the capture while it is open */
    struct captured_call *next;
};

void cush_captured_call_unref(struct captured_call *call)
{
    if (atomic_fetch_sub(&call->references, 1) == 1)
        free(call);
}

static void captured_call_release(struct captured_call *call)
{
    if (!atomic_exchange(&call->released, true))
        host_call_destroy_user(&call->call, CUDA_SUCCESS);
    cush_captured_call_unref(call);
}

struct captured_call **cush_captured_call_ref_next(struct captured_call *call)
{
    atomic_fetch_add(&call->references, 1);
    return &call->next;
}

void cush_captured_calls_end(struct captured_call *calls, bool has_sticky_error)
{
    while (calls != NULL) {
        struct captured_call *next = calls->next;
        if (has_sticky_error)
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

/* Creates the user object and moves it to the graph. On failure the user object is destroyed now or later. */
static CUresult captured_call_attach(struct captured_call *call, CUgraph graph, CUuserObject *out_object)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    CUresult result = CUSH_CALL(UserObjectCreate_v1, out_object, call, captured_call_on_destroyed, 1,
                                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (result != CUDA_SUCCESS) {
        atomic_store(&call->references, 1);
        return result;
    }
    result = CUSH_CALL(GraphRetainUserObject_v1, graph, *out_object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (result != CUDA_SUCCESS)
        table->UserObjectRelease_v1(*out_object, 1);
    return result;
}

/* The user object comes before the node: a node without a user object could not be removed again. */
static CUresult captured_call_enqueue(struct captured_call *call, CUstream stream, CUgraph graph)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    CUuserObject object = NULL;
    CUresult result = captured_call_attach(call, graph, &object);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(LaunchHostFunc_v1, stream, call->call.host, call->call.user);
    if (result != CUDA_SUCCESS)
        table->GraphReleaseUserObject_v1(graph, object, 1);
    return result;
}

CUresult cush_captured_call_launch(const char *function, CUstream stream, CUgraph graph, const struct host_call *call,
                                   struct captured_call **out_call)
{
    struct captured_call *captured = malloc(sizeof *captured);
    if (captured == NULL)
        return host_call_destroy_user(call, fail_out_of_memory(function));
    captured->call = *call;
    atomic_init(&captured->released, false);
    atomic_init(&captured->references, 2);
    captured->next = NULL;
    CUresult result = captured_call_enqueue(captured, stream, graph);
    if (result == CUDA_SUCCESS)
        *out_call = captured;
    else
        captured_call_release(captured);
    return result;
}
