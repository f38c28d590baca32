/* SPDX-License-Identifier: MIT */
#include "stream_internal.h"

#include <stdlib.h>

struct cushim_stream *cush_stream_new(CUstream handle, bool owned)
{
    struct cushim_stream *stream = calloc(1, sizeof *stream);
    if (stream != NULL) {
        atomic_init(&stream->references, 1);
        atomic_init(&stream->uses, 1);
        stream->handle = handle;
        stream->owned = owned;
    }
    return stream;
}

struct cushim_stream *cush_stream_ref(struct cushim_stream *stream)
{
    atomic_fetch_add_explicit(&stream->references, 1, memory_order_relaxed);
    return stream;
}

void cush_stream_unref(struct cushim_stream *stream)
{
    if (atomic_fetch_sub_explicit(&stream->references, 1, memory_order_acq_rel) == 1)
        free(stream);
}

void cush_stream_use(struct cushim_stream *stream)
{
    cush_stream_ref(stream);
    atomic_fetch_add(&stream->uses, 1);
}

CUresult cush_stream_end_use(struct cushim_stream *stream)
{
    CUresult result = CUDA_SUCCESS;
    if (atomic_fetch_sub(&stream->uses, 1) == 1) {
        struct cushim_context *context = stream->context;
        stream->context = NULL;
        cush_notification_end(stream);
        if (stream->owned)
            result = CUSH_CALL(StreamDestroy_v2, stream->handle);
        CUresult unref = cush_context_unref(context);
        if (result == CUDA_SUCCESS)
            result = unref;
    }
    cush_stream_unref(stream);
    return result;
}

bool cush_capture_mode_relax(CUstreamCaptureMode *out_previous)
{
    *out_previous = CU_STREAM_CAPTURE_MODE_RELAXED;
    /* Before CUDA 10.1 every capture is a relaxed one. A missing slot would record an error. */
    return cushim_slot_get_state(CUSHIM_SLOT_ThreadExchangeStreamCaptureMode_v1, CUSHIM_DEFAULT_STREAM_LEGACY)
               != CUSHIM_STATE_MISSING
           && cushim_table_legacy()->ThreadExchangeStreamCaptureMode_v1(out_previous) == CUDA_SUCCESS;
}

void cush_capture_mode_restore(bool changed, CUstreamCaptureMode previous)
{
    if (changed)
        cushim_table_legacy()->ThreadExchangeStreamCaptureMode_v1(&previous);
}

CUresult cush_stream_wait_relaxed(struct cushim_stream *stream)
{
    CUstreamCaptureMode mode;
    bool changed = cush_capture_mode_relax(&mode);
    CUresult result = cushim_table_legacy()->StreamSynchronize_v1(stream->handle);
    cush_capture_mode_restore(changed, mode);
    return result;
}
