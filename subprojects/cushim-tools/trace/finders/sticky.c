/* SPDX-License-Identifier: MIT */
/*
 * Errors after which every call fails, such as CUDA_ERROR_ILLEGAL_ADDRESS: a later call than the launch at fault
 * returns the first one. The launches that can be at fault are those for which no wait has succeeded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "finder.h"
#include "../order/pending.h"

struct sticky_process {
    struct trace_moment first; /* the first call that returned such an error; its call is 0 if there is none */
    char self[384];            /* what that call submitted, if it did */
    uint64_t later;            /* later calls that returned it */
};

struct sticky {
    struct trace_pending pending;
    struct sticky_process *processes;
    size_t count;
};

static bool is_sticky(const struct trace_call *call)
{
    return call->returned && trace_is_sticky(call->result);
}

/* Returns NULL if there is not enough memory. */
static struct sticky_process *sticky_process_of(struct sticky *sticky, size_t index)
{
    if (index >= sticky->count) {
        struct sticky_process *grown = realloc(sticky->processes, (index + 1) * sizeof *grown);
        if (grown == NULL)
            return NULL;
        for (size_t i = sticky->count; i <= index; i++)
            grown[i] = (struct sticky_process){.later = 0};
        sticky->processes = grown;
        sticky->count = index + 1;
    }
    return &sticky->processes[index];
}

static bool sticky_read(void *state, const struct trace_model *model, const struct trace_call *call,
                        struct trace_list *list)
{
    struct sticky *sticky = state;
    struct sticky_process *process = sticky_process_of(sticky, call->process);
    (void)list;
    if (process == NULL)
        return false;
    if (process->first.call != 0) {
        process->later += call->returned && call->result == process->first.result;
        return true;
    }
    if (is_sticky(call)) {
        process->first = trace_moment_of(model, call);
        if (trace_pending_is_work(model, call))
            trace_pending_describe_call(model, call, process->self, sizeof process->self);
        return true;
    }
    return !call->returned || call->result != CUDA_SUCCESS || trace_pending_read(&sticky->pending, model, call);
}

/* What the waits show of the work that is named next; a call that the file lacks can be a wait, or work. */
static const char *fault_describe(bool has_candidates, bool has_self, bool is_whole, bool has_forgotten)
{
    if (has_candidates)
        return is_whole ? "No wait for this work has succeeded, so the fault is in it: "
                        : "The file, which lacks calls, has no wait for this work that succeeded: ";
    if (has_forgotten)
        return has_self ? "The file has no wait that succeeded for this work, nor for earlier work that is not named: "
                        : "The file has no wait that succeeded for earlier work that is not named";
    if (has_self)
        return is_whole ? "A wait for all earlier work has succeeded, so the fault is in this work: "
                        : "The file, which lacks calls, has waits that succeeded for all work but this: ";
    return "The file has no work for which no wait has succeeded";
}

static bool sticky_report(const struct sticky *sticky, const struct trace_model *model, size_t index,
                          struct trace_list *list)
{
    const struct sticky_process *process = &sticky->processes[index];
    const struct trace_slot *slots = model->reader->slots;
    const struct trace_moment last = trace_pending_waited(&sticky->pending, index);
    char candidates[2048] = "", waited[128] = "", later[64] = "";
    bool is_whole = trace_is_whole(model->reader), has_host_function;
    bool has_candidates = trace_pending_describe(&sticky->pending, model, index, NULL, UINT64_MAX, candidates,
                                                 sizeof candidates, &has_host_function);
    if (last.call != 0)
        snprintf(waited, sizeof waited, " The last wait that succeeded%s was %s at %.6f s.",
                 is_whole ? "" : " in the file", slots[last.slot].function, (double)last.begin / 1e9);
    if (process->later > 0)
        snprintf(later, sizeof later, ", and so did %" PRIu64 " later call%s", process->later,
                 process->later == 1 ? "" : "s");
    return trace_list_add(
        list, TRACE_FINDING_STICKY, &process->first,
        "%s returned %s%s: work on the GPU failed before, and only a new process can go on. %s%s.%s With "
        "CUDA_LAUNCH_BLOCKING=1, the launch itself fails; compute-sanitizer shows the line of the kernel",
        slots[process->first.slot].function, trace_result(process->first.result).text, later,
        fault_describe(has_candidates, process->self[0] != '\0', is_whole,
                       trace_pending_has_forgotten(&sticky->pending, model, index, NULL, UINT64_MAX)),
        has_candidates ? candidates : process->self, waited);
}

static bool sticky_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    const struct sticky *sticky = state;
    bool has_memory = true;
    for (size_t i = 0; has_memory && i < sticky->count; i++) {
        if (sticky->processes[i].first.call != 0)
            has_memory = sticky_report(sticky, model, i, list);
    }
    return has_memory;
}

static void sticky_free(void *state)
{
    struct sticky *sticky = state;
    trace_pending_free(&sticky->pending);
    free(sticky->processes);
}

const struct trace_finder trace_finder_sticky = {sizeof(struct sticky), sticky_read, sticky_end, sticky_free};
