/* SPDX-License-Identifier: MIT */
/* Memory that a graph allocates (observed with driver 580): it can be freed only after a launch, and the graph can be
 * launched again only after that. */
#include <inttypes.h>
#include <stdio.h>

#include "reasons.h"

static bool has(const struct trace_handles *handles, uint64_t handle)
{
    size_t i = handles->count;
    while (i > 0 && handles->list[i - 1] != handle)
        i--;
    return i > 0;
}

static void add(struct trace_handles *handles, uint64_t handle)
{
    if (handles->count < TRACE_MAX_HANDLES && !has(handles, handle))
        handles->list[handles->count++] = handle;
}

/* The handle of an object that a call creates, uses or destroys, or 0. */
static uint64_t handle_of(const struct trace_model *model, const struct trace_call *call, int row, int what)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    for (size_t i = 0; i < effect->count; i++) {
        if ((int)effect->fields[i].row == row && (int)effect->fields[i].what == what)
            return trace_object_handle(&effect->fields[i], call);
    }
    return 0;
}

void trace_graph_memory_note(struct trace_failing_process *process, const struct trace_model *model,
                             const struct trace_call *call)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    uint64_t made = handle_of(model, call, TRACE_ROW_GRAPH, CREATE_ONCE),
             graph = handle_of(model, call, TRACE_ROW_GRAPH, USE);
    uint64_t executable = handle_of(model, call, TRACE_ROW_EXECUTABLE_GRAPH, CREATE);
    uint64_t launched = handle_of(model, call, TRACE_ROW_EXECUTABLE_GRAPH, USE);
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        if (field->what == CREATE && trace_row_is_address(field->row) && trace_is_captured(model, call)) {
            add(&process->graph_memory, trace_object_handle(field, call));
            process->captures_memory = true;
        }
    }
    if (made != 0 && process->captures_memory) { /* by the end of the capture */
        add(&process->with_memory, made);
        process->captures_memory = false;
    }
    if (executable != 0 && has(&process->with_memory, graph))
        add(&process->with_memory, executable);
    if (launched != 0 && model->roles[call->slot].kind == TRACE_WORK && has(&process->with_memory, launched))
        add(&process->launched, launched);
}

void trace_graph_memory_describe(const struct trace_failing_process *process, const struct trace_model *model,
                                 const struct trace_call *call, struct trace_reason *reason)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    uint64_t launched = handle_of(model, call, TRACE_ROW_EXECUTABLE_GRAPH, USE);
    if (!call->returned || call->result != CUDA_ERROR_INVALID_VALUE)
        return;
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        uint64_t address = field->what == USE || field->what == DESTROY ? trace_object_handle(field, call) : 0;
        if (address != 0 && trace_row_is_address(field->row) && has(&process->graph_memory, address))
            snprintf(reason->text, sizeof reason->text,
                     "0x%" PRIx64 " is memory that a graph allocates: it is there only from a launch of the graph on, "
                     "until it is freed",
                     address);
    }
    if (launched != 0 && has(&process->launched, launched))
        snprintf(reason->text, sizeof reason->text,
                 "the memory that a graph allocates must be freed before its next launch: call cuMemFreeAsync after "
                 "each launch, or instantiate it with CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH");
}
