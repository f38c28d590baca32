/* SPDX-License-Identifier: MIT */
/* References to completions. */
#include "completion_object.h"

void cush_completion_ref(struct cushim_completion *completion)
{
    atomic_fetch_add(&completion->references, 1);
}

void cush_completion_unref(struct cushim_completion *completion)
{
    if (atomic_fetch_sub(&completion->references, 1) != 1)
        return;
    cush_completion_cancel_callback(completion);
    cush_completion_release_resources(completion);
    os_signal signal = atomic_load(&completion->signal);
    if (signal != 0)
        cush_os_signal_close(signal);
    if (completion->callback.dispatcher != NULL)
        cush_dispatcher_unref(completion->callback.dispatcher);
    cush_completion_pool_put(completion);
}
