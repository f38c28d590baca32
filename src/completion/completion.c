/* SPDX-License-Identifier: MIT */
/* The completion object: how it fires, what is called then, and how it is dropped. */
#include <stdlib.h>

#include "completion_internal.h"

CUresult cush_completion_new(const char *function, unsigned flags, struct cushim_completion **out_completion)
{
    struct cushim_completion *completion = calloc(1, sizeof *completion);
    if (completion == NULL)
        return fail_out_of_memory(function);
    cush_os_watch_forks();
    completion->generation = cush_os_process_generation();
    completion->notifying = (flags & CUSHIM_COMPLETION_NOTIFYING) != 0;
    atomic_init(&completion->references, 1);
    *out_completion = completion;
    return CUDA_SUCCESS;
}

void cush_completion_ref(struct cushim_completion *completion)
{
    atomic_fetch_add(&completion->references, 1);
}

static bool completion_has_fired(const struct cushim_completion *completion)
{
    return (atomic_load(&completion->state) & STATE_FIRED) != 0;
}

/* Returns the status of the work of a completion that has fired. */
static CUresult completion_status(const struct cushim_completion *completion)
{
    return (CUresult)(atomic_load(&completion->state) >> STATE_STATUS_SHIFT);
}

static bool completion_is_forked(const struct cushim_completion *completion)
{
    return completion->generation != cush_os_process_generation();
}

/* Releases what the work uses, unless another thread does. After a fork(), only the parent does. */
static void completion_release(struct cushim_completion *completion)
{
    if (atomic_load(&completion->destroy_user) == 0 || completion_is_forked(completion))
        return;
    destroy_fn destroy_user = (destroy_fn)atomic_exchange(&completion->destroy_user, 0);
    if (destroy_user != NULL)
        destroy_user(completion->user);
}

/* The same, for a thread that has observed the firing. If a callback is still to be called, destroy_user comes after
 * it. */
static void completion_release_observed(struct cushim_completion *completion)
{
    unsigned callback = atomic_load(&completion->callback_state);
    if (callback == CALLBACK_NONE || callback == CALLBACK_ENDED)
        completion_release(completion);
}

/* Changes the state of the callback from `from` to `to`. Returns false if the state was not `from`. */
static bool callback_change(struct cushim_completion *completion, unsigned from, unsigned to)
{
    return atomic_compare_exchange_strong(&completion->callback_state, &from, to);
}

/* Ends a callback that this thread has claimed. */
static void callback_end(struct cushim_completion *completion)
{
    if (completion->callback.destroy_user != NULL)
        completion->callback.destroy_user(completion->callback.user);
    atomic_store(&completion->callback_state, CALLBACK_ENDED);
}

/* Ends the callback without calling the function again. */
static void callback_cancel(struct cushim_completion *completion)
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

/* Returns whether there are firings for which the function was not called. */
static bool callback_is_due(struct cushim_completion *completion)
{
    return completion->captured ? atomic_load(&completion->pending_calls) != 0 : completion_has_fired(completion);
}

static bool callback_has_closed_dispatcher(const struct cushim_completion *completion)
{
    return completion->callback.dispatcher != NULL && atomic_load(&completion->callback.dispatcher->closed);
}

/* Calls the function `pending_calls` times, or until the function or another thread ends the completion or the
 * dispatcher. Returns the number of calls. */
static size_t callback_call(struct cushim_completion *completion, unsigned pending_calls)
{
    size_t count = 0;
    while (count < pending_calls && atomic_load(&completion->callback_state) == CALLBACK_RUNNING
           && !callback_has_closed_dispatcher(completion)) {
        completion->callback.fn(completion_status(completion), completion->callback.user);
        count++;
    }
    return count;
}

/* Calls the function as often as it is due, and ends the callback if it will not be called again. Returns the number of
 * calls. */
static size_t callback_run(struct cushim_completion *completion)
{
    size_t count = 0;
    /* If another thread is in RUNNING, that thread checks for new firings before it leaves. */
    while (callback_is_due(completion) && callback_change(completion, CALLBACK_SET, CALLBACK_RUNNING)) {
        count += callback_call(completion, completion->captured ? atomic_exchange(&completion->pending_calls, 0) : 1);
        /* Without a capture this was the only call. With a capture, the callback may have been cancelled meanwhile. */
        if (!completion->captured || callback_has_closed_dispatcher(completion)
            || !callback_change(completion, CALLBACK_RUNNING, CALLBACK_SET)) {
            callback_end(completion);
            completion_release(completion);
            break;
        }
    }
    return count;
}

