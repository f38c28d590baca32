/* SPDX-License-Identifier: MIT */
/* Calls that did not return, why they wait, and for which work. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "finder.h"
#include "../order/pending.h"

enum { MIN_SECONDS = 1 /* of a call that can still return */ };

/* Functions that do not wait by their names, and wait for all work: observed with driver 580 behind a host function
 * that does not return. Allocating, launching, copying other memory, destroying streams and events, pools, graphs and
 * cuLibraryLoadData do not. */
static const struct {
    enum trace_function function;
    const char *why;
} hidden_waits[] = {
    {TRACE_FUNCTION_cuModuleLoad, "loading a module waits for all work of the context"},
    {TRACE_FUNCTION_cuModuleLoadData, "loading a module waits for all work of the context"},
    {TRACE_FUNCTION_cuModuleLoadDataEx, "loading a module waits for all work of the context"},
    {TRACE_FUNCTION_cuModuleLoadFatBinary, "loading a module waits for all work of the context"},
    {TRACE_FUNCTION_cuModuleUnload, "unloading a module waits for all work of the context"},
    {TRACE_FUNCTION_cuKernelGetFunction,
     "the first function of a library loads its code, and waits for all work of the context"},
    {TRACE_FUNCTION_cuMemFree, "freeing memory waits for all work of the context"},
    {TRACE_FUNCTION_cuMemFreeHost, "freeing memory waits for all work of the context"},
    {TRACE_FUNCTION_cuMemHostUnregister, "it waits for all work of the context"},
    {TRACE_FUNCTION_cuCtxSetLimit, "it waits for all work of the context"},
};

struct hang {
    struct trace_moment moment;
    const char *why;              /* or NULL */
    bool is_of_all, is_of_stream; /* it waits for all work, or for that before it in its stream */
    struct trace_clock awaited;   /* for which it waits, unless that is all work */
};

struct hangs {
    struct trace_pending pending;
    struct hang *all;
    size_t count;
};

static const char *hidden_wait(enum trace_function function)
{
    for (size_t i = 0; i < sizeof hidden_waits / sizeof hidden_waits[0]; i++) {
        if (hidden_waits[i].function == function)
            return hidden_waits[i].why;
    }
    return NULL;
}

/* Why a call waits, and for which work. */
static bool hang_explain(const struct trace_model *model, const struct trace_call *call, struct hang *hang)
{
    const struct trace_role *role = &model->roles[call->slot];
    hang->why = hidden_wait(model->reader->slots[call->slot].number);
    hang->is_of_all = true;
    switch (hang->why != NULL ? TRACE_OTHER : role->kind) {
    case TRACE_SYNCHRONIZE_STREAM:
        hang->why = "it waits for the work of its stream";
        hang->is_of_all = false;
        break;
    case TRACE_SYNCHRONIZE_EVENT:
        hang->why = "it waits for the work behind which its event was recorded";
        hang->is_of_all = false;
        break;
    case TRACE_SYNCHRONIZE_CONTEXT:
        hang->why = "it waits for all work of the context";
        break;
    case TRACE_SYNCHRONOUS:
        hang->why = "it waits for the work before it";
        break;
    case TRACE_WORK:
        hang->is_of_stream = true;
        hang->is_of_all = false;
        break;
    default:
        break;
    }
    return hang->is_of_all || trace_clock_join(&hang->awaited, &model->orders->awaited, NULL);
}

static bool hangs_read(void *state, const struct trace_model *model, const struct trace_call *call,
                       struct trace_list *list)
{
    struct hangs *hangs = state;
    (void)list;
    if (call->returned)
        return call->result != CUDA_SUCCESS || trace_pending_read(&hangs->pending, model, call);
    if (hangs->count == TRACE_MAX_FINDINGS)
        return true;
    struct hang *grown = realloc(hangs->all, (hangs->count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    hangs->all = grown;
    grown[hangs->count] = (struct hang){.moment = trace_moment_of(model, call)};
    return hang_explain(model, call, &grown[hangs->count++]);
}

/* How long a call of a process that still runs has not returned, in nanoseconds; 0: the process has ended. */
static uint64_t running_for(const struct trace_reader *reader, const struct trace_moment *moment)
{
    struct timespec time;
    pid_t pid = (pid_t)reader->processes[moment->process].pid;
    if (reader->header->taken >= TRACE_CLOSED || (kill(pid, 0) != 0 && errno != EPERM)
        || clock_gettime(CLOCK_MONOTONIC, &time) != 0)
        return 0;
    uint64_t now = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec - reader->header->clock;
    return now > moment->begin ? now - moment->begin : 0;
}

static bool hang_report(const struct hangs *hangs, const struct trace_model *model, const struct hang *hang,
                        struct trace_list *list)
{
    const struct trace_reader *reader = model->reader;
    const struct trace_process *process = &reader->processes[hang->moment.process];
    uint64_t running = running_for(reader, &hang->moment);
    char work[2048] = "", since[96] = "did not return";
    bool is_whole = trace_is_whole(reader), has_why = hang->why != NULL;
    bool has_host_function = false, can_wait = has_why || hang->is_of_stream;
    /* A thread can wait in a call when another one ends the process. */
    if (process->has_exited ? hang->moment.begin < process->exited
                            : running > 0 && running < MIN_SECONDS * UINT64_C(1000000000))
        return true;
    if (running > 0)
        snprintf(since, sizeof since, "has not returned for %s", trace_duration(running).text);
    bool has_work =
        can_wait
        && trace_pending_describe(&hangs->pending, model, hang->moment.process, hang->is_of_all ? NULL : &hang->awaited,
                                  hang->moment.call, work, sizeof work, &has_host_function);
    return trace_list_add(
        list, TRACE_FINDING_HANG, &hang->moment, "%s %s%s%s%s%s%s", reader->slots[hang->moment.slot].function, since,
        has_why ? ": " : "", has_why ? hang->why : "",
        !has_work             ? ""
        : has_why && is_whole ? ", and no wait for this work has succeeded: "
        : has_why             ? ", and the file, which lacks calls, has no wait for this work that succeeded: "
        : is_whole            ? ": no wait has succeeded for the work before it in its stream: "
                   : ": the file, which lacks calls, has no wait that succeeded for the work before it in its stream: ",
        work,
        has_host_function ? ". A host function must not wait for a thread that waits for it, nor call the driver" : "");
}

static bool hangs_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    const struct hangs *hangs = state;
    bool has_memory = true;
    for (size_t i = 0; has_memory && i < hangs->count; i++)
        has_memory = hang_report(hangs, model, &hangs->all[i], list);
    return has_memory;
}

static void hangs_free(void *state)
{
    struct hangs *hangs = state;
    trace_pending_free(&hangs->pending);
    for (size_t i = 0; i < hangs->count; i++)
        trace_clock_clear(&hangs->all[i].awaited);
    free(hangs->all);
}

const struct trace_finder trace_finder_hangs = {sizeof(struct hangs), hangs_read, hangs_end, hangs_free};
