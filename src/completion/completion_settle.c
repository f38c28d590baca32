/* SPDX-License-Identifier: MIT */
/*
 * Before cushim releases or destroys a context, a callback takes over each completion that has an event there. The
 * driver runs these callbacks before the context ends. If the context lives on, because others retain it, nothing has
 * waited.
 */
#include "completion_settle.h"

#include "../stream/context_object.h"
#include "completion_look.h"
#include "completion_pool.h"

/* Returns when the completion has fired or will be fired by a callback, and no thread is in a call on its event. */
static void completion_settle(struct cushim_completion *completion)
{
    const uint64_t turn = 20000;
    unsigned calls;
    cush_completion_engage_surely(completion);
    while ((calls = atomic_load(&completion->event_calls)) != 0)
        (void)cush_os_wait(&completion->event_calls, calls, cushim_time_ns() + turn);
}

/* `context` is the handle. A context that is gone may have had the same one: its completions fire, too. */
static void completion_settle_in(struct cushim_completion *completion, void *context)
{
    if (!atomic_load_explicit(&completion->by_event, memory_order_relaxed) || !cush_completion_try_ref(completion))
        return;
    if (cush_completion_has_event(completion) && completion->event.context == context)
        completion_settle(completion);
    cush_completion_unref(completion);
}

static void completions_settle(CUcontext context)
{
    cush_completion_pool_each(completion_settle_in, context);
}

void cush_completions_settle_contexts(void)
{
    cush_context_set_end_hook(completions_settle);
}
