/* SPDX-License-Identifier: MIT */
/* What a completion calls and releases: the function of cushim_completion_set_callback(), and what the work uses behind
 * it. */
#include "completion_object.h"

static void (*completion_take_release(struct cushim_completion *completion))(void *)
{
    if (atomic_load(&completion->release) == NULL)
        return NULL;
    return atomic_exchange(&completion->release, NULL);
}

void cush_completion_release_resources(struct cushim_completion *completion)
{
    unsigned callback = atomic_load(&completion->callback_state);
    if (callback != CALLBACK_NONE && callback != CALLBACK_ENDED)
        return;
    void (*release)(void *) = completion_take_release(completion);
    if (release != NULL)
        release(completion->user);
}

static bool callback_change_state(struct cushim_completion *completion, unsigned from, unsigned to)
{
    return atomic_compare_exchange_strong(&completion->callback_state, &from, to);
}

/* Ends a function that is this thread's to end. */
static void callback_end(struct cushim_completion *completion)
{
    if (completion->callback.release != NULL)
        completion->callback.release(completion->callback.user);
    atomic_store(&completion->callback_state, CALLBACK_ENDED);
}

/* Whether there are firings that the function was not called for; without captures, there is only the one. */
static bool callback_is_pending(struct cushim_completion *completion)
{
    return completion->captured ? atomic_load(&completion->pending_calls) != 0
                                : atomic_load(&completion->state) == COMPLETION_FIRED;
}

static bool callback_is_closed(const struct cushim_completion *completion)
{
    return completion->callback.dispatcher != NULL && cush_dispatcher_is_closed(completion->callback.dispatcher);
}

/* Calls the function `due` times, or until it, or another thread, ends the completion or the dispatcher. */
static size_t callback_call(struct cushim_completion *completion, unsigned pending_calls)
{
    size_t count = 0;
    while (count < pending_calls && atomic_load(&completion->callback_state) == CALLBACK_RUNNING
           && !callback_is_closed(completion)) {
        completion->callback.fn((CUresult)atomic_load(&completion->status), completion->callback.user);
        count++;
    }
    return count;
}

void cush_completion_run_callback(struct cushim_completion *completion, size_t *count)
{
    /* Where another thread is running it, that one looks again before it goes. */
    while (callback_is_pending(completion) && callback_change_state(completion, CALLBACK_SET, CALLBACK_RUNNING)) {
        *count += callback_call(completion, completion->captured ? atomic_exchange(&completion->pending_calls, 0) : 1);
        /* Only where more may come it can be cancelled in the meantime; else this was the only time. */
        if (!completion->captured || callback_is_closed(completion)
            || !callback_change_state(completion, CALLBACK_RUNNING, CALLBACK_SET)) {
            /* Taken before the end, after which another thread may learn of it: it is this one's to release. */
            void (*release)(void *) = completion_take_release(completion);
            callback_end(completion);
            if (release != NULL)
                release(completion->user);
            return;
        }
    }
}

void cush_completion_cancel_callback(struct cushim_completion *completion)
{
    unsigned callback = atomic_load(&completion->callback_state);
    while (callback == CALLBACK_SET || callback == CALLBACK_RUNNING) {
        if (atomic_compare_exchange_strong(&completion->callback_state, &callback, CALLBACK_CANCELLED)) {
            if (callback == CALLBACK_SET)
                callback_end(completion);
            return;
        }
    }
}

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
    if (!callback_change_state(completion, CALLBACK_NONE, CALLBACK_SETTING))
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
    if (callback_is_pending(completion))
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
