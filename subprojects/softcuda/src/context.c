/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "device.h"
#include "memory.h"
#include "queue.h"
#include "stream.h"

static struct context *primaries[DEVICE_MAX];
static CUresult errors[DEVICE_MAX]; /* what a kernel did to the device: sticky */

static void context_free(void *object)
{
    free(object);
}

/* Makes what a context that lives has. */
static bool start(struct context *context)
{
    context->alive = true;
    context->id = soft_next_id();
    context->legacy = stream_new(context, STREAM_LEGACY, 0, PRIORITY_LEAST);
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    return context->legacy != NULL;
}

static struct context *context_new(int device, bool primary)
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

void context_drain(struct context *context)
{
    object_retain(context);
    for (bool idle = false; !idle;) {
        idle = true;
        for (struct stream *stream = context->streams; stream != NULL; stream = stream->next) {
            if (!stream_is_idle(stream)) {
                object_retain(stream);
                stream_wait(stream);
                object_release(stream); /* perhaps its end */
                idle = false;
                break; /* the list may have changed meanwhile: from its head again */
            }
        }
    }
    object_release(context);
}

/* Ends all that belongs to the context. Handles of its streams and events stay, and say 709. */
static void stop(struct context *context)
{
    context_drain(context);
    context->alive = false;
    context->life++;
    for (struct stream *stream = context->streams; stream != NULL; stream = stream->next)
        capture_abandon(stream);
    memory_forget_context(context);
    struct stream *legacy = context->legacy;
    context->legacy = NULL;
    object_release(legacy);
}

struct context *context_current(void)
{
    struct thread *thread = thread_self();
    return thread == NULL || thread->depth == 0 ? NULL : thread->stack[thread->depth - 1];
}

void context_poison(const struct context *context, CUresult error)
{
    errors[context->device] = error;
}

void context_heal(void)
{
    for (int device = 0; device < DEVICE_MAX; device++)
        errors[device] = CUDA_SUCCESS;
}

CUresult context_error(const struct context *context)
{
    return errors[context->device];
}

bool context_in_callback(void)
{
    return thread_self()->running != NULL;
}

CUresult context_state(const struct context *context, uint64_t life)
{
    return !context->alive || context->life != life ? CUDA_ERROR_CONTEXT_IS_DESTROYED : errors[context->device];
}

CUresult context_need(struct context **ret_context)
{
    struct context *context = context_current();
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *ret_context = context;
    return context_state(context, context->life);
}

CUresult context_find(CUcontext handle, struct context **ret_context)
{
    if (handle == NULL)
        return context_need(ret_context);
    struct context *context = handle_find(OBJECT_CONTEXT, handle);
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *ret_context = context;
    return context_state(context, context->life);
}

static CUresult push(struct context *context)
{
    struct thread *thread = thread_self();
    if (thread == NULL
        || !soft_reserve((void **)&thread->stack, &thread->capacity, thread->depth + 1, sizeof(thread->stack[0])))
        return CUDA_ERROR_OUT_OF_MEMORY;
    object_retain(context);
    thread->stack[thread->depth++] = context;
    return CUDA_SUCCESS;
}

static void pop(void)
{
    struct thread *thread = thread_self();
    object_release(thread->stack[--thread->depth]);
}

/* ---- Plain contexts ---- */

static bool flags_are_valid(unsigned flags)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    unsigned known = soft_version >= 12010 ? CU_CTX_FLAGS_MASK : 0x1fu;
    return (flags & ~known) == 0 && schedule != 3 && schedule <= CU_CTX_SCHED_BLOCKING_SYNC;
}

