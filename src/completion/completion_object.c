/* SPDX-License-Identifier: MIT */
#include "completion_object.h"

#include "../stream/fail.h"
#include "../stream/stream_object.h"
#include "completion_call.h"
#include "completion_pool.h"
#include "dispatcher_object.h"

CUresult cush_completion_new(const char *function, unsigned long long id, struct cushim_completion **out_completion)
{
    struct cushim_completion *completion = cush_completion_pool_get(id);
    if (completion == NULL)
        return fail_out_of_memory(function);
    /* No other thread sees the completion yet: the call that passes it to another thread publishes it. */
    atomic_store_explicit(&completion->state, COMPLETION_PENDING, memory_order_relaxed);
    atomic_store_explicit(&completion->of.count, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->by_event, false, memory_order_relaxed);
    /* In the child of a fork(), a thread that no longer exists may have been in a call. */
    atomic_store_explicit(&completion->event_calls, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->signal, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->release, NULL, memory_order_relaxed);
    atomic_store_explicit(&completion->callback_state, CALLBACK_NONE, memory_order_relaxed);
    atomic_store_explicit(&completion->pending_calls, 0, memory_order_relaxed);
    atomic_store_explicit(&completion->queued, false, memory_order_relaxed);
    atomic_store_explicit(&completion->detached, false, memory_order_relaxed);
    completion->callback.dispatcher = NULL;
    completion->captured = false;
    completion->generation = cush_os_process_generation();
    /* From now on, the end of a context may find the completion. */
    atomic_store_explicit(&completion->references, 1, memory_order_release);
    *out_completion = completion;
    return CUDA_SUCCESS;
}

void cush_completion_ref(struct cushim_completion *completion)
{
    atomic_fetch_add(&completion->references, 1);
}

bool cush_completion_try_ref(struct cushim_completion *completion)
{
    unsigned references = atomic_load(&completion->references);
    while (references != 0)
        if (atomic_compare_exchange_weak(&completion->references, &references, references + 1))
            return true;
    return false;
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
    if (atomic_load(&completion->by_event))
        cush_stream_unref(completion->of.stream);
    cush_completion_pool_put(completion);
}
