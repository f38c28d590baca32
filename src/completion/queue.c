/* SPDX-License-Identifier: MIT */
/* The queue of a dispatcher. Any thread, also one of the driver, can push; a thread that runs callbacks takes all. */
#include <stdlib.h>

#include "completion_internal.h"

CUresult cush_queue_new(const char *function, struct cushim_dispatcher **out_dispatcher)
{
    struct cushim_dispatcher *dispatcher = calloc(1, sizeof *dispatcher);
    if (dispatcher == NULL)
        return fail_out_of_memory(function);
    dispatcher->signal = cush_os_signal_open();
    if (dispatcher->signal == 0) {
        free(dispatcher);
        return fail_no_descriptor(function);
    }
    cush_os_watch_forks();
    dispatcher->generation = cush_os_process_generation();
    atomic_init(&dispatcher->references, 1);
    *out_dispatcher = dispatcher;
    return CUDA_SUCCESS;
}

void cush_queue_ref(struct cushim_dispatcher *dispatcher)
{
    atomic_fetch_add(&dispatcher->references, 1);
}

void cush_queue_unref(struct cushim_dispatcher *dispatcher)
{
    if (atomic_fetch_sub(&dispatcher->references, 1) != 1)
        return;
    cush_os_signal_close(dispatcher->signal);
    free(dispatcher);
}

static void queue_wake(struct cushim_dispatcher *dispatcher)
{
    atomic_fetch_add(&dispatcher->changes, 1);
    if (atomic_load(&dispatcher->waiters) != 0)
        cush_os_wake(&dispatcher->changes);
}

void cush_queue_push(struct cushim_dispatcher *dispatcher, struct cushim_completion *completion)
{
    struct cushim_completion *newest = atomic_load(&dispatcher->newest);
    do
        completion->next = newest;
    while (!atomic_compare_exchange_weak(&dispatcher->newest, &newest, completion));
    if (newest == NULL)
        cush_os_signal_set(dispatcher->signal);
    queue_wake(dispatcher);
}

struct cushim_completion *cush_queue_take(struct cushim_dispatcher *dispatcher)
{
    struct cushim_completion *newest = atomic_exchange(&dispatcher->newest, NULL);
    struct cushim_completion *oldest = NULL;
    while (newest != NULL) {
        struct cushim_completion *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

bool cush_queue_wait(struct cushim_dispatcher *dispatcher, uint64_t deadline)
{
    bool in_time = cushim_clock_ns() < deadline;
    atomic_fetch_add(&dispatcher->waiters, 1);
    while (in_time) {
        unsigned seen = atomic_load(&dispatcher->changes);
        if (atomic_load(&dispatcher->newest) != NULL || atomic_load(&dispatcher->closed))
            break;
        in_time = cush_os_wait(&dispatcher->changes, seen, deadline);
    }
    atomic_fetch_sub(&dispatcher->waiters, 1);
    return atomic_load(&dispatcher->newest) != NULL;
}

void cush_queue_close(struct cushim_dispatcher *dispatcher)
{
    atomic_store(&dispatcher->closed, true);
    queue_wake(dispatcher);
}
