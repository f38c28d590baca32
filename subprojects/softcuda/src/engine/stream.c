/* SPDX-License-Identifier: MIT */
/* Streams: the meaning of a handle, and waiting for their work. */
#include "engine.h"

#include <stdlib.h>

static void stream_free(void *object)
{
    struct stream *stream = object;
    *stream->link = stream->next;
    if (stream->next != NULL)
        stream->next->link = stream->link;
    if (stream->last != NULL)
        op_unref(stream->last);
    node_set_clear(&stream->dependencies);
    object_unref(stream->context);
    free(stream);
}

struct stream *stream_new(struct context *context, enum stream_role role, unsigned flags, int priority)
{
    struct stream *stream = object_new(OBJECT_STREAM, sizeof *stream, stream_free);
    if (stream == NULL)
        return NULL;
    object_ref(context);
    stream->context = context;
    stream->generation = context->generation;
    stream->role = role;
    stream->id = soft_next_id();
    stream->flags = flags;
    stream->priority = priority;
    stream->policy = (CUsynchronizationPolicy)-1; /* the policy of a stream on which none was set */
    stream->domain_map.memSyncDomainMap.remote = 1;
    stream->next = context->streams;
    stream->link = &context->streams;
    if (stream->next != NULL)
        stream->next->link = &stream->next;
    context->streams = stream;
    return stream;
}

bool stream_is_blocking(const struct stream *stream)
{
    return stream->role != STREAM_LEGACY && (stream->flags & CU_STREAM_NON_BLOCKING) == 0;
}

/* The per-thread stream of the calling thread in a context, created on first use. */
static struct stream *stream_of_thread(struct context *context)
{
    struct thread *thread = thread_self();
    if (thread == NULL)
        return NULL;
    struct stream **at = &thread->streams;
    while (*at != NULL) {
        struct stream *stream = *at;
        if (stream->context == context && stream->generation == context->generation)
            return stream;
        if (stream->context->generation != stream->generation) { /* its context was reset, so it is obsolete */
            *at = stream->next_of_thread;
            object_unref(stream);
        } else {
            at = &stream->next_of_thread;
        }
    }
    struct stream *stream = stream_new(context, STREAM_PER_THREAD, 0, PRIORITY_LEAST);
    if (stream != NULL) {
        stream->next_of_thread = thread->streams;
        thread->streams = stream;
    }
    return stream;
}

void stream_end_thread(struct thread *thread)
{
    while (thread->streams != NULL) {
        struct stream *stream = thread->streams;
        thread->streams = stream->next_of_thread;
        capture_abandon(stream);
        object_unref(stream);
    }
}

/* Without regard to the sticky error. */
static CUresult stream_find_any(CUstream handle, struct stream **out_stream)
{
    bool special = handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    if (!special) {
        struct stream *stream = handle_find(OBJECT_STREAM, handle);
        if (stream == NULL)
            return CUDA_ERROR_INVALID_HANDLE;
        *out_stream = stream;
        return stream->context->generation == stream->generation ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    struct context *context = context_current();
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    bool per_thread = handle == CU_STREAM_PER_THREAD || (handle == NULL && thread_self()->per_thread);
    if (per_thread && context->green != NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    *out_stream = per_thread ? stream_of_thread(context) : context->legacy;
    return *out_stream == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult stream_find(CUstream handle, struct stream **out_stream)
{
    CUresult result = stream_find_any(handle, out_stream);
    return result == CUDA_SUCCESS ? sticky_error((*out_stream)->context->device) : result;
}

CUresult stream_default(struct stream **out_stream)
{
    return stream_find(NULL, out_stream);
}

static bool op_is_over(const struct op *op)
{
    return op == NULL || op->done || op == thread_self()->running;
}

bool stream_is_idle(const struct stream *stream)
{
    if (!op_is_over(stream->last))
        return false;
    if (stream->role != STREAM_LEGACY)
        return true;
    for (const struct stream *other = stream->context->streams; other != NULL; other = other->next)
        if (stream_is_blocking(other) && !op_is_over(other->last))
            return false;
    return true;
}

void stream_wait(struct stream *stream)
{
    if (stream->role != STREAM_LEGACY) {
        if (!op_is_over(stream->last))
            op_wait(stream->last);
        return;
    }
    /* A copy of the list of blocking streams, because streams may be added to it meanwhile. */
    struct context *context = stream->context;
    size_t count = 0, capacity = 0;
    struct op **ops = NULL;
    for (struct stream *other = context->streams; other != NULL; other = other->next) {
        if ((other != stream && !stream_is_blocking(other)) || op_is_over(other->last))
            continue;
        if (!soft_reserve((void **)&ops, &capacity, count + 1, sizeof(struct op *)))
            break;
        op_ref(other->last);
        ops[count++] = other->last;
    }
    for (size_t i = 0; i < count; i++) {
        op_wait(ops[i]);
        op_unref(ops[i]);
    }
    free(ops);
}

int stream_clamp_priority(int priority)
{
    if (priority > PRIORITY_LEAST)
        return PRIORITY_LEAST;
    return priority < PRIORITY_GREATEST ? PRIORITY_GREATEST : priority;
}

CUresult stream_create(struct context *context, unsigned flags, int priority, CUstream *out_stream)
{
    struct stream *stream = stream_new(context, STREAM_CREATED, flags, stream_clamp_priority(priority));
    if (stream == NULL || !handle_publish(stream)) {
        object_unref(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out_stream = (CUstream)stream;
    return CUDA_SUCCESS;
}
