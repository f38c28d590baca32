/* SPDX-License-Identifier: MIT */
/*
 * Callbacks of the driver that fire completions. The driver calls a status callback once, whatever happens: also after
 * a fault, and if the stream or its context is destroyed while the callback is due (observed with driver 580).
 */
#include "completion_internal.h"

static void CUDA_CB completion_on_work_done(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    cush_completion_fire(user, status);
    cush_completion_unref(user);
}

CUresult cush_completion_notify(const char *function, struct cushim_completion *completion,
                                struct cushim_stream *stream)
{
    CUstream handle = stream->handle;
    CUresult result = completion->notifying ? cush_notification_follow(function, stream, &handle) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return result;
    cush_completion_ref(completion);
    result = CUSH_CALL(StreamAddCallback_v1, handle, completion_on_work_done, completion, 0);
    if (result != CUDA_SUCCESS)
        cush_completion_unref(completion);
    return result;
}