size_t cush_completion_run_due(struct cushim_dispatcher *dispatcher)
{
    size_t count = 0;
    struct cushim_completion *next = cush_queue_take(dispatcher);
    while (next != NULL) {
        struct cushim_completion *completion = next;
        next = completion->next;
        STORE_BEFORE_LOAD(&completion->queued, false);
        if (atomic_load(&dispatcher->closed))
            callback_cancel(completion);
        else
            count += callback_run(completion);
        cush_completion_unref(completion);
    }
    return count;
}

/* Calls an inline callback that is due, or queues another one. The caller has a reference. */
static void callback_dispatch(struct cushim_completion *completion)
{
    unsigned callback = atomic_load(&completion->callback_state);
    if (callback != CALLBACK_SET && callback != CALLBACK_RUNNING)
        return;
    struct cushim_dispatcher *dispatcher = completion->callback.dispatcher;
    if (dispatcher == NULL) {
        (void)callback_run(completion);
    } else if (!atomic_exchange(&completion->queued, true)) {
        cush_completion_ref(completion);
        cush_queue_push(dispatcher, completion);
        if (atomic_load(&dispatcher->closed))
            (void)cush_completion_run_due(dispatcher);
    }
}

void cush_completion_unref(struct cushim_completion *completion)
{
    if (atomic_fetch_sub(&completion->references, 1) != 1)
        return;
    callback_cancel(completion);
    completion_release(completion);
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0)
        cush_os_signal_close(signal);
    if (completion->callback.dispatcher != NULL)
        cush_queue_unref(completion->callback.dispatcher);
    if (completion->event.handle != NULL && !completion_is_forked(completion))
        cush_completion_event_end(&completion->event);
    free(completion);
}

/* Returns the state before. A completion that is not captured fires once. */
static unsigned completion_set_fired(struct cushim_completion *completion, CUresult status)
{
    unsigned fired = STATE_FIRED | (unsigned)status << STATE_STATUS_SHIFT;
    unsigned before = atomic_load(&completion->state);
    while (completion->captured || (before & STATE_FIRED) == 0)
        if (atomic_compare_exchange_weak(&completion->state, &before, fired))
            break;
    return before;
}

void cush_completion_fire(struct cushim_completion *completion, CUresult status)
{
    if (completion->captured) {
        atomic_fetch_add(&completion->count, 1);
        atomic_fetch_add(&completion->pending_calls, 1);
    }
    unsigned before = completion_set_fired(completion, status);
    if ((before & STATE_WAITED) != 0)
        cush_os_wake(&completion->state);
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0)
        cush_os_signal_set(signal);
    callback_dispatch(completion);
}

/* Queries the event, unless the completion has fired. Returns whether it has fired. */
static bool completion_poll(struct cushim_completion *completion)
{
    if (!completion_has_fired(completion) && completion->event.handle != NULL && !completion_is_forked(completion)) {
        CUresult result = cush_completion_event_query(&completion->event);
        if (result != CUDA_ERROR_NOT_READY)
            cush_completion_fire(completion, result);
    }
    return completion_has_fired(completion);
}

CUresult cush_completion_check(const char *function, struct cushim_completion *completion, CUresult *out_status)
{
    if (completion == NULL)
        return fail_null_completion(function);
    if (!completion_poll(completion))
        return completion_is_forked(completion) ? fail_forked(function) : CUDA_ERROR_NOT_READY;
    /* Written before anything is released, because destroy_user may destroy the completion. */
    if (out_status != NULL)
        *out_status = completion_status(completion);
    completion_release_observed(completion);
    return CUDA_SUCCESS;
}

CUresult cushim_completion_poll(struct cushim_completion *completion, CUresult *out_status)
{
    return cush_completion_check("cushim_completion_poll", completion, out_status);
}

uint64_t cushim_completion_count(struct cushim_completion *completion)
{
    if (completion == NULL)
        return 0;
    return completion->captured ? atomic_load(&completion->count) : completion_poll(completion);
}

static CUresult fail_not_notifying(const char *function)
{
    return cushim_error_set(CUDA_ERROR_NOT_SUPPORTED, function,
                            "A descriptor or a callback needs a completion that was created with the flag "
                            "CUSHIM_COMPLETION_NOTIFYING.");
}

