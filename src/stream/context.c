/* SPDX-License-Identifier: MIT */
/* Contexts: creating and wrapping them, and making one current for a call. */
#include "stream_internal.h"

#include <stdlib.h>

struct cushim_context *cush_context_ref(struct cushim_context *context)
{
    if (context != NULL)
        atomic_fetch_add_explicit(&context->references, 1, memory_order_relaxed);
    return context;
}

CUresult cush_context_unref(struct cushim_context *context)
{
    CUresult result = CUDA_SUCCESS;
    if (context == NULL || atomic_fetch_sub_explicit(&context->references, 1, memory_order_acq_rel) != 1)
        return CUDA_SUCCESS;
    if (context->kind == CONTEXT_PRIMARY)
        result = CUSH_CALL(DevicePrimaryCtxRelease_v2, context->device);
    else if (context->kind == CONTEXT_OWN)
        result = CUSH_CALL(CtxDestroy_v2, context->handle);
    free(context);
    return result;
}

/* The caller's current context is queried first, so that it can be restored even if popping fails. */
CUresult cushim_context_enter(struct cushim_context *context, CUcontext *out_before)
{
    CUcontext before = NULL;
    if (context == NULL)
        return fail_null_context("cushim_context_enter");
    if (out_before == NULL)
        return fail_null_output("cushim_context_enter");
    CUresult result = CUSH_CALL(CtxGetCurrent_v1, &before);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(CtxPushCurrent_v2, context->handle);
    if (result == CUDA_SUCCESS)
        *out_before = before;
    return result;
}

/*
 * In a balanced block, the pop restores the caller's context. A block that sets none current pops the context of the
 * block, so that this pop removes the caller's context, or finds an empty stack.
 */
CUresult cushim_context_leave(CUcontext before)
{
    CUcontext popped;
    CUcontext current = NULL;
    CUresult result = cushim_table_legacy()->CtxPopCurrent_v2(&popped);
    if (result == CUDA_ERROR_INVALID_CONTEXT)
        result = CUDA_SUCCESS;
    cushim_error_set_driver(result, CUSHIM_SLOT_CtxPopCurrent_v2);
    if (result == CUDA_SUCCESS)
        result = CUSH_CALL(CtxGetCurrent_v1, &current);
    if (result == CUDA_SUCCESS && current == before)
        return CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && before != NULL)
        result = CUSH_CALL(CtxPushCurrent_v2, before);
    if (result != CUDA_SUCCESS || before == NULL)
        cushim_table_legacy()->CtxSetCurrent_v1(before);
    return result;
}

CUresult cush_context_push(CUcontext context, CUcontext *out_before)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    CUresult result = table->CtxGetCurrent_v1(out_before);
    return result != CUDA_SUCCESS || *out_before == context ? result : table->CtxPushCurrent_v2(context);
}

void cush_context_pop(CUcontext context, CUcontext before)
{
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    CUcontext popped;
    CUcontext current = NULL;
    if (before == context)
        return;
    if (table->CtxPopCurrent_v2(&popped) != CUDA_SUCCESS || table->CtxGetCurrent_v1(&current) != CUDA_SUCCESS
        || current != before)
        table->CtxSetCurrent_v1(before);
}

/* Returns the driver's handle of a device. Loads and initialises the driver if that has not been done. */
static CUresult context_find_device(int ordinal, CUdevice *out_device)
{
    CUresult result = cushim_init();
    if (result != CUDA_SUCCESS)
        return result;
    return CUSH_CALL(DeviceGet_v1, out_device, ordinal);
}

static struct cushim_context *context_new(enum context_kind kind)
{
    struct cushim_context *context = calloc(1, sizeof *context);
    if (context != NULL) {
        atomic_init(&context->references, 1);
        context->kind = kind;
    }
    return context;
}

CUresult cushim_context_create_primary(int ordinal, struct cushim_context **out_context)
{
    static const char function[] = "cushim_context_create_primary";
    if (out_context == NULL)
        return fail_null_output(function);
    struct cushim_context *context = context_new(CONTEXT_PRIMARY);
    if (context == NULL)
        return fail_out_of_memory(function);
    CUresult result = context_find_device(ordinal, &context->device);
    if (result == CUDA_SUCCESS)
        result = CUSH_CALL(DevicePrimaryCtxRetain_v1, &context->handle, context->device);
    if (result == CUDA_SUCCESS)
        *out_context = context;
    else
        free(context);
    return result;
}

CUresult cushim_context_create(int ordinal, unsigned flags, struct cushim_context **out_context)
{
    static const char function[] = "cushim_context_create";
    if (out_context == NULL)
        return fail_null_output(function);
    struct cushim_context *context = context_new(CONTEXT_OWN);
    if (context == NULL)
        return fail_out_of_memory(function);
    CUcontext before = NULL;
    CUresult result = context_find_device(ordinal, &context->device);
    if (result == CUDA_SUCCESS)
        result = CUSH_CALL(CtxGetCurrent_v1, &before);
    if (result == CUDA_SUCCESS)
        result = CUSH_CALL(CtxCreate_v2, &context->handle, flags, context->device);
    if (result != CUDA_SUCCESS) {
        free(context);
        return result;
    }
    result = cushim_context_leave(before);
    if (result != CUDA_SUCCESS) {
        cush_context_unref(context);
        return result;
    }
    *out_context = context;
    return CUDA_SUCCESS;
}

