/* SPDX-License-Identifier: MIT */
/* Streams: creating, wrapping, releasing, destroying, waiting. */

#include "stream_internal.h"

static bool stream_is_special(CUstream handle)
{
    return handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

/* A stream of a green context is created by another driver function, which needs no current context. */
static CUresult stream_create_handle(struct cushim_context *context, unsigned flags, int priority, CUstream *out_handle)
{
    CUcontext before = NULL;
    if (context->green != NULL)
        return CUSH_CALL(GreenCtxStreamCreate_v1, out_handle, context->green, flags, priority);
    CUresult result = cushim_context_enter(context, &before);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(StreamCreateWithPriority_v1, out_handle, flags, priority);
    CUresult left = cushim_context_leave(before);
    if (result == CUDA_SUCCESS && left != CUDA_SUCCESS)
        cushim_table_legacy()->StreamDestroy_v2(*out_handle);
    return result != CUDA_SUCCESS ? result : left;
}

CUresult cushim_stream_create(struct cushim_context *context, unsigned flags, int priority,
                              struct cushim_stream **out_stream)
{
    static const char function[] = "cushim_stream_create";
    if (context == NULL)
        return fail_null_context(function);
    if (out_stream == NULL)
        return fail_null_output(function);
    struct cushim_stream *stream = cush_stream_new(NULL, true);
    if (stream == NULL)
        return fail_out_of_memory(function);
    CUresult result = stream_create_handle(context, flags, priority, &stream->handle);
    if (result != CUDA_SUCCESS) {
        cush_stream_unref(stream);
        return result;
    }
    stream->context = cush_context_ref(context);
    cush_stream_remember(stream, flags);
    *out_stream = stream;
    return CUDA_SUCCESS;
}

CUresult cushim_stream_adopt(CUstream handle, struct cushim_context *context, struct cushim_stream **out_stream)
{
    static const char function[] = "cushim_stream_adopt";
    if (out_stream == NULL)
        return fail_null_output(function);
    if (stream_is_special(handle))
        return cushim_error_set(CUDA_ERROR_INVALID_HANDLE, function,
                                "A special stream cannot be owned. Use cushim_stream_borrow().");
    struct cushim_stream *stream = cush_stream_new(handle, true);
    if (stream == NULL)
        return fail_out_of_memory(function);
    stream->context = cush_context_ref(context);
    *out_stream = stream;
    return CUDA_SUCCESS;
}

CUresult cushim_stream_borrow(CUstream handle, struct cushim_context *context, struct cushim_stream **out_stream)
{
    static const char function[] = "cushim_stream_borrow";
    if (out_stream == NULL)
        return fail_null_output(function);
    if (stream_is_special(handle) && context != NULL)
        return cushim_error_set(
            CUDA_ERROR_INVALID_CONTEXT, function,
            "A special stream belongs to the current context of each call, so the context must be NULL.");
    if (stream_is_special(handle) && handle != NULL
        && cushim_slot_get_state(CUSHIM_SLOT_DevicePrimaryCtxRetain_v1, CUSHIM_DEFAULT_STREAM_LEGACY)
               == CUSHIM_STATE_MISSING
        && cushim_driver_version() != 0)
        return cushim_error_set(CUDA_ERROR_NOT_SUPPORTED, function,
                                "CU_STREAM_LEGACY and CU_STREAM_PER_THREAD need CUDA 7.0.");
    struct cushim_stream *stream = cush_stream_new(handle, false);
    if (stream == NULL)
        return fail_out_of_memory(function);
    stream->special = stream_is_special(handle);
    stream->context = cush_context_ref(context);
    *out_stream = stream;
    return CUDA_SUCCESS;
}

CUresult cushim_stream_release(struct cushim_stream **stream, CUstream *out_handle)
{
    static const char function[] = "cushim_stream_release";
    if (stream == NULL || *stream == NULL)
        return fail_null_stream(function);
    if (out_handle == NULL)
        return fail_null_output(function);
    struct cushim_stream *released = *stream;
    if (cush_capture_is_open(released))
        return cushim_error_set(CUDA_ERROR_ILLEGAL_STATE, function,
                                "A capture of the stream is open. End the capture first.");
    if (atomic_load(&released->uses) != 1)
        return cushim_error_set(CUDA_ERROR_ILLEGAL_STATE, function,
                                "A body of cushim_stream_run() or cushim_stream_enqueue() uses the stream.");
    *stream = NULL;
    *out_handle = released->handle;
    released->owned = false;
    return cush_stream_end_use(released);
}

CUresult cushim_stream_destroy(struct cushim_stream **stream)
{
    if (stream == NULL || *stream == NULL)
        return CUDA_SUCCESS;
    struct cushim_stream *destroyed = *stream;
    *stream = NULL;
    cush_capture_abandon(destroyed);
    return cush_stream_end_use(destroyed);
}

CUresult cushim_stream_close(struct cushim_stream **stream)
{
    static const char function[] = "cushim_stream_close";
    if (stream == NULL || *stream == NULL)
        return CUDA_SUCCESS;
    struct cushim_stream *closed = *stream;
    *stream = NULL;
    bool was_capturing = cush_capture_abandon(closed);
    CUresult waited = cushim_error_set_driver(cush_stream_wait_relaxed(closed), CUSHIM_SLOT_StreamSynchronize_v1);
    CUresult ended = cush_stream_end_use(closed);
    if (was_capturing)
        return cushim_error_set(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, function,
                                "A capture of the stream was open. The capture was ended, and its graph is lost.");
    return waited != CUDA_SUCCESS ? waited : ended;
}

CUstream cushim_stream_handle(const struct cushim_stream *stream)
{
    return stream != NULL ? stream->handle : NULL;
}

CUresult cushim_stream_query(struct cushim_stream *stream)
{
    if (stream == NULL)
        return fail_null_stream("cushim_stream_query");
    return CUSH_CALL(StreamQuery_v1, stream->handle);
}

CUresult cushim_stream_synchronize(struct cushim_stream *stream)
{
    if (stream == NULL)
        return fail_null_stream("cushim_stream_synchronize");
    return CUSH_CALL(StreamSynchronize_v1, stream->handle);
}

CUresult cushim_stream_wait_event(struct cushim_stream *stream, struct cushim_event *event, unsigned flags)
{
    static const char function[] = "cushim_stream_wait_event";
    if (stream == NULL)
        return fail_null_stream(function);
    if (event == NULL)
        return fail_null_event(function);
    /* CUDA 11.1 brought the flag together with this entry point. An older driver does not know the flag. */
    if (flags == CU_EVENT_WAIT_EXTERNAL
        && cushim_slot_get_state(CUSHIM_SLOT_EventRecordWithFlags_v1, CUSHIM_DEFAULT_STREAM_LEGACY)
               != CUSHIM_STATE_NATIVE)
        return cushim_error_set(CUDA_ERROR_NOT_SUPPORTED, function, "CU_EVENT_WAIT_EXTERNAL needs CUDA 11.1.");
    return CUSH_CALL(StreamWaitEvent_v1, stream->handle, event->handle, flags);
}

CUresult cushim_stream_run(struct cushim_stream *stream, cushim_stream_body body, void *user)
{
    static const char function[] = "cushim_stream_run";
    if (stream == NULL)
        return fail_null_stream(function);
    if (body == NULL)
        return fail_null_body(function);
    CUresult result = cush_stream_check_capture(function, stream->handle);
    if (result != CUDA_SUCCESS)
        return result;
    cush_stream_use(stream);
    result = body(stream, user);
    bool was_left = cush_capture_end_leftover(stream);
    CUresult waited;
    if (cush_stream_is_capturing(stream->handle))
        waited = cushim_error_set(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                                  "The body left the stream in a capture of another stream, or a blocking stream is "
                                  "capturing beside the legacy stream, so the call did not wait.");
    else
        waited = cushim_error_set_driver(cush_stream_wait_relaxed(stream), CUSHIM_SLOT_StreamSynchronize_v1);
    CUresult ended = cush_stream_end_use(stream);
    if (waited != CUDA_SUCCESS)
        return waited;
    if (result != CUDA_SUCCESS)
        return result;
    if (was_left)
        return cushim_error_set(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                                "The body left a capture open. The capture was ended.");
    return ended;
}
