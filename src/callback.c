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

static void CUDA_CB release_object(void *user)
{
    struct call call = *(struct call *)user;
    free(user);
    release(&call, CUDA_SUCCESS);
}

/* Gives the graph of the capture a user object that releases; from here on it is the graph's to release. */
static CUresult give_to_graph(const char *function, CUgraph graph, const struct call *call, CUuserObject *ret_object)
{
    const struct cushim_table *table = cushim_table();
    struct call *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return release(call, no_memory(function));
    *kept = *call;
    CUresult result =
        table->UserObjectCreate_v1(ret_object, kept, release_object, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (result != CUDA_SUCCESS) {
        free(kept);
        return release(call, cushim_report_call(result, CUSHIM_SLOT_UserObjectCreate_v1));
    }
    result = table->GraphRetainUserObject_v1(graph, *ret_object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (result != CUDA_SUCCESS)
        table->UserObjectRelease_v1(*ret_object, 1);
    return cushim_report_call(result, CUSHIM_SLOT_GraphRetainUserObject_v1);
}

static CUresult launch_captured(const char *function, CUstream stream, const struct call *call)
{
    const struct cushim_table *table = cushim_table();
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    CUuserObject object = NULL;
    if (cushim_slot_state(CUSHIM_SLOT_UserObjectCreate_v1) == CUSHIM_STATE_MISSING)
        return release(call, table->UserObjectCreate_v1(&object, NULL, NULL, 0, 0));
    CUresult result = table->StreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL);
    if (result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (result != CUDA_SUCCESS)
        return release(call, cushim_report_call(result, CUSHIM_SLOT_StreamGetCaptureInfo_v2));
    result = give_to_graph(function, graph, call, &object);
    if (result != CUDA_SUCCESS)
        return result;
    result = table->LaunchHostFunc_v1(stream, call->host, call->user);
    if (result != CUDA_SUCCESS)
        table->GraphReleaseUserObject_v1(graph, object, 1);
    return cushim_report_call(result, CUSHIM_SLOT_LaunchHostFunc_v1);
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
        return launch_captured(function, stream->handle, &call);
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
