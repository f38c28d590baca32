/* SPDX-License-Identifier: MIT */
/* Contexts: their start and end, and the current one of a thread. */
#include "engine.h"

#include <stdlib.h>

static void context_free(void *object)
{
    free(object);
}

static uint64_t starts; /* contexts that were started so far */

bool context_start(struct context *context)
{
    starts++;
    context->alive = true;
    context->id = soft_next_id();
    context->legacy = stream_new(context, STREAM_LEGACY, 0, PRIORITY_LEAST);
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    return context->legacy != NULL;
}

struct context *context_new(int device, bool primary)
{
    struct context *context = object_new(OBJECT_CONTEXT, sizeof *context, context_free);
    if (context == NULL || !handle_publish(context)) {
        free(context);
        return NULL;
    }
    context->device = device;
    context->primary = primary;
    return context;
}

struct context *context_primary(struct context *context)
{
    return context->parent == NULL ? context : context->parent;
}

/* A stream with pending work, of the context or of its green contexts. */
static struct stream *context_busy_stream(const struct context *context)
{
    for (struct stream *stream = context->streams; stream != NULL; stream = stream->next)
        if (!stream_is_idle(stream))
            return stream;
    for (const struct context *green = context->greens; green != NULL; green = green->next_green) {
        struct stream *stream = context_busy_stream(green);
        if (stream != NULL)
            return stream;
    }
    return NULL;
}

void context_drain(struct context *context)
{
    object_ref(context);
    for (struct stream *stream; (stream = context_busy_stream(context)) != NULL;) {
        object_ref(stream);
        stream_wait(stream);
        object_unref(stream); /* may free the stream */
    }
    object_unref(context);
}

static void context_end_objects(struct context *context)
{
    context->alive = false;
    context->generation++;
    context->ended_at = starts;
    for (struct stream *stream = context->streams; stream != NULL; stream = stream->next)
        capture_abandon(stream);
    memory_forget_context(context);
    struct stream *legacy = context->legacy;
    context->legacy = NULL;
    object_unref(legacy);
}

void context_stop(struct context *context)
{
    context_drain(context);
    for (struct context *green = context->greens; green != NULL; green = green->next_green)
        context_end_objects(green);
    context_end_objects(context);
}

struct context *context_current(void)
{
    struct thread *thread = thread_self();
    return thread == NULL || thread->depth == 0 ? NULL : thread->stack[thread->depth - 1];
}

bool context_in_callback(void)
{
    return thread_self()->running != NULL;
}

CUresult context_state(const struct context *context, uint64_t generation)
{
    return !context->alive || context->generation != generation ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                                : sticky_error(context->device);
}

bool context_has_successor(const struct context *context, uint64_t generation)
{
    return context_state(context, generation) == CUDA_ERROR_CONTEXT_IS_DESTROYED && context->ended_at < starts;
}

CUresult context_is_null(CUresult result)
{
    thread_explain("NULL is not a valid context");
    return result;
}

CUresult context_need(struct context **out_context)
{
    struct context *context = context_current();
    if (context == NULL)
        return context_is_null(CUDA_ERROR_INVALID_CONTEXT);
    *out_context = context;
    return context_state(context, context->generation);
}

CUresult context_find(CUcontext handle, struct context **out_context)
{
    if (handle == NULL)
        return context_need(out_context);
    struct context *context = handle_find(OBJECT_CONTEXT, handle);
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *out_context = context;
    return context_state(context, context->generation);
}
