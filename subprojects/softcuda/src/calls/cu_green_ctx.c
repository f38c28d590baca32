/* SPDX-License-Identifier: MIT */
/*
 * Green contexts, as far as streams need them: a part of a device's multiprocessors, which is stored and reported but
 * has no effect, and streams of their own. Resources are never split.
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

struct green {
    struct object object;
    struct context *context; /* a reference */
    unsigned multiprocessors;
};

/* The result of cuDevResourceGenerateDesc. The driver has no function to destroy one, so equal ones are the same
 * object. */
struct resources {
    struct object object;
    int device;
    unsigned multiprocessors;
    struct resources *next;
};

static struct resources *descriptions;

static CUresult resource_report(int device, unsigned multiprocessors, CUdevResourceType type, CUdevResource *resource)
{
    if (resource == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    memset(resource, 0, sizeof *resource);
    resource->type = type;
    resource->sm.smCount = multiprocessors;
    memcpy(resource->_internal_padding, &device, sizeof device);
    return CUDA_SUCCESS;
}

static unsigned resource_of_device(int device)
{
    int count = 0;
    (void)soft_DeviceGetAttribute_v1(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    return (unsigned)count;
}

CUresult soft_DeviceGetDevResource_v1(CUdevice device, CUdevResource *resource, CUdevResourceType type)
{
    if (!device_exists(device))
        return CUDA_ERROR_INVALID_DEVICE;
    return resource_report(device, resource_of_device(device), type, resource);
}

CUresult soft_CtxGetDevResource_v1(CUcontext hCtx, CUdevResource *resource, CUdevResourceType type)
{
    struct context *context = NULL;
    CUresult result = context_find(hCtx, &context);
    if (result != CUDA_SUCCESS)
        return result;
    int device = context->device;
    return resource_report(
        device, context->green == NULL ? resource_of_device(device) : context->green->multiprocessors, type, resource);
}

CUresult soft_GreenCtxGetDevResource_v1(CUgreenCtx hCtx, CUdevResource *resource, CUdevResourceType type)
{
    const struct green *green = handle_find(OBJECT_GREEN, hCtx);
    if (green == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    return resource_report(green->context->device, green->multiprocessors, type, resource);
}

static void resources_free(void *object)
{
    free(object);
}

static struct resources *resources_describe(int device, unsigned multiprocessors)
{
    struct resources *found = descriptions;
    while (found != NULL && (found->device != device || found->multiprocessors != multiprocessors))
        found = found->next;
    if (found != NULL)
        return found;
    found = object_new(OBJECT_RESOURCES, sizeof *found, resources_free);
    if (found == NULL || !handle_publish(found)) {
        free(found);
        return NULL;
    }
    found->device = device;
    found->multiprocessors = multiprocessors;
    found->next = descriptions;
    descriptions = found;
    return found;
}

CUresult soft_DevResourceGenerateDesc_v1(CUdevResourceDesc *phDesc, CUdevResource *resources, unsigned int nbResources)
{
    int device;
    if (phDesc == NULL || resources == NULL || nbResources == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (resources->type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    memcpy(&device, resources->_internal_padding, sizeof device);
    unsigned count = resources->sm.smCount;
    if (nbResources != 1 || !device_exists(device) || count == 0 || count > resource_of_device(device))
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    struct resources *description = resources_describe(device, count);
    if (description == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phDesc = (CUdevResourceDesc)description;
    return CUDA_SUCCESS;
}

static void green_free(void *object)
{
    struct green *green = object;
    object_unref(green->context);
    free(green);
}

/* Destroys it, complete or not. */
static void green_end(struct green *green)
{
    struct context *context = green->context, *parent = context == NULL ? NULL : context->parent;
    handle_withdraw(green);
    if (parent != NULL) {
        handle_withdraw(context);
        if (context->alive)
            context_stop(context);
        struct context **at = &parent->greens;
        while (*at != context)
            at = &(*at)->next_green;
        *at = context->next_green;
        context->green = NULL;
        context->parent = NULL;
        (void)soft_DevicePrimaryCtxRelease_v2(parent->device);
        object_unref(parent);
    }
    object_unref(green);
}

CUresult soft_GreenCtxCreate_v1(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags)
{
    const struct resources *resources = handle_find(OBJECT_RESOURCES, desc);
    CUcontext primary = NULL;
    if (phCtx == NULL || resources == NULL || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    if (dev != resources->device)
        return CUDA_ERROR_INVALID_DEVICE;
    struct green *green = object_new(OBJECT_GREEN, sizeof *green, green_free);
    if (green == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = soft_DevicePrimaryCtxRetain_v1(&primary, dev);
    if (result == CUDA_SUCCESS) {
        green->multiprocessors = resources->multiprocessors;
        green->context = context_new(dev, false);
        result = green->context == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
        if (result != CUDA_SUCCESS)
            (void)soft_DevicePrimaryCtxRelease_v2(dev);
    }
    if (result == CUDA_SUCCESS) {
        struct context *parent = (struct context *)(void *)primary, *context = green->context;
        object_ref(parent);
        context->parent = parent;
        context->green = green;
        context->next_green = parent->greens;
        parent->greens = context;
        if (!context_start(context) || !handle_publish(green))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS)
        *phCtx = (CUgreenCtx)green;
    else
        green_end(green);
    return result;
}

CUresult soft_GreenCtxDestroy_v1(CUgreenCtx hCtx)
{
    struct green *green = handle_find(OBJECT_GREEN, hCtx);
    if (green == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    green_end(green);
    return CUDA_SUCCESS;
}

CUresult soft_CtxFromGreenCtx_v1(CUcontext *pContext, CUgreenCtx hCtx)
{
    const struct green *green = handle_find(OBJECT_GREEN, hCtx);
    if (green == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pContext == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pContext = (CUcontext)green->context;
    return CUDA_SUCCESS;
}

CUresult soft_GreenCtxGetId_v1(CUgreenCtx greenCtx, unsigned long long *greenCtxId)
{
    const struct green *green = handle_find(OBJECT_GREEN, greenCtx);
    if (green == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (greenCtxId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *greenCtxId = green->context->id;
    return CUDA_SUCCESS;
}

CUresult soft_GreenCtxStreamCreate_v1(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, int priority)
{
    if (phStream == NULL || flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    const struct green *green = handle_find(OBJECT_GREEN, greenCtx);
    if (green == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult result = context_state(green->context, green->context->generation);
    return result == CUDA_SUCCESS ? stream_create(green->context, flags, priority, phStream) : result;
}
