/* SPDX-License-Identifier: MIT */
/*
 * Why a call failed: an object that was destroyed before, or that belongs to another context; memory; no current
 * context; or what the result means by itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model/answers.h"
#include "finder.h"
#include "reasons.h"

struct failures {
    struct trace_failing_process *processes;
    size_t count;
    uint64_t described; /* at most TRACE_MAX_REASONS */
};

/* The object of a parameter, or NULL. A CUfunction can be a CUkernel. */
static const struct trace_object *object_of(const struct trace_model *model, const struct trace_call *call,
                                            const struct trace_object_field *field)
{
    uint64_t handle = field->what == USE || field->what == DESTROY ? trace_object_handle(field, call) : 0;
    const struct trace_object *object =
        handle != 0 ? trace_object_find(model, call->process, field->row, handle) : NULL;
    if (handle != 0 && object == NULL && field->row == TRACE_ROW_FUNCTION)
        object = trace_object_find(model, call->process, TRACE_ROW_KERNEL, handle);
    return object;
}

/* ---- an object that was destroyed ---- */

static void end_describe(const struct trace_model *model, const struct trace_call *call,
                         const struct trace_object_field *field, const struct trace_object *object,
                         struct trace_reason *reason)
{
    const struct trace_object *context = trace_object_context_ended(model, object);
    const struct trace_object *whole = trace_table_find(&model->objects, object->parent);
    const struct trace_text name = trace_object_name(object);
    bool is_memory = object->bytes > 0;
    if (!object->is_alive && object->destroyed.call != 0)
        snprintf(reason->text, sizeof reason->text, "%s was %s%s %s: %s it %s", name.text,
                 field->what == DESTROY ? "already " : "", is_memory ? "freed" : "destroyed",
                 trace_time_before(model->reader, &object->destroyed, call).text, is_memory ? "free" : "destroy",
                 field->what == DESTROY ? "once" : "after its last use");
    else if (context != NULL && context->destroyed.call != 0)
        snprintf(reason->text, sizeof reason->text, "the context of %s was destroyed %s: destroy the context last",
                 name.text, trace_time_before(model->reader, &context->destroyed, call).text);
    else if (whole != NULL && !whole->is_alive && whole->destroyed.call != 0)
        snprintf(reason->text, sizeof reason->text,
                 "%s%s%.300s%s is part of %s, which was destroyed %s: keep it until the last use of its parts",
                 name.text, object->name != NULL ? " (" : "", object->name != NULL ? object->name : "",
                 object->name != NULL ? ")" : "", trace_object_name(whole).text,
                 trace_time_before(model->reader, &whole->destroyed, call).text);
}

/* ---- an object of another context ---- */

/* The stream of a call, if a recorded call has created it. The default streams are those of the current context. */
static const struct trace_object *stream_of(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        if (field->what == USE && field->row == TRACE_ROW_STREAM)
            return trace_object_find(model, call->process, TRACE_ROW_STREAM, trace_object_handle(field, call));
    }
    return NULL;
}

/* A call with a stream is one in the context of the stream, whichever context is current (observed with driver 580). */
static void contexts_compare(const struct trace_model *model, const struct trace_call *call,
                             const struct trace_object *object, struct trace_reason *reason)
{
    const struct trace_object *stream = stream_of(model, call);
    uint64_t context = stream != NULL ? stream->context : trace_current_context(model, call);
    const struct trace_object *own = trace_object_find(model, call->process, TRACE_ROW_CONTEXT, object->context);
    const struct trace_object *other = trace_object_find(model, call->process, TRACE_ROW_CONTEXT, context);
    if ((trace_object_rows[trace_row_of(object)].flags & IN_CONTEXT) == 0 || other == NULL || own == NULL
        || other == own || (call->result != CUDA_ERROR_INVALID_HANDLE && call->result != CUDA_ERROR_INVALID_CONTEXT))
        return;
    if (stream != NULL)
        snprintf(reason->text, sizeof reason->text,
                 "%s was created in %s, and %s in %s: create both while the same context is current; which one is "
                 "current at this call does not matter",
                 trace_object_name(object).text, trace_object_name(own).text, trace_object_name(stream).text,
                 trace_object_name(other).text);
    else
        snprintf(reason->text, sizeof reason->text,
                 "%s was created in %s, and %s is current: make its context current before",
                 trace_object_name(object).text, trace_object_name(own).text, trace_object_name(other).text);
}

/* ---- no context ---- */

