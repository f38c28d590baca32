/* SPDX-License-Identifier: MIT */
#include "completion_callback.h"

#include "../stream/fail.h"
#include "completion_call.h"
#include "completion_fire.h"
#include "completion_object.h"
#include "completion_poll.h"
#include "dispatcher_object.h"

CUresult cush_completion_set_callback(const char *function, struct cushim_completion *completion,
                                      struct cushim_dispatcher *dispatcher, void (*fn)(CUresult status, void *user),
                                      void *user, void (*release)(void *user))
{
    if (completion == NULL)
        return fail_and_release(fail_null_completion(function), user, release);
    if (!cush_completion_change_callback(completion, CALLBACK_NONE, CALLBACK_SETTING))
        return fail_and_release(cushim_set_error(CUDA_ERROR_ILLEGAL_STATE, function,
                                                 "The completion already has a callback, or was in a set."),
                                user, release);
    completion->callback.fn = fn;
    completion->callback.user = user;
    completion->callback.release = release;
    completion->callback.dispatcher = dispatcher;
    if (dispatcher != NULL)
        cush_dispatcher_ref(dispatcher);
    /* Once the callback is set, another thread may call it, and it may destroy the completion. */
    cush_completion_ref(completion);
    /* Once it is engaged, no thread of the program fires it: an inline callback runs on a thread of the driver. */
    cush_completion_engage_or_wait(completion);
    atomic_store(&completion->callback_state, CALLBACK_SET);
    if (cush_completion_is_callback_due(completion))
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
            cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function, "The dispatcher is NULL or was destroyed."), user,
            release);
    if (fn == NULL)
        return fail_and_release(fail_null_function(function), user, release);
    return cush_completion_set_callback(function, completion, dispatcher, fn, user, release);
}

CUresult cushim_completion_set_inline_callback(struct cushim_completion *completion,
                                               void (*fn)(CUresult status, void *user), void *user,
                                               void (*release)(void *user))
{
    static const char function[] = "cushim_completion_set_inline_callback";
    if (fn == NULL)
        return fail_and_release(fail_null_function(function), user, release);
    return cush_completion_set_callback(function, completion, NULL, fn, user, release);
}
