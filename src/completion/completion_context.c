/* SPDX-License-Identifier: MIT */
/*
 * Before cushim releases or destroys a context, a callback takes over each completion that has an event there. The
 * driver runs these callbacks before the context ends. If the context lives on, because others retain it, nothing has
 * waited.
 */
#include "completion_context.h"

#include "../stream/context_object.h"
#include "completion_poll.h"
#include "completion_pool.h"

/* Returns when the completion has fired or will be fired by a callback, and no thread is in a call on its event. */
static void completion_leave_context(struct cushim_completion *completion)
{
    const uint64_t interval = 20000;
    unsigned calls;
    cush_completion_engage_or_wait(completion);
    while ((calls = atomic_load(&completion->event_calls)) != 0)
        (void)cush_os_wait(&completion->event_calls, calls, cushim_time_ns() + interval);
}

/* `context` is the handle. A context that is gone may have had the same one: its completions fire, too. */
static void completion_leave_if_in(struct cushim_completion *completion, void *context)
{
    if (!atomic_load_explicit(&completion->by_event, memory_order_relaxed) || !cush_completion_try_ref(completion))
        return;
    if (cush_completion_has_event(completion) && completion->event.context == context)
        completion_leave_context(completion);
    cush_completion_unref(completion);
}

static void completions_leave_context(CUcontext context)
{
    cush_completion_pool_each(completion_leave_if_in, context);
}

void cush_completions_hook_context_end(void)
{
    cush_context_set_end_hook(completions_leave_context);
}
