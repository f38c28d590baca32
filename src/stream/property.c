/* SPDX-License-Identifier: MIT */
/*
 * The properties of a stream: flags, priority, device, id and context. The driver invalidates a capture when it is
 * asked for some of them on the capturing stream. So each is queried once, at a time when no capture can be
 * invalidated.
 */
#include "stream_internal.h"

/* Returns the sentence of a refusal; NULL if no capture prevents calls on the stream. */
static const char *stream_find_capture(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = cushim_table_legacy()->StreamIsCapturing_v1(handle, &status);
    if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        return "A blocking stream is capturing, perhaps in another thread. The legacy stream cannot be used until that "
               "capture has ended.";
    if (result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE)
        return "The stream is capturing, and a capture does not accept this call. Make it before or after the capture.";
    return NULL;
}

bool cush_stream_is_capturing(CUstream handle)
{
    return stream_find_capture(handle) != NULL;
}

CUresult cush_stream_check_capture(const char *function, CUstream handle)
{
    const char *message = stream_find_capture(handle);
    if (message != NULL)
        return cushim_error_set(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function, message);
    return CUDA_SUCCESS;
}

static void stream_set_known(struct cushim_stream *stream, enum known_property property)
{
    if (!stream->special)
        atomic_fetch_or_explicit(&stream->known, property, memory_order_release);
}

static CUresult stream_query_contexts(struct cushim_stream *stream, CUcontext *out_context, CUgreenCtx *out_green)
{
    CUresult result = cushim_table_legacy()->StreamGetCtx_v2(stream->handle, out_context, out_green);
    if (result != CUDA_SUCCESS)
        return result;
    atomic_store_explicit(&stream->driver_context, *out_context, memory_order_relaxed);
    atomic_store_explicit(&stream->green, *out_green, memory_order_relaxed);
    stream_set_known(stream, KNOWN_CONTEXT);
    return result;
}

void cush_stream_remember(struct cushim_stream *stream, unsigned flags)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    unsigned long long id = 0;
    atomic_store_explicit(&stream->flags, flags, memory_order_relaxed);
    stream_set_known(stream, KNOWN_FLAGS);
    if (cushim_slot_get_state(CUSHIM_SLOT_StreamGetId_v1, CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING
        && table->StreamGetId_v1(stream->handle, &id) == CUDA_SUCCESS) {
        atomic_store_explicit(&stream->id, id, memory_order_relaxed);
        stream_set_known(stream, KNOWN_ID);
    }
    if (stream->context->green != NULL) {
        CUcontext context;
        CUgreenCtx green;
        (void)stream_query_contexts(stream, &context, &green);
    }
}

/*
 * Checks the arguments of a query, and writes to *out_known whether the stream remembers the property. If it does not,
 * a successful call means that the driver may be asked.
 */
static CUresult stream_check_query(struct cushim_stream *stream, enum known_property property, const char *function,
                                   const void *output, bool *out_known)
{
    if (stream == NULL)
        return fail_null_stream(function);
    if (output == NULL)
        return fail_null_output(function);
    *out_known = (atomic_load_explicit(&stream->known, memory_order_acquire) & property) != 0;
    /* The context may also be queried during a capture: tests/conformance/CAPTURE.md. */
    return *out_known || property == KNOWN_CONTEXT ? CUDA_SUCCESS : cush_stream_check_capture(function, stream->handle);
}

CUresult cushim_stream_get_flags(struct cushim_stream *stream, unsigned *out_flags)
{
    bool known = false;
    unsigned flags = 0;
    CUresult result = stream_check_query(stream, KNOWN_FLAGS, "cushim_stream_get_flags", out_flags, &known);
    if (result != CUDA_SUCCESS)
        return result;
    if (!known) {
        result = CUSH_CALL(StreamGetFlags_v1, stream->handle, &flags);
        if (result != CUDA_SUCCESS)
            return result;
        atomic_store_explicit(&stream->flags, flags, memory_order_relaxed);
        stream_set_known(stream, KNOWN_FLAGS);
    }
    *out_flags = known ? atomic_load_explicit(&stream->flags, memory_order_relaxed) : flags;
    return CUDA_SUCCESS;
}

/* An attribute can change the priority, so it is not remembered. It may also be queried during a capture:
 * tests/conformance/CAPTURE.md. */
CUresult cushim_stream_get_priority(struct cushim_stream *stream, int *out_priority)
{
    int priority = 0;
    if (stream == NULL)
        return fail_null_stream("cushim_stream_get_priority");
    if (out_priority == NULL)
        return fail_null_output("cushim_stream_get_priority");
    CUresult result = CUSH_CALL(StreamGetPriority_v1, stream->handle, &priority);
    if (result == CUDA_SUCCESS)
        *out_priority = priority;
    return result;
}

