/* SPDX-License-Identifier: MIT */
/*
 * The notification stream of a stream: a second stream of the driver in the same context. It waits for the events of
 * completions and then calls back, so that a callback does not hold up the work of the program. A stream of the driver
 * takes memory of the device and shares a few hardware queues with all others. So only a few streams of a context have
 * a notification stream; the callbacks of the others go onto the stream itself. A stream chooses once, at the first
 * callback, so that its callbacks keep their order.
 */
#include "stream_internal.h"

enum { MAX_IN_CONTEXT = 16, MAX_NOTIFICATION_STREAMS = 1024 };

static struct notification_stream {
    atomic_ullong id; /* of the context; 0: not in use */
    CUcontext context;
    CUstream handle;
    _Atomic(CUevent) event; /* recorded for one completion after the other; NULL while a thread uses it */
} notification_streams[MAX_NOTIFICATION_STREAMS];

static struct notification_stream on_the_stream_itself;

static int notification_count(unsigned long long id)
{
    int count = 0;
    for (int i = 0; i < MAX_NOTIFICATION_STREAMS; i++)
        count += atomic_load(&notification_streams[i].id) == id;
    return count;
}

static struct notification_stream *notification_take(unsigned long long id)
{
    for (int i = 0; i < MAX_NOTIFICATION_STREAMS; i++) {
        unsigned long long unused = 0;
        if (atomic_compare_exchange_strong(&notification_streams[i].id, &unused, id))
            return &notification_streams[i];
    }
    return &on_the_stream_itself;
}

static bool notification_create(struct notification_stream *notification, CUcontext context)
{
    CUcontext before = NULL;
    notification->context = context;
    if (cush_context_push(context, &before) != CUDA_SUCCESS)
        return false;
    CUresult result =
        cushim_table_legacy()->StreamCreateWithPriority_v1(&notification->handle, CU_STREAM_NON_BLOCKING, 0);
    cush_context_pop(context, before);
    return result == CUDA_SUCCESS;
}

static bool notification_context_exists(const struct notification_stream *notification)
{
    return cush_context_check_id(notification->context, atomic_load(&notification->id)) == CUDA_SUCCESS;
}

static void notification_destroy(struct notification_stream *notification)
{
    CUevent event = atomic_exchange(&notification->event, NULL);
    if (notification_context_exists(notification)) {
        if (event != NULL)
            (void)cushim_table_legacy()->EventDestroy_v2(event);
        (void)cushim_table_legacy()->StreamDestroy_v2(notification->handle);
    }
    atomic_store(&notification->id, 0);
}

static struct notification_stream *notification_new(CUcontext context, unsigned long long id)
{
    struct notification_stream *notification = id != 0 ? notification_take(id) : &on_the_stream_itself;
    if (notification == &on_the_stream_itself)
        return notification;
    if (notification_count(id) <= MAX_IN_CONTEXT && notification_create(notification, context))
        return notification;
    atomic_store(&notification->id, 0);
    return &on_the_stream_itself;
}

void cush_notification_choose(struct cushim_stream *stream, CUcontext context, unsigned long long id)
{
    struct notification_stream *chosen = NULL;
    if (atomic_load(&stream->notification) != NULL)
        return;
    struct notification_stream *made = notification_new(context, id);
    if (!atomic_compare_exchange_strong(&stream->notification, &chosen, made) && made != &on_the_stream_itself)
        notification_destroy(made);
}

/* A wait refers to the last record before it, so the next completion can record the same event. */
CUresult cush_notification_follow(const char *function, struct cushim_stream *stream, CUstream *out_handle)
{
    struct notification_stream *notification = atomic_load(&stream->notification);
    if (notification == &on_the_stream_itself) {
        *out_handle = stream->handle;
        return CUDA_SUCCESS;
    }
    CUevent unused = NULL;
    CUevent event = atomic_exchange(&notification->event, NULL);
    CUresult result = cush_event_record(function, stream, notification->context, &event);
    if (result == CUDA_SUCCESS)
        result = CUSH_CALL(StreamWaitEvent_v1, notification->handle, event, 0);
    if (!atomic_compare_exchange_strong(&notification->event, &unused, event) && event != NULL
        && notification_context_exists(notification))
        (void)cushim_table_legacy()->EventDestroy_v2(event);
    if (result == CUDA_SUCCESS)
        *out_handle = notification->handle;
    return result;
}

void cush_notification_end(struct cushim_stream *stream)
{
    struct notification_stream *notification = atomic_load(&stream->notification);
    if (notification != NULL && notification != &on_the_stream_itself)
        notification_destroy(notification);
}