CUresult cushim_completion_get_descriptor(struct cushim_completion *completion, cushim_descriptor *out_descriptor)
{
    static const char function[] = "cushim_completion_get_descriptor";
    if (completion == NULL)
        return fail_null_completion(function);
    if (out_descriptor == NULL)
        return fail_null_output(function);
    if (!completion->notifying)
        return fail_not_notifying(function);
    if (!completion_has_fired(completion) && completion_is_forked(completion))
        return fail_forked(function);
    os_signal signal = atomic_load(&completion->signal);
    if (signal == 0) {
        os_signal fresh = cush_os_signal_open();
        if (fresh == 0)
            return fail_no_descriptor(function);
        if (atomic_compare_exchange_strong(&completion->signal, &signal, fresh))
            signal = fresh;
        else
            cush_os_signal_close(fresh);
        if (completion_has_fired(completion))
            cush_os_signal_set(signal);
    }
    *out_descriptor = cush_os_signal_descriptor(signal);
    return CUDA_SUCCESS;
}

CUresult cushim_completion_reset(struct cushim_completion *completion)
{
    static const char function[] = "cushim_completion_reset";
    if (completion == NULL)
        return fail_null_completion(function);
    if (!completion->captured)
        return cushim_error_set(CUDA_ERROR_NOT_SUPPORTED, function,
                                "The completion was not captured, so it fires only once.");
    /* The parent process uses the same descriptor. */
    if (completion_is_forked(completion))
        return fail_forked(function);
    if ((atomic_fetch_and(&completion->state, ~(unsigned)STATE_FIRED) & STATE_FIRED) == 0)
        return CUDA_SUCCESS;
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0) {
        cush_os_signal_clear(signal);
        /* The completion may have fired again in between. */
        if (completion_has_fired(completion))
            cush_os_signal_set(signal);
    }
    return CUDA_SUCCESS;
}

/* Releases `user` of a call that is refused, because every call takes it over. Returns `result`. */
static CUresult callback_refuse(CUresult result, void *user, void (*destroy_user)(void *user))
{
    if (destroy_user != NULL)
        destroy_user(user);
    return result;
}

static CUresult completion_set_callback(const char *function, struct cushim_completion *completion,
                                        struct cushim_dispatcher *dispatcher, void (*fn)(CUresult status, void *user),
                                        void *user, void (*destroy_user)(void *user))
{
    if (completion == NULL)
        return callback_refuse(fail_null_completion(function), user, destroy_user);
    if (fn == NULL)
        return callback_refuse(fail_null_function(function), user, destroy_user);
    if (!completion->notifying)
        return callback_refuse(fail_not_notifying(function), user, destroy_user);
    if (!callback_change(completion, CALLBACK_NONE, CALLBACK_SETTING))
        return callback_refuse(
            cushim_error_set(CUDA_ERROR_ILLEGAL_STATE, function, "The completion already has a callback."), user,
            destroy_user);
    completion->callback.fn = fn;
    completion->callback.user = user;
    completion->callback.destroy_user = destroy_user;
    completion->callback.dispatcher = dispatcher;
    if (dispatcher != NULL)
        cush_queue_ref(dispatcher);
    /* Once the callback is set, another thread may call it, and it may destroy the completion. */
    cush_completion_ref(completion);
    (void)callback_change(completion, CALLBACK_SETTING, CALLBACK_SET);
    if (callback_is_due(completion))
        callback_dispatch(completion);
    cush_completion_unref(completion);
    return CUDA_SUCCESS;
}

CUresult cushim_completion_set_callback(struct cushim_completion *completion, struct cushim_dispatcher *dispatcher,
                                        void (*fn)(CUresult status, void *user), void *user,
                                        void (*destroy_user)(void *user))
{
    static const char function[] = "cushim_completion_set_callback";
    if (dispatcher == NULL)
        return callback_refuse(fail_null_dispatcher(function), user, destroy_user);
    return completion_set_callback(function, completion, dispatcher, fn, user, destroy_user);
}

CUresult cushim_completion_set_inline_callback(struct cushim_completion *completion,
                                               void (*fn)(CUresult status, void *user), void *user,
                                               void (*destroy_user)(void *user))
{
    return completion_set_callback("cushim_completion_set_inline_callback", completion, NULL, fn, user, destroy_user);
}

static void completion_detach(struct cushim_completion *completion)
{
    /* Otherwise destroy_user is called when the driver or the dispatcher drops its reference, the last one. */
    if (completion_has_fired(completion))
        completion_release_observed(completion);
    cush_completion_unref(completion);
}

void cushim_completion_detach(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    struct cushim_completion *detached = *completion;
    *completion = NULL;
    completion_detach(detached);
}

void cushim_completion_destroy(struct cushim_completion **completion)
{
    if (completion == NULL || *completion == NULL)
        return;
    struct cushim_completion *destroyed = *completion;
    /* The variable is set first, because it may be part of the memory that the destroy function frees. */
    *completion = NULL;
    callback_cancel(destroyed);
    completion_detach(destroyed);
}
