/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "device.h"
#include "memory.h"
#include "queue.h"
#include "sticky_error.h"
#include "stream.h"

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
    struct context *context = object_new(OBJECT_CONTEXT, sizeof(*context), context_free);
    if (context == NULL || !handle_publish(context)) {
        free(context);
        return NULL;
    }
    context->device = device;
    context->primary = primary;
    return context;
}

struct context *context_home(struct context *context)
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
    context->life++;
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

CUresult context_state(const struct context *context, uint64_t life)
{
    return !context->alive || context->life != life ? CUDA_ERROR_CONTEXT_IS_DESTROYED : sticky_error(context->device);
}

bool context_was_followed(const struct context *context, uint64_t life)
{
    return context_state(context, life) == CUDA_ERROR_CONTEXT_IS_DESTROYED && context->ended_at < starts;
}

CUresult context_need(struct context **out_context)
{
    struct context *context = context_current();
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *out_context = context;
    return context_state(context, context->life);
}

CUresult context_find(CUcontext handle, struct context **out_context)
{
    if (handle == NULL)
        return context_need(out_context);
    struct context *context = handle_find(OBJECT_CONTEXT, handle);
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *out_context = context;
    return context_state(context, context->life);
}

static CUresult context_push(struct context *context)
{
    struct thread *thread = thread_self();
    if (thread == NULL
        || !soft_reserve((void **)&thread->stack, &thread->capacity, thread->depth + 1, sizeof(thread->stack[0])))
        return CUDA_ERROR_OUT_OF_MEMORY;
    object_ref(context);
    thread->stack[thread->depth++] = context;
    return CUDA_SUCCESS;
}

static void context_pop(void)
{
    struct thread *thread = thread_self();
    object_unref(thread->stack[--thread->depth]);
}

bool context_flags_are_valid(unsigned flags)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    unsigned known = soft_version >= 12010 ? CU_CTX_FLAGS_MASK : 0x1fu;
    return (flags & ~known) == 0 && schedule != 3 && schedule <= CU_CTX_SCHED_BLOCKING_SYNC;
}

CUresult soft_CtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    if (pctx == NULL || !context_flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    struct context *context = context_new(dev, false);
    if (context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->flags = flags;
    if (!context_start(context) || context_push(context) != CUDA_SUCCESS) {
        soft_CtxDestroy_v2((CUcontext)context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult soft_CtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                           CUdevice dev)
{
    if (numParams > 0)
        return paramsArray == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return soft_CtxCreate_v2(pctx, flags, dev);
}

CUresult soft_CtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
    if (ctxCreateParams == NULL)
        return soft_CtxCreate_v2(pctx, flags, dev);
    if (ctxCreateParams->cigParams != NULL)
        return CUDA_ERROR_NOT_SUPPORTED;
    return soft_CtxCreate_v3(pctx, ctxCreateParams->execAffinityParams, ctxCreateParams->numExecAffinityParams, flags,
                             dev);
}

CUresult soft_CtxDestroy_v2(CUcontext ctx)
{
    if (ctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct context *context = handle_find(OBJECT_CONTEXT, ctx);
    if (context == NULL || context->primary || context->parent != NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    handle_withdraw(context);
    context_stop(context);
    if (context_current() == context)
        context_pop();
    object_unref(context);
    return CUDA_SUCCESS;
}

CUresult soft_CtxPushCurrent_v2(CUcontext ctx)
{
    struct context *context = handle_find(OBJECT_CONTEXT, ctx);
    if (context == NULL)
        return ctx == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
    return context_push(context); /* an inactive primary context may be pushed */
}

CUresult soft_CtxPopCurrent_v2(CUcontext *pctx)
{
    struct context *context = context_current();
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx != NULL)
        *pctx = (CUcontext)context;
    context_pop();
    return CUDA_SUCCESS;
}

CUresult soft_CtxSetCurrent_v1(CUcontext ctx)
{
    struct context *context = NULL;
    if (ctx != NULL) {
        context = handle_find(OBJECT_CONTEXT, ctx);
        if (context == NULL)
            return CUDA_ERROR_INVALID_CONTEXT;
        if (!context->alive)
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        object_ref(context); /* the pop may drop the last reference */
    }
    if (context_current() != NULL)
        context_pop();
    CUresult result = context == NULL ? CUDA_SUCCESS : context_push(context);
    object_unref(context);
    return result;
}

CUresult soft_CtxGetCurrent_v1(CUcontext *pctx)
{
    if (soft_forked())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (pctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (context_in_callback())
        return CUDA_ERROR_NOT_PERMITTED;
    *pctx = (CUcontext)context_current();
    return CUDA_SUCCESS;
}

CUresult soft_CtxSynchronize_v2(CUcontext ctx)
{
    struct context *context = NULL;
    CUresult result = context_find(ctx, &context);
    if (result == CUDA_SUCCESS)
        result = capture_forbid_in_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t life = context->life;
    object_ref(context);
    context_drain(context);
    result = context_state(context, life);
    object_unref(context);
    return result;
}

CUresult soft_CtxSynchronize_v1(void)
{
    return soft_CtxSynchronize_v2(NULL);
}
