/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <stdlib.h>

struct cushim_context *cushim_priv_context_hold(struct cushim_context *context)
{
    if (context != NULL)
        atomic_fetch_add_explicit(&context->references, 1, memory_order_relaxed);
    return context;
}

CUresult cushim_priv_context_drop(struct cushim_context *context)
{
    CUresult result = CUDA_SUCCESS;
    if (context == NULL || atomic_fetch_sub_explicit(&context->references, 1, memory_order_acq_rel) != 1)
        return CUDA_SUCCESS;
    if (context->kind == CONTEXT_PRIMARY)
        result = cushim_report_call(cushim_table()->DevicePrimaryCtxRelease_v2(context->device),
                                    CUSHIM_SLOT_DevicePrimaryCtxRelease_v2);
    else if (context->kind == CONTEXT_OWN)
        result = cushim_report_call(cushim_table()->CtxDestroy_v2(context->handle), CUSHIM_SLOT_CtxDestroy_v2);
    free(context);
    return result;
}

/* The caller's current context is asked for first, so that it can be restored even where popping fails. */
CUresult cushim_priv_context_enter(struct cushim_context *context, CUcontext *ret_before)
{
    const struct cushim_table *table = cushim_table();
    CUcontext before = NULL;
    CUresult result = table->CtxGetCurrent_v1(&before);
    if (result != CUDA_SUCCESS)
        return cushim_report_call(result, CUSHIM_SLOT_CtxGetCurrent_v1);
    result = table->CtxPushCurrent_v2(context->handle);
    if (result == CUDA_SUCCESS)
        *ret_before = before;
    return cushim_report_call(result, CUSHIM_SLOT_CtxPushCurrent_v2);
}

CUresult cushim_priv_context_leave(CUcontext before)
{
    const struct cushim_table *table = cushim_table();
    CUcontext popped;
    CUresult result = table->CtxPopCurrent_v2(&popped);
    if (result != CUDA_SUCCESS) {
        table->CtxSetCurrent_v1(before);
        cushim_report_call(result, CUSHIM_SLOT_CtxPopCurrent_v2);
    }
    return result;
}

/* The driver's own device handle for a number; starts the driver if nobody has. */
static CUresult find_device(int ordinal, CUdevice *ret_device)
{
    CUresult result = cushim_init();
    if (result != CUDA_SUCCESS)
        return result;
    return cushim_report_call(cushim_table()->DeviceGet_v1(ret_device, ordinal), CUSHIM_SLOT_DeviceGet_v1);
}

static struct cushim_context *new_context(int kind)
{
    struct cushim_context *context = calloc(1, sizeof *context);
    if (context != NULL) {
        atomic_init(&context->references, 1);
        context->kind = kind;
    }
    return context;
}

CUresult cushim_context_create_primary(int ordinal, struct cushim_context **ret_context)
{
    static const char function[] = "cushim_context_create_primary";
    if (ret_context == NULL)
        return no_place(function);
    struct cushim_context *context = new_context(CONTEXT_PRIMARY);
    if (context == NULL)
        return no_memory(function);
    CUresult result = find_device(ordinal, &context->device);
    if (result == CUDA_SUCCESS)
        result = cushim_report_call(cushim_table()->DevicePrimaryCtxRetain_v1(&context->handle, context->device),
                                    CUSHIM_SLOT_DevicePrimaryCtxRetain_v1);
    if (result == CUDA_SUCCESS)
        *ret_context = context;
    else
        free(context);
    return result;
}

