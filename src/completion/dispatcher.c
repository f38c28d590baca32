/* SPDX-License-Identifier: MIT */
/* Dispatchers: any thread can add a completion to the list; the thread that runs the dispatcher takes the list. */
#include "dispatcher.h"

#include <stdlib.h>

#include "../stream/fail.h"
#include "completion_call.h"
#include "completion_pool.h"
#include "dispatcher_object.h"

static CUresult fail_null_dispatcher(const char *function)
{
    return cushim_set_error(CUDA_ERROR_INVALID_HANDLE, function, "The dispatcher is NULL or was destroyed.");
}

unsigned cush_dispatcher_take_all(struct cushim_dispatcher *dispatcher, unsigned *out_newest)
{
    unsigned newest = atomic_exchange(&dispatcher->head, 0);
    unsigned oldest = 0;
    *out_newest = newest;
    while (newest != 0) {
        struct cushim_completion *completion = cush_completion_pool_at(newest - 1);
        unsigned next = atomic_load(&completion->next);
        atomic_store(&completion->next, oldest);
        oldest = newest;
        newest = next;
    }
    return oldest;
}

/* Runs the callbacks that are due; once the dispatcher is closed, even in between, it ends them instead. */
static size_t dispatcher_drain(struct cushim_dispatcher *dispatcher)
{
    size_t count = 0;
    unsigned newest;
    unsigned next = cush_dispatcher_take_all(dispatcher, &newest);
    while (next != 0) {
        struct cushim_completion *completion = cush_completion_pool_at(next - 1);
        next = atomic_load(&completion->next);
        atomic_store(&completion->queued, false);
        if (atomic_load(&dispatcher->closed))
            cush_completion_cancel_callback(completion);
        else
            cush_completion_run_callback(completion, &count);
        cush_completion_unref(completion);
    }
    return count;
}

void cush_dispatcher_wake(struct cushim_dispatcher *dispatcher)
{
    atomic_fetch_add(&dispatcher->changes, 1);
    if (atomic_load(&dispatcher->waiters) != 0)
        cush_os_wake(&dispatcher->changes);
}

void cush_dispatcher_push(struct cushim_dispatcher *dispatcher, struct cushim_completion *completion)
{
    unsigned head = atomic_load(&dispatcher->head);
    /* Once the completion is in the list, another thread may run its callback and destroy both objects. */
    cush_dispatcher_ref(dispatcher);
    cush_completion_ref(completion);
    do
        atomic_store(&completion->next, head);
    while (!atomic_compare_exchange_weak(&dispatcher->head, &head, completion->index + 1));
    if (head == 0)
        cush_os_signal_set(dispatcher->signal);
    cush_dispatcher_wake(dispatcher);
    if (atomic_load(&dispatcher->closed))
        dispatcher_drain(dispatcher);
    cush_dispatcher_unref(dispatcher);
}

CUresult cushim_dispatcher_create(struct cushim_dispatcher **out_dispatcher)
{
    static const char function[] = "cushim_dispatcher_create";
    if (out_dispatcher == NULL)
        return fail_null_output(function);
    struct cushim_dispatcher *dispatcher = calloc(1, sizeof *dispatcher);
    if (dispatcher == NULL)
        return fail_out_of_memory(function);
    dispatcher->signal = cush_os_signal_open();
    if (dispatcher->signal == 0) {
        free(dispatcher);
        return cushim_set_error(CUDA_ERROR_OPERATING_SYSTEM, function,
                                "The operating system provides no more descriptors.");
    }
    cush_os_watch_forks();
    dispatcher->generation = cush_os_process_generation();
    atomic_init(&dispatcher->references, 1);
    *out_dispatcher = dispatcher;
    return CUDA_SUCCESS;
}

CUresult cushim_dispatcher_descriptor(struct cushim_dispatcher *dispatcher, cushim_descriptor *out_descriptor)
{
    if (dispatcher == NULL)
        return fail_null_dispatcher("cushim_dispatcher_descriptor");
    if (out_descriptor == NULL)
        return fail_null_output("cushim_dispatcher_descriptor");
    *out_descriptor = cush_os_signal_descriptor(dispatcher->signal);
    return CUDA_SUCCESS;
}

CUresult cushim_dispatcher_run(struct cushim_dispatcher *dispatcher, size_t *out_count)
{
    static const char function[] = "cushim_dispatcher_run";
    if (dispatcher == NULL)
        return fail_null_dispatcher(function);
    /* A run here would clear the parent's descriptor and call the callbacks that the parent calls, too. */
    if (dispatcher->generation != cush_os_process_generation())
        return cushim_set_error(CUDA_ERROR_NOT_INITIALIZED, function, "The dispatcher was made before a fork().");
    cush_dispatcher_ref(dispatcher);
    /* Cleared before the list is taken: a completion that is added later sets it again. */
    cush_os_signal_clear(dispatcher->signal);
    size_t count = dispatcher_drain(dispatcher);
    cush_dispatcher_unref(dispatcher);
    if (out_count != NULL)
        *out_count = count;
    return CUDA_SUCCESS;
}

void cushim_dispatcher_destroy(struct cushim_dispatcher **dispatcher)
{
    if (dispatcher == NULL || *dispatcher == NULL)
        return;
    struct cushim_dispatcher *destroyed = *dispatcher;
    *dispatcher = NULL;
    atomic_store(&destroyed->closed, true);
    dispatcher_drain(destroyed);
    cush_dispatcher_unref(destroyed);
}
