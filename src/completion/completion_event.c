/* SPDX-License-Identifier: MIT */
/*
 * A completion keeps its event when it is reused in the same context. The driver crashes when it is called with an
 * event of a context that was destroyed. Therefore the id of the context is compared before each call on the event, and
 * an event of a context that is gone is forgotten. A thread announces its calls, so that the end of a context can wait
 * for them: completion_context.c.
 */
#include "completion_event.h"

#include "../stream/context_object.h"
#include "../stream/property.h"
#include "../stream/stream_object.h"
#include "completion_helper.h"

/* A function can also be missing because it is hidden. The answer does not change once a driver is loaded, and a
 * stream comes from a loaded driver. */
static bool driver_has_what_events_need(void)
{
    static const enum cushim_slot needed[] = {
        CUSHIM_SLOT_CtxGetId_v1,        CUSHIM_SLOT_ThreadExchangeStreamCaptureMode_v1,
        CUSHIM_SLOT_EventCreate_v1,     CUSHIM_SLOT_EventRecord_v1,
        CUSHIM_SLOT_EventQuery_v1,      CUSHIM_SLOT_StreamCreateWithPriority_v1,
        CUSHIM_SLOT_StreamWaitEvent_v1,
    };
    static atomic_int has = -1;
    int known = atomic_load_explicit(&has, memory_order_relaxed);
    if (known < 0) {
        known = 1;
        for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
            known &= cushim_query_slot_state(needed[i], CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING;
        atomic_store_explicit(&has, known, memory_order_relaxed);
    }
    return known != 0;
}

/*
 * Before CUDA 12.0, contexts have no id. Before CUDA 10.1, a query can invalidate a capture. A special stream belongs
 * to the context and the thread of each call. The stream of a green context belongs to two contexts. The child of a
 * fork() has events of its parent.
 */
struct event_place cush_completion_event_place(struct cushim_stream *stream)
{
    struct event_place place = {NULL, 0};
    CUgreenCtx green = NULL;
    if (stream->special || cush_os_process_generation() != 0 || !driver_has_what_events_need()
        || cush_stream_find_context(stream, &place.context, &green) != CUDA_SUCCESS || green != NULL
        || cush_context_find_id(place.context, &place.id) != CUDA_SUCCESS)
        place.id = 0;
    return place;
}

/* An error counts only if the driver repeats it. */
enum { REPETITIONS = 4 };

static CUresult event_check_context(const struct cushim_completion *completion)
{
    return cush_context_check_id(completion->event.context, completion->event.id);
}

/* In the relaxed mode, the query invalidates no capture. */
static CUresult event_query_once(const struct cushim_completion *completion)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (cushim_table_legacy()->ThreadExchangeStreamCaptureMode_v1(&mode) != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_READY;
    CUresult result = cushim_table_legacy()->EventQuery_v1(completion->event.handle);
    cush_capture_mode_restore(mode != CU_STREAM_CAPTURE_MODE_RELAXED, mode);
    return result;
}

static CUresult event_query(const struct cushim_completion *completion)
{
    CUresult result = event_query_once(completion);
    for (int i = 0; i < REPETITIONS && result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY; i++)
        if (event_query_once(completion) != result)
            return CUDA_ERROR_NOT_READY;
    return result;
}

static bool event_create(struct cushim_completion *completion, const struct event_place *place)
{
    CUevent handle = NULL;
    CUcontext before = NULL;
    if (!cush_context_push(place->context, &before))
        return false;
    cush_helpers_open(place->context, place->id);
    CUresult result = cushim_table_legacy()->EventCreate_v1(&handle, CU_EVENT_DISABLE_TIMING);
    cush_context_pop(before);
    if (result != CUDA_SUCCESS)
        return false;
    completion->event.handle = handle;
    completion->event.context = place->context;
    completion->event.id = place->id;
    return true;
}

/* The driver refused a callback of a helper, which was closed then. */
static void event_replace_helpers(const struct event_place *place)
{
    CUcontext before = NULL;
    if (cush_context_push(place->context, &before)) {
        cush_helpers_open(place->context, place->id);
        cush_context_pop(before);
    }
}

/* An event of another context that exists stays. */
bool cush_completion_prepare_event(struct cushim_completion *completion, const struct event_place *place)
{
    if (place->id == 0)
        return false;
    if (completion->event.handle != NULL && completion->event.id == place->id) {
        if (cush_helpers_are_missing(place->id))
            event_replace_helpers(place);
        return true;
    }
    if (completion->event.handle != NULL && event_check_context(completion) != CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return false;
    completion->event.handle = NULL;
    return event_create(completion, place);
}

bool cush_completion_record(struct cushim_stream *stream, struct cushim_completion *completion)
{
    unsigned before = atomic_load(&stream->recorded);
    if (cushim_table_legacy()->EventRecord_v1(completion->event.handle, stream->handle) != CUDA_SUCCESS)
        return false;
    /* Work is older than other work if its number is at most the other's number_before. */
    completion->number_before = before;
    completion->number = atomic_fetch_add(&stream->recorded, 1) + 1;
    completion->of.stream = cush_stream_ref(stream);
    atomic_store_explicit(&completion->by_event, true, memory_order_release);
    return true;
}

CUresult cush_completion_event_begin(struct cushim_completion *completion)
{
    CUresult result = CUDA_ERROR_NOT_READY;
    if (!cush_completion_has_event(completion))
        return result;
    atomic_fetch_add(&completion->event_calls, 1);
    if ((atomic_load(&completion->state) & (COMPLETION_FIRED | COMPLETION_ENGAGED)) == 0)
        result = event_check_context(completion);
    if (result != CUDA_SUCCESS)
        cush_completion_event_end(completion);
    return result;
}

void cush_completion_event_end(struct cushim_completion *completion)
{
    atomic_fetch_sub(&completion->event_calls, 1);
}

/* A query of the driver is not a cancellation point: tests/stream/cancel.c. */
CUresult cush_completion_event_query(struct cushim_completion *completion)
{
    CUresult result = cush_completion_event_begin(completion);
    if (result == CUDA_SUCCESS) {
        result = event_query(completion);
        cush_completion_event_end(completion);
    }
    return result;
}
