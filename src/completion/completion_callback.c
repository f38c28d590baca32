/* SPDX-License-Identifier: MIT */
/* What a completion calls and releases: the function of cushim_completion_set_callback(), and what the work uses behind
 * it. */
#include "completion_object.h"

void cush_completion_dispatch(struct cushim_completion *completion)
{
    size_t count = 0;
    unsigned callback = atomic_load(&completion->callback_state);
    if (callback != CALLBACK_SET && callback != CALLBACK_RUNNING)
        return;
    if (completion->callback.dispatcher == NULL)
        cush_completion_run_callback(completion, &count);
    else if (!atomic_exchange(&completion->queued, true))
        cush_dispatcher_push(completion->callback.dispatcher, completion);
}

/* ---- What users call ---- */

static CUresult completion_set_callback(const char *function, struct cushim_completion *completion,
                                        struct cushim_dispatcher *dispatcher, void (*fn)(CUresult status, void *user),
                                        void *user, void (*release)(void *user))
{
    if (completion == NULL)
        return fail_and_release(fail_no_completion(function), user, release);
    if (fn == NULL)
        return fail_and_release(cushim_set_error(CUDA_ERROR_INVALID_VALUE, function, "The function is NULL."), user,
                                release);
    if (!cush_completion_change_then(completion, CALLBACK_NONE, CALLBACK_SETTING))
        return fail_and_release(
            cushim_set_error(CUDA_ERROR_ILLEGAL_STATE, function, "The completion has a function already."), user,
            release);
    completion->callback.fn = fn;
    completion->callback.user = user;
    completion->callback.release = release;
    completion->callback.dispatcher = dispatcher;
    if (dispatcher != NULL)
        cush_dispatcher_ref(dispatcher);
    /* Once it is set, another thread may call the function, which may destroy the completion. */
    cush_completion_ref(completion);
    atomic_store(&completion->callback_state, CALLBACK_SET);
    if (cush_completion_is_due(completion))
        cush_completion_dispatch(completion);
    cush_completion_unref(completion);
    return CUDA_SUCCESS;
}

CUresult cushim_completion_set_callback(struct cushim_completion *completion, struct cushim_dispatcher *dispatcher,
                                        void (*fn)(CUresult status, void *user), void *user,
                                        void (*release)(void *user))
{
    static const char function[] = "cushim_completion_set_callback";
    if (dispatcher == NULL)
        return fail_and_release(
            cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function, "The dispatcher is NULL, or was destroyed."), user,
            release);
    return completion_set_callback(function, completion, dispatcher, fn, user, release);
}

CUresult cushim_completion_set_inline_callback(struct cushim_completion *completion,
                                               void (*fn)(CUresult status, void *user), void *user,
                                               void (*release)(void *user))
{
    return completion_set_callback("cushim_completion_set_inline_callback", completion, NULL, fn, user, release);
}
