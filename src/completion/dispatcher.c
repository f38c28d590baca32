/* SPDX-License-Identifier: MIT */
/* Dispatchers: callbacks run on a thread of the program. */
#include "completion_internal.h"

CUresult cushim_dispatcher_create(struct cushim_dispatcher **out_dispatcher)
{
    static const char function[] = "cushim_dispatcher_create";
    if (out_dispatcher == NULL)
        return fail_null_output(function);
    return cush_queue_new(function, out_dispatcher);
}

CUresult cushim_dispatcher_get_descriptor(struct cushim_dispatcher *dispatcher, cushim_descriptor *out_descriptor)
{
    static const char function[] = "cushim_dispatcher_get_descriptor";
    if (dispatcher == NULL)
        return fail_null_dispatcher(function);
    if (out_descriptor == NULL)
        return fail_null_output(function);
    *out_descriptor = cush_os_signal_descriptor(dispatcher->signal);
    return CUDA_SUCCESS;
}

static size_t dispatcher_run_due(struct cushim_dispatcher *dispatcher)
{
    /* Cleared first: a completion that is pushed later sets it again. */
    cush_os_signal_clear(dispatcher->signal);
    return cush_completion_run_due(dispatcher);
}

CUresult cushim_dispatcher_run(struct cushim_dispatcher *dispatcher, uint64_t deadline, size_t *out_count)
{
    static const char function[] = "cushim_dispatcher_run";
    if (dispatcher == NULL)
        return fail_null_dispatcher(function);
    /* A run here would clear the parent's descriptor and call the callbacks that the parent calls, too. */
    if (dispatcher->generation != cush_os_process_generation())
        return fail_forked(function);
    cush_queue_ref(dispatcher);
    size_t count = dispatcher_run_due(dispatcher);
    /* A completion in the queue can have no callback to call any more. */
    while (count == 0 && cush_queue_wait(dispatcher, deadline))
        count = dispatcher_run_due(dispatcher);
    bool closed = atomic_load(&dispatcher->closed);
    cush_queue_unref(dispatcher);
    if (count == 0 && closed)
        return fail_null_dispatcher(function);
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
    cush_queue_close(destroyed);
    (void)cush_completion_run_due(destroyed);
    cush_queue_unref(destroyed);
}
