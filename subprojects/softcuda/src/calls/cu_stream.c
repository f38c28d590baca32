/* SPDX-License-Identifier: MIT */
/* Streams, their properties and attributes. Some queries invalidate a capture. */
#include "calls.h"

/* The output of a creation that fails for lack of a context: not NULL, and not a valid stream. */
static char no_stream;

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
    result = context_state(stream->context, stream->generation);
    object_unref(stream);
    return result;
}

/* The stream of a query that is allowed during capture. */
static CUresult stream_get_for_query(CUstream handle, const void *answer, struct stream **out_stream)
{
    if (answer == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_find(handle, out_stream);
    return result == CUDA_SUCCESS ? capture_check_query(*out_stream) : result;
}

/* The stream of a query that is not allowed on a capturing stream. */
static CUresult stream_get_outside_capture(CUstream handle, const void *answer, struct stream **out_stream)
{
    if (answer == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_find(handle, out_stream);
    if (result == CUDA_SUCCESS)
        result = capture_forbid(*out_stream);
    return result == CUDA_SUCCESS ? capture_implicit(*out_stream, true) : result;
}

CUresult soft_StreamGetFlags_v1(CUstream hStream, unsigned int *flags)
{
    struct stream *stream = NULL;
    CUresult result = stream_get_outside_capture(hStream, flags, &stream);
    if (result == CUDA_SUCCESS)
        *flags = stream->flags;
    return result;
}

CUresult soft_StreamGetId_v1(CUstream hStream, unsigned long long *streamId)
{
    struct stream *stream = NULL;
    CUresult result = stream_get_outside_capture(hStream, streamId, &stream);
    if (result == CUDA_SUCCESS)
        *streamId = stream->id;
    return result;
}

CUresult soft_StreamGetDevice_v1(CUstream hStream, CUdevice *device)
{
    struct stream *stream = NULL;
    CUresult result = stream_get_outside_capture(hStream, device, &stream);
    if (result == CUDA_SUCCESS)
        *device = stream->context->device;
    return result;
}

CUresult soft_StreamGetPriority_v1(CUstream hStream, int *priority)
{
    struct stream *stream = NULL;
    CUresult result = stream_get_for_query(hStream, priority, &stream);
    if (result == CUDA_SUCCESS)
        *priority = stream->priority;
    return result;
}

CUresult soft_StreamGetCtx_v1(CUstream hStream, CUcontext *pctx)
{
    struct stream *stream = NULL;
    CUresult result = stream_get_for_query(hStream, pctx, &stream);
    if (result == CUDA_SUCCESS)
        *pctx = (CUcontext)stream->context;
    return result;
}

CUresult soft_StreamGetCtx_v2(CUstream hStream, CUcontext *pctx, CUgreenCtx *pGreenCtx)
{
    struct stream *stream = NULL;
    CUresult result = stream_get_for_query(hStream, &stream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (pctx == NULL && pGreenCtx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (pctx != NULL)
        *pctx = (CUcontext)context_primary(stream->context);
    if (pGreenCtx != NULL)
        *pGreenCtx = (CUgreenCtx)stream->context->green;
    return CUDA_SUCCESS;
}

CUresult soft_StreamGetGreenCtx_v1(CUstream hStream, CUgreenCtx *phCtx)
{
    struct stream *stream = NULL;
    CUresult result = stream_get_for_query(hStream, phCtx, &stream);
    if (result == CUDA_SUCCESS)
        *phCtx = (CUgreenCtx)stream->context->green;
    return result;
}

CUresult soft_StreamGetAttribute_v1(CUstream hStream, CUstreamAttrID attr, CUlaunchAttributeValue *value)
{
    struct stream *stream = NULL;
    CUresult result = stream_get_for_query(hStream, value, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        value->accessPolicyWindow = stream->window.accessPolicyWindow;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        value->syncPolicy = stream->policy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value->priority = stream->priority;
        return soft_version >= 12000 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case 9: /* CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP */
        value->memSyncDomainMap = stream->domain_map.memSyncDomainMap;
        return soft_version >= 12000 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case 10: /* CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN */
        value->memSyncDomain = stream->domain;
        return soft_version >= 12000 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult soft_StreamSetAttribute_v1(CUstream hStream, CUstreamAttrID attr, const CUlaunchAttributeValue *value)
{
    struct stream *stream = NULL;
    CUresult result = stream_get_for_query(hStream, value, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        if (value->accessPolicyWindow.missProp == CU_ACCESS_PROPERTY_PERSISTING
            || value->accessPolicyWindow.hitRatio > 1)
            return CUDA_ERROR_INVALID_VALUE;
        stream->window.accessPolicyWindow = value->accessPolicyWindow;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (value->syncPolicy < CU_SYNC_POLICY_AUTO || value->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
            return CUDA_ERROR_INVALID_VALUE;
        stream->policy = value->syncPolicy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        stream->priority = stream_clamp_priority(value->priority);
        return soft_version >= 12000 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case 9: /* CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP */
        if (soft_version < 12000)
            return CUDA_ERROR_INVALID_VALUE;
        stream->domain_map.memSyncDomainMap = value->memSyncDomainMap;
        return CUDA_SUCCESS;
    case 10: /* CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN */
        if (soft_version < 12000 || value->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
            return CUDA_ERROR_INVALID_VALUE;
        stream->domain = value->memSyncDomain;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult soft_StreamCopyAttributes_v1(CUstream dstStream, CUstream srcStream)
{
    struct stream *to = NULL, *from = NULL;
    CUresult result = stream_find(dstStream, &to);
    if (result == CUDA_SUCCESS)
        result = stream_find(srcStream, &from);
    if (result != CUDA_SUCCESS)
        return result;
    if (to->context != from->context)
        return CUDA_ERROR_INVALID_VALUE;
    to->window = from->window;
    to->policy = from->policy;
    to->domain_map = from->domain_map;
    to->domain = from->domain;
    return CUDA_SUCCESS;
}
