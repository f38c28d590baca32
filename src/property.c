/* SPDX-License-Identifier: MIT */
/*
 * What a stream is: its flags, priority, device, id, context. The driver ends a capture when it is asked for some of
 * these on the capturing stream, so each is asked once, and at a time when nothing can be harmed.
 */
#include "objects.h"

bool cushim_priv_stream_is_capturing(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = cushim_table()->StreamIsCapturing_v1(handle, &status);
    return result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
           || (result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE);
}

static void learn(struct cushim_stream *stream, enum known_property property)
{
    if (!stream->special)
        atomic_fetch_or_explicit(&stream->known, property, memory_order_release);
}

static CUresult ask_contexts(struct cushim_stream *stream, CUcontext *ret_context, CUgreenCtx *ret_green)
{
    CUresult result = cushim_table()->StreamGetCtx_v2(stream->handle, ret_context, ret_green);
    if (result != CUDA_SUCCESS)
        return result;
    atomic_store_explicit(&stream->driver_context, *ret_context, memory_order_relaxed);
    atomic_store_explicit(&stream->green, *ret_green, memory_order_relaxed);
    learn(stream, KNOWN_CONTEXT);
    return result;
}

void cushim_priv_stream_remember(struct cushim_stream *stream, unsigned flags)
{
    const struct cushim_table *table = cushim_table();
    unsigned long long id = 0;
    atomic_store_explicit(&stream->flags, flags, memory_order_relaxed);
    learn(stream, KNOWN_FLAGS);
    if (cushim_slot_state(CUSHIM_SLOT_StreamGetId_v1) != CUSHIM_STATE_MISSING
        && table->StreamGetId_v1(stream->handle, &id) == CUDA_SUCCESS) {
        atomic_store_explicit(&stream->id, id, memory_order_relaxed);
        learn(stream, KNOWN_ID);
    }
    if (stream->context->green != NULL) {
        CUcontext context;
        CUgreenCtx green;
        (void)ask_contexts(stream, &context, &green);
    }
}

/*
 * Whether the stream remembers a property (*ret_known), or else may ask the driver for it. `place` is that of the
 * result, to be checked with the rest.
 */
static CUresult look(struct cushim_stream *stream, enum known_property property, const char *function,
                     const void *place, bool *ret_known)
{
    if (stream == NULL)
        return no_stream(function);
    if (place == NULL)
        return no_place(function);
    *ret_known = (atomic_load_explicit(&stream->known, memory_order_acquire) & property) != 0;
    /* The context may always be asked for: tests/conformance/CAPTURE.md. */
    if (!*ret_known && property != KNOWN_CONTEXT && cushim_priv_stream_is_capturing(stream->handle))
        return cushim_report(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, function,
                             "The stream is capturing, and asking the driver could end that: ask before or after.");
    return CUDA_SUCCESS;
}

CUresult cushim_stream_flags(struct cushim_stream *stream, unsigned *ret_flags)
{
    bool known = false;
    unsigned flags = 0;
    CUresult result = look(stream, KNOWN_FLAGS, "cushim_stream_flags", ret_flags, &known);
    if (result != CUDA_SUCCESS)
        return result;
    if (!known) {
        result = cushim_table()->StreamGetFlags_v1(stream->handle, &flags);
        if (result != CUDA_SUCCESS)
            return cushim_report_call(result, CUSHIM_SLOT_StreamGetFlags_v1);
        atomic_store_explicit(&stream->flags, flags, memory_order_relaxed);
        learn(stream, KNOWN_FLAGS);
    }
    *ret_flags = known ? atomic_load_explicit(&stream->flags, memory_order_relaxed) : flags;
    return CUDA_SUCCESS;
}

