/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <stdlib.h>

static CUresult no_event(const char *function)
{
    return cushim_report(CUDA_ERROR_INVALID_HANDLE, function, "The event is NULL, or was destroyed.");
}

static CUresult create_handle(struct cushim_context *context, unsigned flags, CUevent *ret_handle)
{
    CUcontext before = NULL;
    CUresult result = cushim_priv_context_enter(context, &before);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_table()->EventCreate_v1(ret_handle, flags);
    cushim_report_call(result, CUSHIM_SLOT_EventCreate_v1);
    CUresult left = cushim_priv_context_leave(before);
    if (result == CUDA_SUCCESS && left != CUDA_SUCCESS)
        cushim_table()->EventDestroy_v2(*ret_handle);
    return result != CUDA_SUCCESS ? result : left;
}

CUresult cushim_event_create(struct cushim_context *context, unsigned flags, struct cushim_event **ret_event)
{
    static const char function[] = "cushim_event_create";
    if (context == NULL)
        return cushim_report(CUDA_ERROR_INVALID_CONTEXT, function, "The context is NULL, or was destroyed.");
    if (ret_event == NULL)
        return no_place(function);
    struct cushim_event *event = calloc(1, sizeof *event);
    if (event == NULL)
        return no_memory(function);
    CUresult result = create_handle(context, flags, &event->handle);
    if (result != CUDA_SUCCESS) {
        free(event);
        return result;
    }
    event->context = cushim_priv_context_hold(context);
    event->owned = true;
    *ret_event = event;
    return CUDA_SUCCESS;
}

CUresult cushim_event_borrow(CUevent handle, struct cushim_context *context, struct cushim_event **ret_event)
{
    static const char function[] = "cushim_event_borrow";
    if (handle == NULL)
        return no_event(function);
    if (ret_event == NULL)
        return no_place(function);
    struct cushim_event *event = calloc(1, sizeof *event);
    if (event == NULL)
        return no_memory(function);
    event->handle = handle;
    event->context = cushim_priv_context_hold(context);
    *ret_event = event;
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
        result = cushim_report_call(cushim_table()->EventDestroy_v2(destroyed->handle), CUSHIM_SLOT_EventDestroy_v2);
    CUresult dropped = cushim_priv_context_drop(destroyed->context);
    free(destroyed);
    return result != CUDA_SUCCESS ? result : dropped;
}

CUevent cushim_event_handle(const struct cushim_event *event)
{
    return event != NULL ? event->handle : NULL;
}

CUresult cushim_event_record(struct cushim_event *event, struct cushim_stream *stream, unsigned flags)
{
    if (event == NULL)
        return no_event("cushim_event_record");
    if (stream == NULL)
        return no_stream("cushim_event_record");
    return cushim_report_call(cushim_table()->EventRecordWithFlags_v1(event->handle, stream->handle, flags),
                              CUSHIM_SLOT_EventRecordWithFlags_v1);
}

CUresult cushim_event_query(struct cushim_event *event)
{
    if (event == NULL)
        return no_event("cushim_event_query");
    return cushim_report_call(cushim_table()->EventQuery_v1(event->handle), CUSHIM_SLOT_EventQuery_v1);
}

CUresult cushim_event_synchronize(struct cushim_event *event)
{
    if (event == NULL)
        return no_event("cushim_event_synchronize");
    return cushim_report_call(cushim_table()->EventSynchronize_v1(event->handle), CUSHIM_SLOT_EventSynchronize_v1);
}

CUresult cushim_event_elapsed(struct cushim_event *start, struct cushim_event *end, float *ret_milliseconds)
{
    float milliseconds = 0;
    if (start == NULL || end == NULL)
        return no_event("cushim_event_elapsed");
    if (ret_milliseconds == NULL)
        return no_place("cushim_event_elapsed");
    CUresult result = cushim_table()->EventElapsedTime_v2(&milliseconds, start->handle, end->handle);
    if (result == CUDA_SUCCESS)
        *ret_milliseconds = milliseconds;
    return cushim_report_call(result, CUSHIM_SLOT_EventElapsedTime_v2);
}
