/* SPDX-License-Identifier: MIT */
/* The functions that are due, for a loop to run: a list that any thread adds to, and its runner takes as a whole. */
#include "completion_object.h"

#include <stdlib.h>

struct cushim_dispatcher {
    atomic_uint references; /* the caller's, and that of each completion with a function */
    atomic_uint head;       /* index + 1 of what became due last; 0: none */
    atomic_bool closed;
    unsigned generation; /* of the process: a child after fork() has another, but the same descriptor */
    os_signal signal;
};

static CUresult no_dispatcher(const char *function)
{
    return cushim_report(CUDA_ERROR_INVALID_HANDLE, function, "The dispatcher is NULL, or was destroyed.");
}

void cushim_priv_dispatcher_hold(struct cushim_dispatcher *dispatcher)
{
    atomic_fetch_add(&dispatcher->references, 1);
}

void cushim_priv_dispatcher_drop(struct cushim_dispatcher *dispatcher)
{
    if (atomic_fetch_sub(&dispatcher->references, 1) != 1)
        return;
    cushim_priv_os_signal_close(dispatcher->signal);
    free(dispatcher);
}

bool cushim_priv_dispatcher_is_closed(struct cushim_dispatcher *dispatcher)
{
    return atomic_load(&dispatcher->closed);
}

/* Takes the whole list, the oldest first. */
static unsigned take_all(struct cushim_dispatcher *dispatcher)
{
    unsigned newest = atomic_exchange(&dispatcher->head, 0);
    unsigned oldest = 0;
    while (newest != 0) {
        struct cushim_completion *completion = cushim_priv_completion_at(newest - 1);
        unsigned next = atomic_load(&completion->next);
        atomic_store(&completion->next, oldest);
        oldest = newest;
        newest = next;
    }
    return oldest;
}

/* Runs what is due; or, if the dispatcher is closed, in the midst of it too, ends it. */
static size_t empty(struct cushim_dispatcher *dispatcher)
{
    size_t count = 0;
    unsigned next = take_all(dispatcher);
    while (next != 0) {
        struct cushim_completion *completion = cushim_priv_completion_at(next - 1);
        next = atomic_load(&completion->next);
        atomic_store(&completion->queued, false);
        if (atomic_load(&dispatcher->closed))
            cushim_priv_completion_cancel(completion);
        else
            cushim_priv_completion_run(completion, &count);
        cushim_priv_completion_drop(completion);
    }
    return count;
}

void cushim_priv_dispatcher_push(struct cushim_dispatcher *dispatcher, struct cushim_completion *completion)
{
    unsigned head = atomic_load(&dispatcher->head);
    /* Once it is in the list, another thread may run it, and end the completion and the dispatcher. */
    cushim_priv_dispatcher_hold(dispatcher);
    cushim_priv_completion_hold(completion);
    do
        atomic_store(&completion->next, head);
    while (!atomic_compare_exchange_weak(&dispatcher->head, &head, completion->index + 1));
    if (head == 0)
        cushim_priv_os_signal_set(dispatcher->signal);
    if (atomic_load(&dispatcher->closed))
        empty(dispatcher);
    cushim_priv_dispatcher_drop(dispatcher);
}

CUresult cushim_dispatcher_create(struct cushim_dispatcher **ret_dispatcher)
{
    static const char function[] = "cushim_dispatcher_create";
    if (ret_dispatcher == NULL)
        return no_place(function);
    struct cushim_dispatcher *dispatcher = calloc(1, sizeof *dispatcher);
    if (dispatcher == NULL)
        return no_memory(function);
    dispatcher->signal = cushim_priv_os_signal_open();
    if (dispatcher->signal == 0) {
        free(dispatcher);
        return cushim_report(CUDA_ERROR_OPERATING_SYSTEM, function, "The system gives no more descriptors.");
    }
    dispatcher->generation = cushim_priv_os_generation();
    atomic_init(&dispatcher->references, 1);
    *ret_dispatcher = dispatcher;
    return CUDA_SUCCESS;
}

CUresult cushim_dispatcher_descriptor(struct cushim_dispatcher *dispatcher, cushim_descriptor *ret_descriptor)
{
    if (dispatcher == NULL)
        return no_dispatcher("cushim_dispatcher_descriptor");
    if (ret_descriptor == NULL)
        return no_place("cushim_dispatcher_descriptor");
    *ret_descriptor = cushim_priv_os_signal_descriptor(dispatcher->signal);
    return CUDA_SUCCESS;
}

CUresult cushim_dispatcher_run(struct cushim_dispatcher *dispatcher, size_t *ret_count)
{
    static const char function[] = "cushim_dispatcher_run";
    if (dispatcher == NULL)
        return no_dispatcher(function);
    /* Here it would take the parent's signal, and call what the parent calls. */
    if (dispatcher->generation != cushim_priv_os_generation())
        return cushim_report(CUDA_ERROR_NOT_INITIALIZED, function, "The dispatcher was made before a fork().");
    cushim_priv_dispatcher_hold(dispatcher);
    /* Cleared before the list is taken: what is added after that sets it again. */
    cushim_priv_os_signal_clear(dispatcher->signal);
    size_t count = empty(dispatcher);
    cushim_priv_dispatcher_drop(dispatcher);
    if (ret_count != NULL)
        *ret_count = count;
    return CUDA_SUCCESS;
}

void cushim_dispatcher_destroy(struct cushim_dispatcher **dispatcher)
{
    if (dispatcher == NULL || *dispatcher == NULL)
        return;
    struct cushim_dispatcher *destroyed = *dispatcher;
    *dispatcher = NULL;
    atomic_store(&destroyed->closed, true);
    empty(destroyed);
    cushim_priv_dispatcher_drop(destroyed);
}