/* Not remembered, because it can change. The driver may always be asked for it: tests/conformance/CAPTURE.md. */
CUresult cushim_stream_priority(struct cushim_stream *stream, int *ret_priority)
{
    int priority = 0;
    if (stream == NULL)
        return no_stream("cushim_stream_priority");
    if (ret_priority == NULL)
        return no_place("cushim_stream_priority");
    CUresult result = cushim_table()->StreamGetPriority_v1(stream->handle, &priority);
    if (result == CUDA_SUCCESS)
        *ret_priority = priority;
    return cushim_report_call(result, CUSHIM_SLOT_StreamGetPriority_v1);
}

CUresult cushim_stream_device(struct cushim_stream *stream, CUdevice *ret_device)
{
    bool known = false;
    CUdevice device = 0;
    if (stream != NULL && stream->context != NULL && ret_device != NULL) {
        *ret_device = stream->context->device;
        return CUDA_SUCCESS;
    }
    CUresult result = look(stream, KNOWN_DEVICE, "cushim_stream_device", ret_device, &known);
    if (result != CUDA_SUCCESS)
        return result;
    if (!known) {
        result = cushim_table()->StreamGetDevice_v1(stream->handle, &device);
        if (result != CUDA_SUCCESS)
            return cushim_report_call(result, CUSHIM_SLOT_StreamGetDevice_v1);
        atomic_store_explicit(&stream->device, device, memory_order_relaxed);
        learn(stream, KNOWN_DEVICE);
    }
    *ret_device = known ? atomic_load_explicit(&stream->device, memory_order_relaxed) : device;
    return CUDA_SUCCESS;
}

CUresult cushim_stream_id(struct cushim_stream *stream, unsigned long long *ret_id)
{
    bool known = false;
    unsigned long long id = 0;
    if (stream != NULL && ret_id != NULL && cushim_slot_state(CUSHIM_SLOT_StreamGetId_v1) == CUSHIM_STATE_MISSING)
        return cushim_table()->StreamGetId_v1(stream->handle, ret_id);
    CUresult result = look(stream, KNOWN_ID, "cushim_stream_id", ret_id, &known);
    if (result != CUDA_SUCCESS)
        return result;
    if (!known) {
        result = cushim_table()->StreamGetId_v1(stream->handle, &id);
        if (result != CUDA_SUCCESS)
            return cushim_report_call(result, CUSHIM_SLOT_StreamGetId_v1);
        atomic_store_explicit(&stream->id, id, memory_order_relaxed);
        learn(stream, KNOWN_ID);
    }
    *ret_id = known ? atomic_load_explicit(&stream->id, memory_order_relaxed) : id;
    return CUDA_SUCCESS;
}

CUresult cushim_stream_driver_context(struct cushim_stream *stream, CUcontext *ret_context, CUgreenCtx *ret_green)
{
    const void *place = ret_context != NULL ? (const void *)ret_context : (const void *)ret_green;
    bool known = false;
    CUcontext context = NULL;
    CUgreenCtx green = NULL;
    /* A green context's stream belongs to the primary context too, which only the driver knows. */
    if (stream != NULL && place != NULL && stream->context != NULL && stream->context->green == NULL) {
        context = stream->context->handle;
    } else {
        CUresult result = look(stream, KNOWN_CONTEXT, "cushim_stream_driver_context", place, &known);
        if (result == CUDA_SUCCESS && !known)
            result = cushim_report_call(ask_contexts(stream, &context, &green), CUSHIM_SLOT_StreamGetCtx_v2);
        if (result != CUDA_SUCCESS)
            return result;
        if (known) {
            context = atomic_load_explicit(&stream->driver_context, memory_order_relaxed);
            green = atomic_load_explicit(&stream->green, memory_order_relaxed);
        }
    }
    if (ret_context != NULL)
        *ret_context = context;
    if (ret_green != NULL)
        *ret_green = green;
    return CUDA_SUCCESS;
}

struct cushim_context *cushim_stream_context(const struct cushim_stream *stream)
{
    return stream != NULL ? stream->context : NULL;
}

bool cushim_stream_owned(const struct cushim_stream *stream)
{
    return stream != NULL && stream->owned;
}
