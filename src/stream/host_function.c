/* SPDX-License-Identifier: MIT */
/*
 * Functions of the host in a stream, whose user data is released exactly once.
 *
 * The driver never calls a host function behind a fault, but it does call a status callback, once, whatever happened
 * (FACTS; also when the stream or its context is destroyed with the callback pending: it comes before that returns,
 * observed with driver 580). So a host function with something to release goes as a status callback. In a capture there
 * are no status callbacks, but user objects, which live as long as the graph and what was made of it.
 */
#include "objects.h"

#include <stdlib.h>

struct host_call {
    CUhostFn host;           /* either this */
    CUstreamCallback status; /* or this */
    void *user;
    void (*release)(void *user); /* or NULL */
};

/* Ends a call that will not be made, or was; returns `result`. */
static CUresult host_call_release(const struct host_call *call, CUresult result)
{
    if (call->release != NULL)
        call->release(call->user);
    return result;
}

static void CUDA_CB host_call_run(CUstream stream, CUresult status, void *user)
{
    struct host_call call = *(struct host_call *)user;
    free(user);
    if (call.status != NULL)
        call.status(stream, status, call.user);
    else if (status == CUDA_SUCCESS)
        call.host(call.user);
    host_call_release(&call, status);
}

static CUresult host_call_enqueue(const char *function, CUstream stream, const struct host_call *call)
{
    struct host_call *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return host_call_release(call, fail_no_memory(function));
    *kept = *call;
    CUresult result = cushim_table()->StreamAddCallback_v1(stream, host_call_run, kept, 0);
    if (result != CUDA_SUCCESS) {
        free(kept);
        host_call_release(call, cushim_set_driver_error(result, CUSHIM_SLOT_StreamAddCallback_v1));
    }
    return result;
}

/* ---- In a capture ---- */

/*
 * What the user object of the graph holds. A driver may destroy the object later and on another thread, or, after a
 * sticky error, never. A refused call is released before the refusal returns, and the calls of a capture that was ended
 * with a sticky error are released with it: so whoever comes first does it.
 */
struct captured_call {
    struct host_call call;
    atomic_bool released;
    atomic_uint references; /* the object, the registration while it lasts, the capture while it is open */
    struct captured_call *next;
};

static void captured_call_unref(struct captured_call *held)
{
    if (atomic_fetch_sub(&held->references, 1) == 1)
        free(held);
}

static void captured_call_release(struct captured_call *held)
{
    if (!atomic_exchange(&held->released, true))
        host_call_release(&held->call, CUDA_SUCCESS);
    captured_call_unref(held);
}

struct captured_call **cush_captured_call_ref_next(struct captured_call *call)
{
    atomic_fetch_add(&call->references, 1);
    return &call->next;
}

void cush_captured_calls_end(struct captured_call *calls, bool is_dead)
{
    while (calls != NULL) {
        struct captured_call *next = calls->next;
        if (is_dead)
            captured_call_release(calls);
        else
            captured_call_unref(calls);
        calls = next;
    }
}

static void CUDA_CB captured_call_on_destroyed(void *user)
{
    captured_call_release(user);
}

/* Makes the user object, as the graph's to release. On failure it is gone, or will be. */
static CUresult captured_call_give_to_graph(CUgraph graph, struct captured_call *held, CUuserObject *out_object)
{
    const struct cushim_dispatch_table *table = cushim_table();
    CUresult result =
        table->UserObjectCreate_v1(out_object, held, captured_call_on_destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (result != CUDA_SUCCESS) {
        atomic_store(&held->references, 1);
        return cushim_set_driver_error(result, CUSHIM_SLOT_UserObjectCreate_v1);
    }
    result = table->GraphRetainUserObject_v1(graph, *out_object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (result != CUDA_SUCCESS)
        table->UserObjectRelease_v1(*out_object, 1);
    return cushim_set_driver_error(result, CUSHIM_SLOT_GraphRetainUserObject_v1);
}

/* The object is there before the node: a node without it could not be taken back. */
static CUresult captured_call_launch(CUstream stream, CUgraph graph, struct captured_call *held)
{
    const struct cushim_dispatch_table *table = cushim_table();
    CUuserObject object = NULL;
    CUresult result = captured_call_give_to_graph(graph, held, &object);
    if (result != CUDA_SUCCESS)
        return result;
    result = table->LaunchHostFunc_v1(stream, held->call.host, held->call.user);
    if (result != CUDA_SUCCESS)
        table->GraphReleaseUserObject_v1(graph, object, 1);
    return cushim_set_driver_error(result, CUSHIM_SLOT_LaunchHostFunc_v1);
}

static CUresult host_call_capture(const char *function, struct cushim_stream *stream, const struct host_call *call)
{
    const struct cushim_dispatch_table *table = cushim_table();
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    if (cushim_query_slot_state(CUSHIM_SLOT_UserObjectCreate_v1) == CUSHIM_STATE_MISSING)
        return host_call_release(call, table->UserObjectCreate_v1(NULL, NULL, NULL, 0, 0));
    CUresult result = table->StreamGetCaptureInfo_v2(stream->handle, &status, NULL, &graph, NULL, NULL);
    if (result != CUDA_SUCCESS)
        return host_call_release(call, cushim_set_driver_error(result, CUSHIM_SLOT_StreamGetCaptureInfo_v2));
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return host_call_release(call, cushim_set_error(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, function,
                                                        "Something has ended the capture that the stream is in."));
    struct captured_call *held = malloc(sizeof *held);
    if (held == NULL)
        return host_call_release(call, fail_no_memory(function));
    held->call = *call;
    atomic_init(&held->released, false);
    atomic_init(&held->references, 2);
    held->next = NULL;
    result = captured_call_launch(stream->handle, graph, held);
    if (result != CUDA_SUCCESS) {
        captured_call_release(held);
        return result;
    }
    cush_capture_add_call(stream, held);
    captured_call_unref(held);
    return result;
}

/* ---- What users call ---- */

CUresult cushim_stream_launch_host(struct cushim_stream *stream, CUhostFn fn, void *user,
                                   void (*release_fn)(void *user))
{
    static const char function[] = "cushim_stream_launch_host";
    const struct host_call call = {.host = fn, .user = user, .release = release_fn};
    if (stream == NULL)
        return host_call_release(&call, fail_no_stream(function));
    if (fn == NULL)
        return host_call_release(&call, cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The function is NULL."));
    if (release_fn == NULL)
        return cushim_set_driver_error(cushim_table()->LaunchHostFunc_v1(stream->handle, fn, user),
                                       CUSHIM_SLOT_LaunchHostFunc_v1);
    if (cush_stream_is_capturing(stream->handle))
        return host_call_capture(function, stream, &call);
    return host_call_enqueue(function, stream->handle, &call);
}

CUresult cushim_stream_add_callback(struct cushim_stream *stream, CUstreamCallback fn, void *user,
                                    void (*release_fn)(void *user))
{
    static const char function[] = "cushim_stream_add_callback";
    const struct host_call call = {.status = fn, .user = user, .release = release_fn};
    if (stream == NULL)
        return host_call_release(&call, fail_no_stream(function));
    if (fn == NULL)
        return host_call_release(&call, cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The function is NULL."));
    if (cush_stream_is_capturing(stream->handle))
        return host_call_release(
            &call, cushim_set_error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                                    "A capture takes no status callback; the capture is not invalidated."));
    return host_call_enqueue(function, stream->handle, &call);
}