CUresult cushim_stream_get_device(struct cushim_stream *stream, CUdevice *out_device)
{
    bool known = false;
    CUdevice device = 0;
    if (stream != NULL && stream->context != NULL && out_device != NULL) {
        *out_device = stream->context->device;
        return CUDA_SUCCESS;
    }
    CUresult result = stream_check_query(stream, KNOWN_DEVICE, "cushim_stream_get_device", out_device, &known);
    if (result != CUDA_SUCCESS)
        return result;
    if (!known) {
        result = CUSH_CALL(StreamGetDevice_v1, stream->handle, &device);
        if (result != CUDA_SUCCESS)
            return result;
        atomic_store_explicit(&stream->device, device, memory_order_relaxed);
        stream_set_known(stream, KNOWN_DEVICE);
    }
    *out_device = known ? atomic_load_explicit(&stream->device, memory_order_relaxed) : device;
    return CUDA_SUCCESS;
}

CUresult cushim_stream_get_id(struct cushim_stream *stream, unsigned long long *out_id)
{
    bool known = false;
    unsigned long long id = 0;
    if (stream != NULL && out_id != NULL
        && cushim_slot_get_state(CUSHIM_SLOT_StreamGetId_v1, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING)
        return cushim_table_legacy()->StreamGetId_v1(stream->handle, out_id);
    CUresult result = stream_check_query(stream, KNOWN_ID, "cushim_stream_get_id", out_id, &known);
    if (result != CUDA_SUCCESS)
        return result;
    if (!known) {
        result = CUSH_CALL(StreamGetId_v1, stream->handle, &id);
        if (result != CUDA_SUCCESS)
            return result;
        atomic_store_explicit(&stream->id, id, memory_order_relaxed);
        stream_set_known(stream, KNOWN_ID);
    }
    *out_id = known ? atomic_load_explicit(&stream->id, memory_order_relaxed) : id;
    return CUDA_SUCCESS;
}

CUresult cushim_stream_get_driver_context(struct cushim_stream *stream, CUcontext *out_context, CUgreenCtx *out_green)
{
    const void *output = out_context != NULL ? (const void *)out_context : (const void *)out_green;
    bool known = false;
    CUcontext context = NULL;
    CUgreenCtx green = NULL;
    /* The stream of a green context also belongs to the primary context, which only the driver knows. */
    if (stream != NULL && output != NULL && stream->context != NULL && stream->context->green == NULL) {
        context = stream->context->handle;
    } else {
        CUresult result = stream_check_query(stream, KNOWN_CONTEXT, "cushim_stream_get_driver_context", output, &known);
        if (result == CUDA_SUCCESS && !known)
            result =
                cushim_error_set_driver(stream_query_contexts(stream, &context, &green), CUSHIM_SLOT_StreamGetCtx_v2);
        if (result != CUDA_SUCCESS)
            return result;
        if (known) {
            context = atomic_load_explicit(&stream->driver_context, memory_order_relaxed);
            green = atomic_load_explicit(&stream->green, memory_order_relaxed);
        }
    }
    if (out_context != NULL)
        *out_context = context;
    if (out_green != NULL)
        *out_green = green;
    return CUDA_SUCCESS;
}

CUresult cush_stream_find_context(struct cushim_stream *stream, CUcontext *out_context, CUgreenCtx *out_green)
{
    if (stream->context != NULL && stream->context->green == NULL) {
        *out_context = stream->context->handle;
        *out_green = NULL;
        return CUDA_SUCCESS;
    }
    if ((atomic_load_explicit(&stream->known, memory_order_acquire) & KNOWN_CONTEXT) != 0) {
        *out_context = atomic_load_explicit(&stream->driver_context, memory_order_relaxed);
        *out_green = atomic_load_explicit(&stream->green, memory_order_relaxed);
        return CUDA_SUCCESS;
    }
    /* With both pointers, a polyfill records an error if the stream belongs to a green context. */
    if (cushim_slot_get_state(CUSHIM_SLOT_StreamGetCtx_v2, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_POLYFILL) {
        CUresult result = cushim_table_legacy()->StreamGetCtx_v2(stream->handle, NULL, out_green);
        if (result != CUDA_SUCCESS || *out_green != NULL)
            return result != CUDA_SUCCESS ? result : CUDA_ERROR_NOT_SUPPORTED;
    }
    return stream_query_contexts(stream, out_context, out_green);
}

struct cushim_context *cushim_stream_context(const struct cushim_stream *stream)
{
    return stream != NULL ? stream->context : NULL;
}

bool cushim_stream_is_owned(const struct cushim_stream *stream)
{
    return stream != NULL && stream->owned;
}
