/* SPDX-License-Identifier: MIT */
/* Events. */
#include "event_object.h"

#include <stdlib.h>

#include "context_object.h"
#include "fail.h"
#include "stream_object.h"

static CUresult event_create_handle(struct cushim_context *context, unsigned flags, CUevent *out_handle)
{
    CUcontext before = NULL;
    CUresult result = cushim_context_enter(context, &before);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_table_legacy()->EventCreate_v1(out_handle, flags);
    cushim_set_driver_error(result, CUSHIM_SLOT_EventCreate_v1);
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
        result = cushim_set_driver_error(cushim_table_legacy()->EventDestroy_v2(destroyed->handle),
                                         CUSHIM_SLOT_EventDestroy_v2);
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
    return cushim_set_driver_error(cushim_table_legacy()->EventRecordWithFlags_v1(event->handle, stream->handle, flags),
                                   CUSHIM_SLOT_EventRecordWithFlags_v1);
}

CUresult cushim_event_query(struct cushim_event *event)
{
    if (event == NULL)
        return fail_null_event("cushim_event_query");
    return cushim_set_driver_error(cushim_table_legacy()->EventQuery_v1(event->handle), CUSHIM_SLOT_EventQuery_v1);
}

CUresult cushim_event_synchronize(struct cushim_event *event)
{
    if (event == NULL)
        return fail_null_event("cushim_event_synchronize");
    return cushim_set_driver_error(cushim_table_legacy()->EventSynchronize_v1(event->handle),
                                   CUSHIM_SLOT_EventSynchronize_v1);
}

CUresult cushim_event_elapsed(struct cushim_event *start, struct cushim_event *end, float *out_milliseconds)
{
    float milliseconds = 0;
    if (start == NULL || end == NULL)
        return fail_null_event("cushim_event_elapsed");
    if (out_milliseconds == NULL)
        return fail_null_output("cushim_event_elapsed");
    CUresult result = cushim_table_legacy()->EventElapsedTime_v2(&milliseconds, start->handle, end->handle);
    if (result == CUDA_SUCCESS)
        *out_milliseconds = milliseconds;
    return cushim_set_driver_error(result, CUSHIM_SLOT_EventElapsedTime_v2);
}