CUresult cushim_context_create(int ordinal, unsigned flags, struct cushim_context **ret_context)
{
    static const char function[] = "cushim_context_create";
    if (ret_context == NULL)
        return no_place(function);
    struct cushim_context *context = new_context(CONTEXT_OWN);
    if (context == NULL)
        return no_memory(function);
    CUcontext before = NULL;
    CUresult result = find_device(ordinal, &context->device);
    if (result == CUDA_SUCCESS)
        result = cushim_report_call(cushim_table()->CtxGetCurrent_v1(&before), CUSHIM_SLOT_CtxGetCurrent_v1);
    if (result == CUDA_SUCCESS)
        result = cushim_report_call(cushim_table()->CtxCreate_v2(&context->handle, flags, context->device),
                                    CUSHIM_SLOT_CtxCreate_v2);
    if (result != CUDA_SUCCESS) {
        free(context);
        return result;
    }
    result = cushim_priv_context_leave(before);
    if (result != CUDA_SUCCESS) {
        cushim_priv_context_drop(context);
        return result;
    }
    *ret_context = context;
    return CUDA_SUCCESS;
}

/* The device of a context that came from outside; this is also how it is checked. */
static CUresult borrow(const char *function, CUcontext handle, CUgreenCtx green, struct cushim_context **ret_context)
{
    struct cushim_context *context = new_context(CONTEXT_BORROWED);
    if (context == NULL)
        return no_memory(function);
    context->handle = handle;
    context->green = green;
    CUresult result =
        cushim_report_call(cushim_table()->CtxGetDevice_v2(&context->device, handle), CUSHIM_SLOT_CtxGetDevice_v2);
    if (result == CUDA_SUCCESS)
        *ret_context = context;
    else
        free(context);
    return result;
}

CUresult cushim_context_borrow(CUcontext handle, struct cushim_context **ret_context)
{
    static const char function[] = "cushim_context_borrow";
    if (ret_context == NULL)
        return no_place(function);
    if (handle == NULL)
        return cushim_report(CUDA_ERROR_INVALID_CONTEXT, function, "The context is NULL.");
    return borrow(function, handle, NULL, ret_context);
}

CUresult cushim_context_borrow_green(CUgreenCtx green, struct cushim_context **ret_context)
{
    static const char function[] = "cushim_context_borrow_green";
    CUcontext handle = NULL;
    if (ret_context == NULL)
        return no_place(function);
    if (green == NULL)
        return cushim_report(CUDA_ERROR_INVALID_CONTEXT, function, "The green context is NULL.");
    CUresult result = cushim_table()->CtxFromGreenCtx_v1(&handle, green);
    if (result != CUDA_SUCCESS)
        return cushim_report_call(result, CUSHIM_SLOT_CtxFromGreenCtx_v1);
    return borrow(function, handle, green, ret_context);
}

CUresult cushim_context_destroy(struct cushim_context **context)
{
    if (context == NULL)
        return CUDA_SUCCESS;
    struct cushim_context *held = *context;
    *context = NULL;
    return cushim_priv_context_drop(held);
}

CUcontext cushim_context_handle(const struct cushim_context *context)
{
    return context != NULL ? context->handle : NULL;
}

static CUresult no_context(const char *function)
{
    return cushim_report(CUDA_ERROR_INVALID_CONTEXT, function, "The context is NULL, or was destroyed.");
}

CUresult cushim_context_device(const struct cushim_context *context, CUdevice *ret_device)
{
    if (context == NULL)
        return no_context("cushim_context_device");
    if (ret_device == NULL)
        return no_place("cushim_context_device");
    *ret_device = context->device;
    return CUDA_SUCCESS;
}

CUresult cushim_context_priority_range(struct cushim_context *context, int *ret_least, int *ret_greatest)
{
    int least = 0;
    int greatest = 0;
    CUcontext before = NULL;
    if (context == NULL)
        return no_context("cushim_context_priority_range");
    CUresult result = cushim_priv_context_enter(context, &before);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_report_call(cushim_table()->CtxGetStreamPriorityRange_v1(&least, &greatest),
                                CUSHIM_SLOT_CtxGetStreamPriorityRange_v1);
    CUresult left = cushim_priv_context_leave(before);
    if (result != CUDA_SUCCESS || left != CUDA_SUCCESS)
        return result != CUDA_SUCCESS ? result : left;
    if (ret_least != NULL)
        *ret_least = least;
    if (ret_greatest != NULL)
        *ret_greatest = greatest;
    return CUDA_SUCCESS;
}
