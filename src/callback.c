/* SPDX-License-Identifier: MIT */
/*
 * Functions of the host in a stream, whose user data is released exactly once.
 *
 * The driver never calls a host function behind a fault, but it does call a status callback, once, whatever happened
 * (FACTS; also when the stream or its context is destroyed with the callback pending: it comes before that returns,
 * measured on 580). So a host function with something to release goes as a status callback. In a capture there are no
 * status callbacks, but user objects, which live as long as the graph and what was made of it.
 */
#include "objects.h"

#include <stdlib.h>

struct call {
    CUhostFn host;           /* either this */
    CUstreamCallback status; /* or this */
    void *user;
    void (*release)(void *user); /* or NULL */
};

/* Ends a call that will not be made, or was; returns `result`. */
static CUresult release(const struct call *call, CUresult result)
{
    if (call->release != NULL)
        call->release(call->user);
    return result;
}

static void CUDA_CB run_call(CUstream stream, CUresult status, void *user)
{
    struct call call = *(struct call *)user;
    free(user);
    if (call.status != NULL)
        call.status(stream, status, call.user);
    else if (status == CUDA_SUCCESS)
        call.host(call.user);
    release(&call, status);
}

static CUresult add_callback(const char *function, CUstream stream, const struct call *call)
{
    struct call *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return release(call, no_memory(function));
    *kept = *call;
    CUresult result = cushim_table()->StreamAddCallback_v1(stream, run_call, kept, 0);
    if (result != CUDA_SUCCESS) {
        free(kept);
        release(call, cushim_report_call(result, CUSHIM_SLOT_StreamAddCallback_v1));
    }
    return result;
}

/* ---- In a capture ---- */

/*
 * What the user object of the graph holds. A driver may destroy the object later and on another thread, or, after a
 * sticky error, never. A refused call is released before the refusal returns, and the calls of a capture that was ended
 * with a sticky error are released with it: so whoever comes first does it.
 */
struct held_call {
    struct call call;
    atomic_bool released;
    atomic_uint holders; /* the object, the registration while it lasts, the capture while it is open */
    struct held_call *next;
};

static void let_go(struct held_call *held)
{
    if (atomic_fetch_sub(&held->holders, 1) == 1)
        free(held);
}

static void release_held(struct held_call *held)
{
    if (!atomic_exchange(&held->released, true))
        release(&held->call, CUDA_SUCCESS);
    let_go(held);
}

struct held_call **cushim_priv_held_call_next(struct held_call *call)
{
    atomic_fetch_add(&call->holders, 1);
    return &call->next;
}

void cushim_priv_held_calls_end(struct held_call *calls, bool is_dead)
{
    while (calls != NULL) {
        struct held_call *next = calls->next;
        if (is_dead)
            release_held(calls);
        else
            let_go(calls);
        calls = next;
    }
}

static void CUDA_CB object_is_gone(void *user)
{
    release_held(user);
}

/* Makes the user object, as the graph's to release. On failure it is gone, or will be. */
static CUresult give_to_graph(CUgraph graph, struct held_call *held, CUuserObject *ret_object)
{
    const struct cushim_table *table = cushim_table();
    CUresult result =
        table->UserObjectCreate_v1(ret_object, held, object_is_gone, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (result != CUDA_SUCCESS) {
        atomic_store(&held->holders, 1);
        return cushim_report_call(result, CUSHIM_SLOT_UserObjectCreate_v1);
    }
    result = table->GraphRetainUserObject_v1(graph, *ret_object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (result != CUDA_SUCCESS)
        table->UserObjectRelease_v1(*ret_object, 1);
    return cushim_report_call(result, CUSHIM_SLOT_GraphRetainUserObject_v1);
}

/* The object is there before the node: a node without it could not be taken back. */
static CUresult launch_held(CUstream stream, CUgraph graph, struct held_call *held)
{
    const struct cushim_table *table = cushim_table();
    CUuserObject object = NULL;
    CUresult result = give_to_graph(graph, held, &object);
    if (result != CUDA_SUCCESS)
        return result;
    result = table->LaunchHostFunc_v1(stream, held->call.host, held->call.user);
    if (result != CUDA_SUCCESS)
        table->GraphReleaseUserObject_v1(graph, object, 1);
    return cushim_report_call(result, CUSHIM_SLOT_LaunchHostFunc_v1);
}

static CUresult launch_captured(const char *function, struct cushim_stream *stream, const struct call *call)
{
    const struct cushim_table *table = cushim_table();
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    if (cushim_slot_state(CUSHIM_SLOT_UserObjectCreate_v1) == CUSHIM_STATE_MISSING)
        return release(call, table->UserObjectCreate_v1(NULL, NULL, NULL, 0, 0));
    CUresult result = table->StreamGetCaptureInfo_v2(stream->handle, &status, NULL, &graph, NULL, NULL);
    if (result != CUDA_SUCCESS)
        return release(call, cushim_report_call(result, CUSHIM_SLOT_StreamGetCaptureInfo_v2));
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return release(call, cushim_report(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, function,
                                           "Something has ended the capture that the stream is in."));
    struct held_call *held = malloc(sizeof *held);
    if (held == NULL)
        return release(call, no_memory(function));
    held->call = *call;
    atomic_init(&held->released, false);
    atomic_init(&held->holders, 2);
    held->next = NULL;
    result = launch_held(stream->handle, graph, held);
    if (result != CUDA_SUCCESS) {
        release_held(held);
        return result;
    }
    cushim_priv_capture_add_call(stream, held);
    let_go(held);
    return result;
}

/* ---- What users call ---- */

CUresult cushim_stream_launch_host(struct cushim_stream *stream, CUhostFn fn, void *user,
                                   void (*release_fn)(void *user))
{
    static const char function[] = "cushim_stream_launch_host";
    const struct call call = {.host = fn, .user = user, .release = release_fn};
    if (stream == NULL)
        return release(&call, no_stream(function));
    if (fn == NULL)
        return release(&call, cushim_report(CUDA_ERROR_INVALID_VALUE, function, "The function is NULL."));
    if (release_fn == NULL)
        return cushim_report_call(cushim_table()->LaunchHostFunc_v1(stream->handle, fn, user),
                                  CUSHIM_SLOT_LaunchHostFunc_v1);
    if (cushim_priv_stream_is_capturing(stream->handle))
        return launch_captured(function, stream, &call);
    return add_callback(function, stream->handle, &call);
}

CUresult cushim_stream_add_callback(struct cushim_stream *stream, CUstreamCallback fn, void *user,
                                    void (*release_fn)(void *user))
{
    static const char function[] = "cushim_stream_add_callback";
    const struct call call = {.status = fn, .user = user, .release = release_fn};
    if (stream == NULL)
        return release(&call, no_stream(function));
    if (fn == NULL)
        return release(&call, cushim_report(CUDA_ERROR_INVALID_VALUE, function, "The function is NULL."));
    if (cushim_priv_stream_is_capturing(stream->handle))
        return release(&call, cushim_report(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                                            "A capture takes no status callback; the capture is not harmed."));
    return add_callback(function, stream->handle, &call);
}
