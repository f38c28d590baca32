/* SPDX-License-Identifier: MIT */
/* Events. */
#include "stream_internal.h"

#include <stdlib.h>

static CUresult event_create_handle(struct cushim_context *context, unsigned flags, CUevent *out_handle)
{
    CUcontext before = NULL;
    CUresult result = cushim_context_enter(context, &before);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(EventCreate_v1, out_handle, flags);
    CUresult left = cushim_context_leave(before);
    if (result == CUDA_SUCCESS && left != CUDA_SUCCESS)
        cushim_table_legacy()->EventDestroy_v2(*out_handle);
    return result != CUDA_SUCCESS ? result : left;
}

CUresult cushim_event_create(struct cushim_context *context, unsigned flags, struct cushim_event **out_event)
{
    static const char function[] = "cushim_event_create";
    if (context == NULL)
        return fail_null_context(function);
    if (out_event == NULL)
        return fail_null_output(function);
    struct cushim_event *event = calloc(1, sizeof *event);
    if (event == NULL)
        return fail_out_of_memory(function);
    CUresult result = event_create_handle(context, flags, &event->handle);
    if (result != CUDA_SUCCESS) {
        free(event);
        return result;
    }
    event->context = cush_context_ref(context);
    event->owned = true;
    *out_event = event;
    return CUDA_SUCCESS;
}

CUresult cushim_event_borrow(CUevent handle, struct cushim_context *context, struct cushim_event **out_event)
{
    static const char function[] = "cushim_event_borrow";
    if (handle == NULL)
        return fail_null_event(function);
    if (out_event == NULL)
        return fail_null_output(function);
    struct cushim_event *event = calloc(1, sizeof *event);
    if (event == NULL)
        return fail_out_of_memory(function);
    event->handle = handle;
    event->context = cush_context_ref(context);
    *out_event = event;
    return CUDA_SUCCESS;
}

CUresult cushim_event_destroy(struct cushim_event **event)
{
    CUresult result = CUDA_SUCCESS;
    if (event == NULL || *event == NULL)
        return CUDA_SUCCESS;
    struct cushim_event *destroyed = *event;
    *event = NULL;
    if (destroyed->owned)
        result = CUSH_CALL(EventDestroy_v2, destroyed->handle);
    CUresult unref = cush_context_unref(destroyed->context);
    free(destroyed);
    return result != CUDA_SUCCESS ? result : unref;
}

CUevent cushim_event_handle(const struct cushim_event *event)
{
    return event != NULL ? event->handle : NULL;
}

CUresult cushim_event_record(struct cushim_event *event, struct cushim_stream *stream, unsigned flags)
{
    if (event == NULL)
        return fail_null_event("cushim_event_record");
    if (stream == NULL)
        return fail_null_stream("cushim_event_record");
    return CUSH_CALL(EventRecordWithFlags_v1, event->handle, stream->handle, flags);
}

CUresult cushim_event_query(struct cushim_event *event)
{
    if (event == NULL)
        return fail_null_event("cushim_event_query");
    return CUSH_CALL(EventQuery_v1, event->handle);
}

CUresult cushim_event_synchronize(struct cushim_event *event)
{
    if (event == NULL)
        return fail_null_event("cushim_event_synchronize");
    return CUSH_CALL(EventSynchronize_v1, event->handle);
}

CUresult cushim_event_elapsed(struct cushim_event *start, struct cushim_event *end, float *out_milliseconds)
{
    float milliseconds = 0;
    if (start == NULL || end == NULL)
        return fail_null_event("cushim_event_elapsed");
    if (out_milliseconds == NULL)
        return fail_null_output("cushim_event_elapsed");
    CUresult result = CUSH_CALL(EventElapsedTime_v2, &milliseconds, start->handle, end->handle);
    if (result == CUDA_SUCCESS)
        *out_milliseconds = milliseconds;
    return result;
}

/* Does not change the current context, and makes no call for that if the context is current. */
static CUresult event_create_in(CUcontext context, CUevent *out_handle)
{
    CUcontext before = NULL;
    CUresult result = cushim_error_set_driver(cush_context_push(context, &before), CUSHIM_SLOT_CtxPushCurrent_v2);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(EventCreate_v1, out_handle, CU_EVENT_DISABLE_TIMING);
    cush_context_pop(context, before);
    return result;
}

CUresult cush_event_record(const char *function, struct cushim_stream *stream, CUcontext context, CUevent *event)
{
    CUresult result = *event != NULL ? CUDA_SUCCESS : event_create_in(context, event);
    if (result == CUDA_SUCCESS)
        result = CUSH_CALL(EventRecord_v1, *event, stream->handle);
    if (result != CUDA_SUCCESS)
        return result;
    result = cush_stream_check_capture(function, stream->handle);
    if (result != CUDA_SUCCESS)
        *event = NULL;
    return result;
}

/* Creates an event for a stream: in its context, or in the current one if no driver function reports the former. */
static CUresult event_create_for(struct cushim_stream *stream, CUevent *out_handle)
{
    CUcontext context;
    CUgreenCtx green;
    if (stream->context != NULL)
        return event_create_handle(stream->context, CU_EVENT_DISABLE_TIMING, out_handle);
    if (cush_stream_find_context(stream, &context, &green) == CUDA_SUCCESS)
        return event_create_in(context, out_handle);
    return CUSH_CALL(EventCreate_v1, out_handle, CU_EVENT_DISABLE_TIMING);
}

CUresult cushim_stream_wait_for(struct cushim_stream *to, struct cushim_stream *from)
{
    CUevent event = NULL;
    if (to == NULL || from == NULL)
        return fail_null_stream("cushim_stream_wait_for");
    CUresult result = event_create_for(from, &event);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(EventRecord_v1, event, from->handle);
    if (result == CUDA_SUCCESS)
        result = CUSH_CALL(StreamWaitEvent_v1, to->handle, event, 0);
    (void)cushim_table_legacy()->EventDestroy_v2(event); /* the waiting stream keeps what it needs */
    return result;
}