CUresult soft_CtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    if (pctx == NULL || !flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    struct context *context = context_new(dev, false);
    if (context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->flags = flags;
    if (!start(context) || push(context) != CUDA_SUCCESS) {
        soft_CtxDestroy_v2((CUcontext)context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult soft_CtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                           CUdevice dev)
{
    if (paramsArray != NULL || numParams != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    return soft_CtxCreate_v2(pctx, flags, dev);
}

CUresult soft_CtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
    if (ctxCreateParams != NULL && (ctxCreateParams->numExecAffinityParams != 0 || ctxCreateParams->cigParams != NULL))
        return CUDA_ERROR_NOT_SUPPORTED;
    return soft_CtxCreate_v2(pctx, flags, dev);
}

CUresult soft_CtxDestroy_v2(CUcontext ctx)
{
    if (ctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct context *context = handle_find(OBJECT_CONTEXT, ctx);
    if (context == NULL || context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    handle_withdraw(context);
    stop(context);
    if (context_current() == context)
        pop();
    object_release(context);
    return CUDA_SUCCESS;
}

/* ---- Primary contexts ---- */

static CUresult primary_of(CUdevice dev, struct context **ret_context)
{
    if (!device_exists(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (primaries[dev] == NULL)
        primaries[dev] = context_new(dev, true);
    *ret_context = primaries[dev];
    return primaries[dev] == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult soft_DevicePrimaryCtxRetain_v1(CUcontext *pctx, CUdevice dev)
{
    struct context *context = NULL;
    if (pctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = primary_of(dev, &context);
    if (result == CUDA_SUCCESS)
        result = errors[dev];
    if (result == CUDA_SUCCESS && !context->alive && !start(context))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS)
        return result;
    context->retained++;
    *pctx = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult soft_DevicePrimaryCtxRelease_v2(CUdevice dev)
{
    struct context *context = NULL;
    CUresult result = primary_of(dev, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (context->retained == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--context->retained == 0)
        stop(context);
    return CUDA_SUCCESS;
}

CUresult soft_DevicePrimaryCtxRelease_v1(CUdevice dev)
{
    return soft_DevicePrimaryCtxRelease_v2(dev);
}

CUresult soft_DevicePrimaryCtxReset_v2(CUdevice dev)
{
    struct context *context = NULL;
    CUresult result = primary_of(dev, &context);
    if (result != CUDA_SUCCESS)
        return result;
    context->flags = 0;
    if (context->alive)
        stop(context);
    return CUDA_SUCCESS;
}

CUresult soft_DevicePrimaryCtxReset_v1(CUdevice dev)
{
    return soft_DevicePrimaryCtxReset_v2(dev);
}

CUresult soft_DevicePrimaryCtxGetState_v1(CUdevice dev, unsigned int *flags, int *active)
{
    struct context *context = NULL;
    if (flags == NULL || active == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = primary_of(dev, &context);
    if (result != CUDA_SUCCESS)
        return result;
    *flags = context->flags;
    *active = context->alive;
    return CUDA_SUCCESS;
}

CUresult soft_DevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    struct context *context = NULL;
    if (!flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = primary_of(dev, &context);
    if (result == CUDA_SUCCESS)
        context->flags = flags;
    return result;
}

CUresult soft_DevicePrimaryCtxSetFlags_v1(CUdevice dev, unsigned int flags)
{
    struct context *context = NULL;
    CUresult result = flags_are_valid(flags) ? primary_of(dev, &context) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && context->alive)
        return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
    return soft_DevicePrimaryCtxSetFlags_v2(dev, flags);
}

/* ---- The current context ---- */

CUresult soft_CtxPushCurrent_v2(CUcontext ctx)
{
    struct context *context = handle_find(OBJECT_CONTEXT, ctx);
    if (context == NULL)
        return ctx == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
    return push(context); /* a primary one may be pushed that does not live just now */
}

CUresult soft_CtxPopCurrent_v2(CUcontext *pctx)
{
    struct context *context = context_current();
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx != NULL)
        *pctx = (CUcontext)context;
    pop();
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
        object_retain(context); /* the pop may give up the last reference */
    }
    if (context_current() != NULL)
        pop();
    CUresult result = context == NULL ? CUDA_SUCCESS : push(context);
    object_release(context);
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
    object_retain(context);
    context_drain(context);
    result = context_state(context, life);
    object_release(context);
    return result;
}

CUresult soft_CtxSynchronize_v1(void)
{
    return soft_CtxSynchronize_v2(NULL);
}
