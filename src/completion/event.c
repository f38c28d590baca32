/* SPDX-License-Identifier: MIT */
/*
 * The events of completions. The driver crashes when it is called with an event of a context that is gone. So the id of
 * the context is compared before each call, and an event of a context that is gone is forgotten.
 */
#include "../stream/stream_internal.h"
#include "completion_internal.h"

/* A function can also be missing because it is hidden. */
static bool driver_has_what_events_need(void)
{
    static const enum cushim_slot needed[] = {
        CUSHIM_SLOT_CtxGetId_v1,     CUSHIM_SLOT_ThreadExchangeStreamCaptureMode_v1,
        CUSHIM_SLOT_EventCreate_v1,  CUSHIM_SLOT_EventRecord_v1,
        CUSHIM_SLOT_EventQuery_v1,   CUSHIM_SLOT_StreamCreateWithPriority_v1,
        CUSHIM_SLOT_EventDestroy_v2, CUSHIM_SLOT_StreamWaitEvent_v1,
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (cushim_slot_get_state(needed[i], CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING)
            return false;
    return true;
}

static CUresult event_check_context(const struct completion_event *event)
{
    return cush_context_check_id(event->context, event->id);
}

/*
 * Before CUDA 12.0, contexts have no id. A special stream belongs to the context and the thread of each call. The
 * stream of a green context belongs to two contexts. A stream remembers the id, so that it is found once.
 */
bool cush_completion_event_find(struct cushim_stream *stream, struct completion_event *out_event)
{
    CUgreenCtx green = NULL;
    unsigned long long id = atomic_load(&stream->context_id);
    if (id == 0 && (stream->special || !driver_has_what_events_need()))
        return false;
    if (cush_stream_find_context(stream, &out_event->context, &green) != CUDA_SUCCESS || green != NULL)
        return false;
    if (id == 0 && cush_context_find_id(out_event->context, &id) != CUDA_SUCCESS)
        return false;
    atomic_store(&stream->context_id, id);
    out_event->id = id;
    return true;
}

bool cush_completion_context_is_gone(struct cushim_stream *stream)
{
    CUgreenCtx green;
    struct completion_event event = {NULL, NULL, atomic_load(&stream->context_id)};
    return event.id != 0 && cush_stream_find_context(stream, &event.context, &green) == CUDA_SUCCESS
           && event_check_context(&event) == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* In the relaxed mode, the query invalidates no capture. */
static CUresult event_query_once(const struct completion_event *event)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (cushim_table_legacy()->ThreadExchangeStreamCaptureMode_v1(&mode) != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_READY;
    CUresult result = cushim_table_legacy()->EventQuery_v1(event->handle);
    cush_capture_mode_restore(mode != CU_STREAM_CAPTURE_MODE_RELAXED, mode);
    return result;
}

CUresult cush_completion_event_query(const struct completion_event *event)
{
    const int repetitions = 4; /* an error counts only if the driver repeats it */
    CUresult result = event_check_context(event);
    if (result != CUDA_SUCCESS)
        return result;
    result = event_query_once(event);
    for (int i = 0; i < repetitions && result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY; i++)
        if (event_query_once(event) != result)
            return CUDA_ERROR_NOT_READY;
    return result;
}

void cush_completion_event_end(struct completion_event *event)
{
    if (event->handle != NULL && event_check_context(event) == CUDA_SUCCESS)
        (void)cushim_table_legacy()->EventDestroy_v2(event->handle);
    event->handle = NULL;
}
