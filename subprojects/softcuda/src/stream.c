/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <stdlib.h>

#include "capture.h"
#include "context.h"
#include "queue.h"
#include "sticky_error.h"

static void stream_free(void *object)
{
    struct stream *stream = object;
    *stream->link = stream->next;
    if (stream->next != NULL)
        stream->next->link = stream->link;
    if (stream->last != NULL)
        op_unref(stream->last);
    frontier_clear(&stream->frontier);
    object_unref(stream->context);
    free(stream);
}

struct stream *stream_new(struct context *context, enum stream_role role, unsigned flags, int priority)
{
    struct stream *stream = object_new(OBJECT_STREAM, sizeof(*stream), stream_free);
    if (stream == NULL)
        return NULL;
    object_ref(context);
    stream->context = context;
    stream->life = context->life;
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
        if (stream->context == context && stream->life == context->life)
            return stream;
        if (stream->context->life != stream->life) { /* its context was reset, so it is obsolete */
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

CUresult stream_find_any(CUstream handle, struct stream **out_stream)
{
    bool special = handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    if (!special) {
        struct stream *stream = handle_find(OBJECT_STREAM, handle);
        if (stream == NULL)
            return CUDA_ERROR_INVALID_HANDLE;
        *out_stream = stream;
        return stream->context->life == stream->life ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
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

/* The output of a creation that fails for lack of a context: not NULL, and not a valid stream. */
static const char no_stream;

CUresult soft_StreamCreateWithPriority_v1(CUstream *phStream, unsigned int flags, int priority)
{
    struct context *context = NULL;
    if (phStream == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!soft_initialised())
        return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = context_need(&context);
    if (result == CUDA_SUCCESS)
        return stream_create(context, flags, priority, phStream);
    *phStream = (CUstream)&no_stream;
    return result;
}

CUresult soft_StreamCreate_v1(CUstream *phStream, unsigned int Flags)
{
    return soft_StreamCreateWithPriority_v1(phStream, Flags, PRIORITY_LEAST);
}

CUresult soft_StreamDestroy_v2(CUstream hStream)
{
    if (hStream == CU_STREAM_LEGACY && context_current() == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (hStream == NULL || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (stream == NULL || result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return result;
    capture_abandon(stream);
    handle_withdraw(stream);
    object_unref(stream); /* the operations in its queue keep it until they are complete */
    return result;
}

CUresult soft_StreamDestroy_v1(CUstream hStream)
{
    return soft_StreamDestroy_v2(hStream);
}

CUresult soft_StreamQuery_v1(CUstream hStream)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = capture_check_stream(stream);
    if (result != CUDA_SUCCESS)
        return result;
    return stream_is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult soft_StreamSynchronize_v1(CUstream hStream)
{
    struct stream *stream = NULL;
    CUresult result = stream_find(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = capture_check_stream(stream);
    if (result != CUDA_SUCCESS)
        return result;
    object_ref(stream);
    stream_wait(stream);
    result = context_state(stream->context, stream->life);
    object_unref(stream);
    return result;
}
