/* SPDX-License-Identifier: MIT */
/*
 * Host functions in streams, whose user data is destroyed exactly once.
 *
 * The driver never calls a host function behind a fault, but it calls a status callback once, whatever happens: also if
 * the stream or its context is destroyed while the callback is pending; the callback then runs before that call returns
 * (observed with driver 580). So a host function with user data to destroy is enqueued as a status callback. A capture
 * accepts no status callback. There a user object is used, which lives as long as the graph and everything that was
 * made from it.
 */
#include <stdlib.h>

#include "stream_internal.h"

static void CUDA_CB host_call_on_reached(CUstream stream, CUresult status, void *user)
{
    struct host_call call = *(struct host_call *)user;
    free(user);
    if (call.status != NULL)
        call.status(stream, status, call.user);
    else if (status == CUDA_SUCCESS)
        call.host(call.user);
    host_call_destroy_user(&call, status);
}

static CUresult host_call_enqueue(const char *function, CUstream stream, const struct host_call *call)
{
    struct host_call *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return host_call_destroy_user(call, fail_out_of_memory(function));
    *copy = *call;
    CUresult result = CUSH_CALL(StreamAddCallback_v1, stream, host_call_on_reached, copy, 0);
    if (result != CUDA_SUCCESS) {
        free(copy);
        host_call_destroy_user(call, result);
    }
    return result;
}

static CUresult host_call_capture(const char *function, struct cushim_stream *stream, const struct host_call *call)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    struct captured_call *captured = NULL;
    CUresult result = CUSH_CALL(StreamGetCaptureInfo_v2, stream->handle, &status, NULL, &graph, NULL, NULL);
    if (result != CUDA_SUCCESS)
        return host_call_destroy_user(call, result);
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return host_call_destroy_user(call,
                                      cushim_error_set(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, function,
                                                       "The capture of the stream was invalidated or has ended."));
    result = cush_captured_call_launch(function, stream->handle, graph, call, &captured);
    if (result != CUDA_SUCCESS)
        return result;
    cush_capture_add_call(stream, captured);
    cush_captured_call_unref(captured);
    return result;
}

CUresult cushim_stream_launch_host(struct cushim_stream *stream, CUhostFn fn, void *user,
                                   void (*destroy_user)(void *user))
{
    static const char function[] = "cushim_stream_launch_host";
    const struct host_call call = {.host = fn, .user = user, .destroy_user = destroy_user};
    if (stream == NULL)
        return host_call_destroy_user(&call, fail_null_stream(function));
    if (fn == NULL)
        return host_call_destroy_user(&call, fail_null_function(function));
    if (destroy_user == NULL)
        return CUSH_CALL(LaunchHostFunc_v1, stream->handle, fn, user);
    if (cush_stream_is_capturing(stream->handle))
        return host_call_capture(function, stream, &call);
    return host_call_enqueue(function, stream->handle, &call);
}

CUresult cushim_stream_add_callback(struct cushim_stream *stream, CUstreamCallback fn, void *user,
                                    void (*destroy_user)(void *user))
{
    static const char function[] = "cushim_stream_add_callback";
    const struct host_call call = {.status = fn, .user = user, .destroy_user = destroy_user};
    if (stream == NULL)
        return host_call_destroy_user(&call, fail_null_stream(function));
    if (fn == NULL)
        return host_call_destroy_user(&call, fail_null_function(function));
    CUresult result = cush_stream_check_capture(function, stream->handle);
    if (result != CUDA_SUCCESS)
        return host_call_destroy_user(&call, result);
    return host_call_enqueue(function, stream->handle, &call);
}