/* Sets the flags of a primary context, unless it is active: then it belongs to other code, too. */
static CUresult context_set_primary_flags(int ordinal, unsigned flags)
{
    CUdevice device;
    unsigned before;
    int active;
    CUresult result = context_find_device(ordinal, &device);
    if (result == CUDA_SUCCESS)
        result = CUSH_CALL(DevicePrimaryCtxGetState_v1, device, &before, &active);
    if (result == CUDA_SUCCESS && !active)
        result = CUSH_CALL(DevicePrimaryCtxSetFlags_v2, device, flags);
    return result;
}

CUresult cushim_context_create_preferred(int ordinal, unsigned flags, struct cushim_context **out_context)
{
    if (out_context == NULL)
        return fail_null_output("cushim_context_create_preferred");
    CUresult result = cushim_init();
    if (result != CUDA_SUCCESS)
        return result;
    if (cushim_slot_get_state(CUSHIM_SLOT_DevicePrimaryCtxRetain_v1, CUSHIM_DEFAULT_STREAM_LEGACY)
        == CUSHIM_STATE_MISSING)
        return cushim_context_create(ordinal, flags, out_context);
    if (flags != 0)
        result = context_set_primary_flags(ordinal, flags);
    return result == CUDA_SUCCESS ? cushim_context_create_primary(ordinal, out_context) : result;
}

/* Wraps a context. Asking the driver for its device also checks the handle. */
static CUresult context_wrap(const char *function, CUcontext handle, CUgreenCtx green,
                             struct cushim_context **out_context)
{
    struct cushim_context *context = context_new(CONTEXT_BORROWED);
    if (context == NULL)
        return fail_out_of_memory(function);
    context->handle = handle;
    context->green = green;
    CUresult result = CUSH_CALL(CtxGetDevice_v2, &context->device, handle);
    if (result == CUDA_SUCCESS)
        *out_context = context;
    else
        free(context);
    return result;
}

CUresult cushim_context_borrow(CUcontext handle, struct cushim_context **out_context)
{
    static const char function[] = "cushim_context_borrow";
    if (out_context == NULL)
        return fail_null_output(function);
    if (handle == NULL)
        return cushim_error_set(CUDA_ERROR_INVALID_CONTEXT, function, "The context is NULL.");
    return context_wrap(function, handle, NULL, out_context);
}

CUresult cushim_context_borrow_green(CUgreenCtx green, struct cushim_context **out_context)
{
    static const char function[] = "cushim_context_borrow_green";
    CUcontext handle = NULL;
    if (out_context == NULL)
        return fail_null_output(function);
    if (green == NULL)
        return cushim_error_set(CUDA_ERROR_INVALID_CONTEXT, function, "The green context is NULL.");
    CUresult result = CUSH_CALL(CtxFromGreenCtx_v1, &handle, green);
    if (result != CUDA_SUCCESS)
        return result;
    return context_wrap(function, handle, green, out_context);
}

CUresult cushim_context_destroy(struct cushim_context **context)
{
    if (context == NULL)
        return CUDA_SUCCESS;
    struct cushim_context *destroyed = *context;
    *context = NULL;
    return cush_context_unref(destroyed);
}

CUcontext cushim_context_handle(const struct cushim_context *context)
{
    return context != NULL ? context->handle : NULL;
}

CUresult cushim_context_get_device(const struct cushim_context *context, CUdevice *out_device)
{
    if (context == NULL)
        return fail_null_context("cushim_context_get_device");
    if (out_device == NULL)
        return fail_null_output("cushim_context_get_device");
    *out_device = context->device;
    return CUDA_SUCCESS;
}

CUresult cushim_context_get_priority_range(struct cushim_context *context, int *out_least, int *out_greatest)
{
    int least = 0;
    int greatest = 0;
    CUcontext before = NULL;
    if (context == NULL)
        return fail_null_context("cushim_context_get_priority_range");
    CUresult result = cushim_context_enter(context, &before);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUSH_CALL(CtxGetStreamPriorityRange_v1, &least, &greatest);
    CUresult left = cushim_context_leave(before);
    if (result != CUDA_SUCCESS || left != CUDA_SUCCESS)
        return result != CUDA_SUCCESS ? result : left;
    if (out_least != NULL)
        *out_least = least;
    if (out_greatest != NULL)
        *out_greatest = greatest;
    return CUDA_SUCCESS;
}

CUresult cush_context_find_id(CUcontext context, unsigned long long *out_id)
{
    return cushim_table_legacy()->CtxGetId_v1(context, out_id);
}

static CUresult context_check_id_once(CUcontext context, unsigned long long id)
{
    unsigned long long current = 0;
    CUresult result = cush_context_find_id(context, &current);
    if (result == CUDA_SUCCESS ? current != id : result == CUDA_ERROR_INVALID_CONTEXT)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return result;
}

CUresult cush_context_check_id(CUcontext context, unsigned long long id)
{
    CUresult result = context_check_id_once(context, id);
    const int repetitions = 4;
    for (int i = 0; i < repetitions && result != CUDA_SUCCESS; i++)
        if (context_check_id_once(context, id) != result)
            return CUDA_ERROR_NOT_READY;
    return result;
}
