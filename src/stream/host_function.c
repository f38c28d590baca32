/* SPDX-License-Identifier: MIT */
/*
 * Functions of the host in a stream, whose user data is released exactly once.
 *
 * The driver never calls a host function behind a fault, but it does call a status callback, once, whatever happened
 * (FACTS; also when the stream or its context is destroyed with the callback pending: it comes before that returns,
 * observed with driver 580). So a host function with something to release goes as a status callback. In a capture there
 * are no status callbacks, but user objects, which live as long as the graph and what was made of it.
 */
#include "captured_call.h"

#include <stdlib.h>

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
    struct captured_call *captured = NULL;
    result = cush_captured_call_launch(function, stream->handle, graph, call, &captured);
    if (result != CUDA_SUCCESS)
        return result;
    cush_capture_add_call(stream, captured);
    cush_captured_call_unref(captured);
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
