/* SPDX-License-Identifier: MIT */
#include "completion_call.h"

#include "dispatcher_object.h"

/* Claims the release function of cushim_stream_enqueue(). Returns NULL if there is none or another thread has it. */
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

bool cush_completion_change_callback(struct cushim_completion *completion, unsigned from, unsigned to)
{
    unsigned char expected = (unsigned char)from;
    return atomic_compare_exchange_strong(&completion->callback_state, &expected, (unsigned char)to);
}

/* Ends a callback that this thread has claimed. */
static void callback_end(struct cushim_completion *completion)
{
    if (completion->callback.release != NULL)
        completion->callback.release(completion->callback.user);
    atomic_store(&completion->callback_state, CALLBACK_ENDED);
}

bool cush_completion_is_callback_due(struct cushim_completion *completion)
{
    return completion->captured ? atomic_load(&completion->pending_calls) != 0 : cush_completion_has_fired(completion);
}

static bool callback_has_closed_dispatcher(const struct cushim_completion *completion)
{
    return completion->callback.dispatcher != NULL && cush_dispatcher_is_closed(completion->callback.dispatcher);
}

/* Calls the function `pending_calls` times, or until the function or another thread ends the completion or the
 * dispatcher. Returns the number of calls. */
static size_t callback_call(struct cushim_completion *completion, unsigned pending_calls)
{
    size_t count = 0;
    while (count < pending_calls && atomic_load(&completion->callback_state) == CALLBACK_RUNNING
           && !callback_has_closed_dispatcher(completion)) {
        completion->callback.fn(cush_completion_result(completion), completion->callback.user);
        count++;
    }
    return count;
}

void cush_completion_run_callback(struct cushim_completion *completion, size_t *count)
{
    /* If another thread is in RUNNING, that thread checks for new firings before it leaves. */
    while (cush_completion_is_callback_due(completion)
           && cush_completion_change_callback(completion, CALLBACK_SET, CALLBACK_RUNNING)) {
        *count += callback_call(completion, completion->captured ? atomic_exchange(&completion->pending_calls, 0) : 1);
        /* Without a capture this was the only call. With a capture, the callback may have been cancelled meanwhile. */
        if (!completion->captured || callback_has_closed_dispatcher(completion)
            || !cush_completion_change_callback(completion, CALLBACK_RUNNING, CALLBACK_SET)) {
            /* Claimed before the callback ends, because after that another thread could observe that it has fired. */
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
    unsigned char callback = atomic_load(&completion->callback_state);
    while (callback == CALLBACK_SET || callback == CALLBACK_RUNNING) {
        if (atomic_compare_exchange_strong(&completion->callback_state, &callback, CALLBACK_CANCELLED)) {
            if (callback == CALLBACK_SET)
                callback_end(completion);
            return;
        }
    }
}

void cush_completion_leave_set(struct cushim_completion *completion)
{
    if (atomic_load(&completion->callback_state) == CALLBACK_SET && completion->callback.fn == NULL)
        cush_completion_cancel_callback(completion);
}

bool cush_completion_take_from_set(struct cushim_completion *completion)
{
    if (completion->captured)
        return atomic_load(&completion->callback_state) == CALLBACK_SET
               && atomic_exchange(&completion->pending_calls, 0) != 0;
    return cush_completion_change_callback(completion, CALLBACK_SET, CALLBACK_ENDED);
}