static void context_describe(const struct trace_model *model, const struct trace_call *call,
                             struct trace_reason *reason)
{
    const struct trace_object *context =
        trace_object_find(model, call->process, TRACE_ROW_CONTEXT, trace_current_context(model, call));
    struct trace_moment moment;
    long thread = 0;
    if (context != NULL && (context->is_alive || context->destroyed.call == 0))
        return;
    if (context != NULL)
        snprintf(reason->text, sizeof reason->text,
                 "%s, which is current on this thread, was destroyed %s: make another context current",
                 trace_object_name(context).text, trace_time_before(model->reader, &context->destroyed, call).text);
    else if (trace_context_popped(model, call, &context, &moment))
        snprintf(reason->text, sizeof reason->text,
                 "no context is current on this thread: %s was, until %s; call cuCtxSetCurrent before",
                 trace_object_name(context).text, trace_time_before(model->reader, &moment, call).text);
    else if ((context = trace_context_elsewhere(model, call, &thread)) != NULL)
        snprintf(reason->text, sizeof reason->text,
                 "no context is current on this thread; each thread has its own, and %s is current on thread %ld: call "
                 "cuCtxSetCurrent in this thread before",
                 trace_object_name(context).text, thread);
    else
        snprintf(reason->text, sizeof reason->text,
                 "no context is current on this thread: call cuDevicePrimaryCtxRetain and cuCtxSetCurrent before");
}

/* ---- the finder ---- */

/* Returns NULL if there is not enough memory. */
static struct trace_failing_process *failing_process_of(struct failures *failures, size_t index)
{
    if (index >= failures->count) {
        struct trace_failing_process *grown = realloc(failures->processes, (index + 1) * sizeof *grown);
        if (grown == NULL)
            return NULL;
        for (size_t i = failures->count; i <= index; i++)
            grown[i] = (struct trace_failing_process){.has_other_memory = false};
        failures->processes = grown;
        failures->count = index + 1;
    }
    return &failures->processes[index];
}

/* The process that has forked this one, if both are the same program; or NULL. */
static const struct trace_failing_process *forked_from(const struct failures *failures,
                                                       const struct trace_reader *reader, size_t index)
{
    const struct trace_process *child = &reader->processes[index];
    for (size_t i = 0; i < reader->process_count && i < failures->count; i++) {
        if (i != index && reader->processes[i].pid == child->parent)
            return strcmp(reader->processes[i].command, child->command) == 0 ? &failures->processes[i] : NULL;
    }
    return NULL;
}

static void reason_find(const struct failures *failures, const struct trace_model *model, const struct trace_call *call,
                        struct trace_reason *reason)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    bool is_of_context = call->result == CUDA_ERROR_INVALID_CONTEXT || call->result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
    for (size_t i = 0; i < effect->count && reason->text[0] == '\0'; i++) {
        const struct trace_object *object = object_of(model, call, &effect->fields[i]);
        if (object != NULL)
            end_describe(model, call, &effect->fields[i], object, reason);
        if (object != NULL && reason->text[0] == '\0')
            contexts_compare(model, call, object, reason);
    }
    if (reason->text[0] == '\0')
        trace_graph_memory_describe(&failures->processes[call->process], model, call, reason);
    if (reason->text[0] == '\0')
        trace_memory_describe(&failures->processes[call->process], model, call, reason);
    if (reason->text[0] == '\0' && call->returned && is_of_context && model->reader->header->overwritten == 0)
        context_describe(model, call, reason);
    if (reason->text[0] == '\0' && call->returned)
        trace_meaning_describe(&failures->processes[call->process], forked_from(failures, model->reader, call->process),
                               model, call, reason);
}

static bool failure_find(void *state, const struct trace_model *model, const struct trace_call *call,
                         struct trace_list *list)
{
    struct failures *failures = state;
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    struct trace_failing_process *process = failing_process_of(failures, call->process);
    struct trace_reason reason = {""};
    if (process == NULL)
        return false;
    if (call->returned && call->result == CUDA_SUCCESS) {
        process->has_other_memory |= trace_returns_other_memory(model, call);
        trace_graph_memory_note(process, model, call);
        process->has_initialized |= slot->number == TRACE_FUNCTION_cuInit;
        return true;
    }
    if (call->returned && (trace_is_of_capture(call->result) || trace_answer_of(model->reader, call) != NULL))
        return true;
    process->is_refused |= slot->number == TRACE_FUNCTION_cuInit && call->result == CUDA_ERROR_NOT_INITIALIZED;
    if (failures->described < TRACE_MAX_REASONS)
        reason_find(failures, model, call, &reason);
    else
        list->not_examined += call->returned && !trace_is_sticky(call->result);
    failures->described += reason.text[0] != '\0';
    struct trace_moment moment = trace_moment_of(model, call);
    return reason.text[0] == '\0'
           || trace_list_add(list, TRACE_FINDING_FAILURE, &moment, "%s %s%s: %s", slot->function,
                             call->returned ? "returned " : "did not return",
                             call->returned ? trace_result(call->result).text : "", reason.text);
}

static void failures_free(void *state)
{
    free(((struct failures *)state)->processes);
}

const struct trace_finder trace_finder_failures = {sizeof(struct failures), failure_find, NULL, failures_free};
