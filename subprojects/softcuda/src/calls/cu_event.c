/* SPDX-License-Identifier: MIT */
/* Events. */
#include "calls.h"

CUresult soft_EventCreate_v1(CUevent *phEvent, unsigned int Flags)
{
    struct context *context = NULL;
    CUresult result = context_need(&context);
    if (result != CUDA_SUCCESS)
        return result;
    unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    bool untimed = (Flags & CU_EVENT_DISABLE_TIMING) != 0;
    if (phEvent == NULL || (Flags & ~known) != 0 || ((Flags & CU_EVENT_INTERPROCESS) != 0 && !untimed))
        return CUDA_ERROR_INVALID_VALUE;
    struct event *event = event_new(context, Flags);
    if (event == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phEvent = (CUevent)event;
    return CUDA_SUCCESS;
}

CUresult soft_EventDestroy_v2(CUevent hEvent)
{
    struct event *event = NULL;
    CUresult result = event_find(hEvent, &event);
    if (event == NULL || result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return result;
    handle_withdraw(event);
    object_unref(event); /* waits that were submitted stay valid */
    return result;
}

/* An event and the stream that it is to be used in. */
static CUresult event_stream_get(CUevent hEvent, CUstream hStream, struct event **out_event, struct stream **out_stream)
{
    CUresult result = event_find(hEvent, out_event);
    return result == CUDA_SUCCESS ? stream_find(hStream, out_stream) : result;
}

static CUresult event_submit(struct stream *stream, struct event *event, enum work_kind kind)
{
    struct work *work = work_new(kind);
    if (work != NULL) {
        object_ref(event);
        work->event = event;
    }
    return queue_submit(stream, work);
}

CUresult soft_EventRecordWithFlags_v1(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    struct event *event = NULL;
    struct stream *stream = NULL;
    CUresult result = event_stream_get(hEvent, hStream, &event, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_EVENT_RECORD_EXTERNAL && stream->capture == NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (event->context != context_primary(stream->context))
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture != NULL && flags == CU_EVENT_RECORD_DEFAULT)
        return capture_record(stream, event);
    return event_submit(stream, event, WORK_RECORD);
}

CUresult soft_EventRecord_v1(CUevent hEvent, CUstream hStream)
{
    return soft_EventRecordWithFlags_v1(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

CUresult soft_StreamWaitEvent_v1(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    struct event *event = NULL;
    struct stream *stream = NULL;
    if ((Flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) != 0 && event_find(hEvent, &event) == CUDA_ERROR_INVALID_HANDLE)
        return CUDA_ERROR_INVALID_VALUE; /* the flag is checked first */
    CUresult result = event_stream_get(hEvent, hStream, &event, &stream);
    if (event == NULL && stream_find(hStream, &stream) == CUDA_SUCCESS && stream->capture != NULL) {
        /* The attempt invalidates the capture. */
        bool was_lost = stream->capture->invalid;
        (void)capture_forbid(stream);
        return was_lost ? capture_is_lost() : result;
    }
    if (result != CUDA_SUCCESS)
        return result;
    if ((Flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (Flags == CU_EVENT_WAIT_EXTERNAL && stream->capture == NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    bool captured = false;
    if (Flags == CU_EVENT_WAIT_DEFAULT)
        result = capture_wait(stream, event, &captured);
    if (captured || result != CUDA_SUCCESS)
        return result;
    return event_submit(stream, event, WORK_WAIT);
}

/* The checks of a query of the event's completion. */
static CUresult event_get_for_query(CUevent hEvent, struct event **out_event)
{
    CUresult result = event_find(hEvent, out_event);
    if (result == CUDA_SUCCESS)
        result = capture_check_event(*out_event, true);
    return result == CUDA_SUCCESS ? capture_unsafe() : result;
}

CUresult soft_EventQuery_v1(CUevent hEvent)
{
    struct event *event = NULL;
    if (hEvent != NULL && !soft_initialised())
        return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = event_get_for_query(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    return event->op == NULL || event->op->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult soft_EventSynchronize_v1(CUevent hEvent)
{
    struct event *event = NULL;
    CUresult result = event_get_for_query(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    object_ref(event);
    if (event->op != NULL)
        op_wait(event->op);
    result = context_state(event->context, event->generation);
    object_unref(event);
    return result;
}

CUresult soft_EventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    struct event *start = NULL, *end = NULL;
    CUresult result = event_find(hStart, &start);
    if (result == CUDA_SUCCESS)
        result = event_find(hEnd, &end);
    if (result != CUDA_SUCCESS)
        return result;
    result = capture_check_event(start, false);
    if (result == CUDA_SUCCESS)
        result = capture_check_event(end, false);
    if (result != CUDA_SUCCESS)
        return result;
    if (pMilliseconds == NULL || start->op == NULL || end->op == NULL
        || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    if (start->context != end->context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!start->op->done || !end->op->done)
        return CUDA_ERROR_NOT_READY;
    *pMilliseconds = (float)((double)(int64_t)(end->op->time - start->op->time) / 1e6);
    return CUDA_SUCCESS;
}

CUresult soft_EventElapsedTime_v1(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return soft_EventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}
