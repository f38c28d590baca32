/* SPDX-License-Identifier: MIT */
#include "steps.h"

#include <string.h>

#include "cushim/default_stream.h"
#include "text.h"

static const struct {
    enum trace_step_kind kind;
    const char *parameters;
} steps[] = {
#define TRACE_STEP(kind, parameters) {TRACE_STEP_##kind, parameters},
#include "steps.inc"
};

/* ---- what a function is ---- */

/* Returns the index of the word that has the value of a parameter; -1: the function does not have it. */
static int value_index(const struct trace_slot *slot, const char *name)
{
    int index = 0;
    for (size_t i = 0; i < slot->field_count && slot->fields[i].kind != TRACE_TEXT; i++) {
        const struct trace_slot_field *field = &slot->fields[i];
        if (strcmp(field->name, name) == 0)
            return index + (field->kind == TRACE_OUT || field->kind == TRACE_IN ? 1 : 0);
        index += (int)trace_field_words(field, NULL, SIZE_MAX);
    }
    return -1;
}

/* The first of several parameters that the function has. */
static int first_index(const struct trace_slot *slot, const char *const *names)
{
    int index = -1;
    for (; *names != NULL && index < 0; names++)
        index = value_index(slot, *names);
    return index;
}

static enum trace_step_kind kind_of_role(const struct trace_slot *slot, const struct trace_role *role)
{
    switch (role->kind) {
    case TRACE_WORK:
    case TRACE_SYNCHRONOUS:
        return text_starts_with(slot->function, "cuMemcpy") ? TRACE_STEP_COPY : TRACE_STEP_WORK;
    case TRACE_RECORD_EVENT:
        return TRACE_STEP_RECORD;
    case TRACE_WAIT_EVENT:
        return TRACE_STEP_WAIT;
    case TRACE_DESTROY_STREAM:
        return TRACE_STEP_DESTROY_STREAM;
    case TRACE_QUERY_STREAM:
    case TRACE_SYNCHRONIZE_STREAM:
        return TRACE_STEP_SYNCHRONIZE_STREAM;
    case TRACE_ELAPSED_TIME:
    case TRACE_QUERY_EVENT:
    case TRACE_SYNCHRONIZE_EVENT:
        return TRACE_STEP_SYNCHRONIZE_EVENT;
    case TRACE_SYNCHRONIZE_CONTEXT:
        return TRACE_STEP_SYNCHRONIZE_CONTEXT;
    default:
        return TRACE_STEP_NONE;
    }
}

/* Whether a function creates or destroys a stream or an event. */
static void slot_find_effect(const struct trace_object_effect *effect, struct trace_step_slot *found)
{
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        bool is_stream = field->row == TRACE_ROW_STREAM;
        if ((!is_stream && field->row != TRACE_ROW_EVENT) || (field->what != CREATE && field->what != DESTROY))
            continue;
        found->handle = field->index;
        found->kind = field->what == CREATE ? (is_stream ? TRACE_STEP_CREATE_STREAM : TRACE_STEP_CREATE_EVENT)
                                            : (is_stream ? TRACE_STEP_DESTROY_STREAM : TRACE_STEP_DESTROY_EVENT);
    }
}

/* Looks for the parameters of a function in steps.inc. */
static void slot_find_row(const struct trace_slot *slot, struct trace_step_slot *found)
{
    for (size_t i = 0; i < slot->field_count; i++) {
        const char *name = slot->fields[i].name;
        for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
            if (trace_find_parameter(steps[k].parameters, slot->function, name) == '\0')
                continue;
            found->kind = steps[k].kind;
            found->handle = value_index(slot, name);
            found->is_of_executable = slot->fields[i].value.number == TRACE_TYPE_CUgraphExec;
        }
    }
}

/* Whether a function adds or changes a node of a graph, and the event that the node can record is not followed. */
static bool can_record_unseen(const struct trace_slot *slot)
{
    switch (slot->number) {
    case TRACE_FUNCTION_cuGraphAddNode:
    case TRACE_FUNCTION_cuGraphNodeSetParams:
    case TRACE_FUNCTION_cuGraphExecNodeSetParams:
    case TRACE_FUNCTION_cuGraphEventRecordNodeSetEvent:
    case TRACE_FUNCTION_cuGraphExecEventRecordNodeSetEvent:
        return true;
    default:
        return false;
    }
}

static void slot_find(const struct trace_model *model, unsigned number, struct trace_step_slot *found)
{
    static const char *const sizes[] = {"bytesize", "size", "bytes", "pSize", "pPitch", "N", "Width", NULL};
    static const char *const others[] = {"hEnd", "handle", "childGraph", "event", "originalGraph", "hGraph", NULL};
    const struct trace_slot *slot = &model->reader->slots[number];
    const struct trace_role *role = &model->roles[number];
    *found = (struct trace_step_slot){
        .is_known = true,
        .is_foreign = text_starts_with(slot->function, "cuIpc") || text_starts_with(slot->function, "cuGreen"),
        .can_record_unseen = can_record_unseen(slot),
        .handle = role->event,
        .other = first_index(slot, others),
        .size = first_index(slot, sizes),
        .height = value_index(slot, "Height"),
        .pitch = value_index(slot, "dstPitch"),
        .unit = value_index(slot, "us") >= 0   ? 2
                : value_index(slot, "ui") >= 0 ? 4
                                               : 1,
    };
    slot_find_row(slot, found);
    if (found->kind == TRACE_STEP_NONE)
        slot_find_effect(&model->effects[number], found);
    if (found->kind == TRACE_STEP_NONE)
        found->kind = kind_of_role(slot, role);
}

/* ---- what a call is ---- */

static void step_find_copy(const struct trace_slot *slot, const struct trace_call *call, struct trace_step *step)
{
    struct trace_copy copy;
    bool is_struct = trace_copy_is_struct(slot);
    step->is_between_contexts = strstr(slot->function, "Peer") != NULL;
    if (!trace_copy_of(slot, call, &copy))
        return;
    step->ends[0] = copy.source;
    step->ends[1] = copy.target;
    step->is_device[0] = copy.from == TRACE_DEVICE && !is_struct;
    step->is_device[1] = copy.to == TRACE_DEVICE && !is_struct;
    step->is_to_host = copy.to == TRACE_HOST;
}

/* What a node of a graph copies or sets, if the file has its parameters. */
static void step_find_node(const struct trace_slot *slot, const struct trace_call *call, struct trace_step *step)
{
    bool is_copy = step->kind == TRACE_STEP_NODE_COPY;
    const char *name = is_copy ? "copyParams" : "memsetParams";
    const uint64_t *at = trace_find_field(slot, call, name);
    struct trace_copy copy;
    CUDA_MEMSET_NODE_PARAMS set;
    for (size_t i = 0; at != NULL && at[0] != 0 && i < slot->field_count; i++) {
        const struct trace_slot_field *field = &slot->fields[i];
        if (field->kind != TRACE_IN || strcmp(field->name, name) != 0)
            continue;
        if (is_copy && trace_copy_find(field, at + 1, &copy)) {
            step->ends[0] = copy.source;
            step->ends[1] = copy.target;
        } else if (!is_copy && field->size == sizeof set) {
            memcpy(&set, at + 1, sizeof set);
            step->ends[1] = trace_span_of_rows(set.dst, set.pitch, set.width * set.elementSize, set.height);
        }
    }
}

/* Whether a launch has attributes, which are not in the file. */
static bool has_attributes(const struct trace_slot *slot, const struct trace_call *call)
{
    CUlaunchConfig config;
    if (slot->field_count == 0 || slot->fields[0].kind != TRACE_IN || slot->fields[0].size != sizeof config)
        return false;
    const uint64_t *at = trace_find_field(slot, call, "config");
    if (at == NULL || at[0] == 0)
        return false;
    memcpy(&config, at + 1, sizeof config);
    return config.numAttrs > 0;
}

static void step_find_memory(const struct trace_step_slot *slot, const struct trace_call *call, struct trace_step *step)
{
    uint64_t size = trace_word(call, slot->size), height = trace_word(call, slot->height);
    if (slot->kind == TRACE_STEP_MEMSET)
        step->ends[1] = trace_span_of_rows(step->handle, trace_word(call, slot->pitch), size * slot->unit,
                                           slot->height >= 0 ? height : 1);
    else
        step->size = slot->height >= 0 ? size * height : size;
}

/* The number of the capture that the newest call ended, or 0. */
static uint64_t capture_ended(const struct trace_model *model)
{
    for (size_t i = 0; i < model->capturing.count; i++) {
        const struct trace_stream_capture *one = &model->capturing.list[i];
        if (one->state == TRACE_CAPTURE_ENDED && one->ended.call == model->calls)
            return one->number;
    }
    return 0;
}

static void step_find_stream(const struct trace_model *model, const struct trace_call *call, struct trace_step *step)
{
    const struct trace_role *role = &model->roles[call->slot];
    uint64_t handle = trace_word(call, role->stream);
    if (handle == 0)
        handle = call->kind == CUSHIM_DEFAULT_STREAM_LEGACY ? TRACE_LEGACY_STREAM : TRACE_PER_THREAD_STREAM;
    step->stream = handle;
    step->is_async = role->stream >= 0;
    if (step->kind == TRACE_STEP_END_CAPTURE || step->kind == TRACE_STEP_DESTROY_STREAM)
        step->capture = capture_ended(model);
    else if (model->capturing.count > 0 && step->is_async)
        step->capture =
            trace_capture_of_stream(&model->capturing, call->process, trace_stream_number(model, call, handle));
    if (model->capturing.began > 0 && step->kind == TRACE_STEP_WAIT)
        step->of_event = trace_capture_of_event(&model->capturing, call->process, step->handle);
}

static void step_find_number(const struct trace_model *model, const struct trace_call *call, struct trace_step *step)
{
    enum trace_row row = step->kind == TRACE_STEP_CREATE_STREAM ? TRACE_ROW_STREAM : TRACE_ROW_EVENT;
    const struct trace_object *object = trace_object_find(model, call->process, row, step->handle);
    step->number = object != NULL ? object->number : 0;
}

bool trace_step_find(struct trace_step_slot *slots, const struct trace_model *model, const struct trace_call *call,
                     struct trace_step *out_step)
{
    struct trace_step_slot *slot = &slots[call->slot];
    if (!slot->is_known)
        slot_find(model, call->slot, slot);
    bool has_failed = call->returned && call->result != CUDA_SUCCESS;
    if (slot->kind == TRACE_STEP_NONE
        || (has_failed && (slot->kind != TRACE_STEP_END_CAPTURE || capture_ended(model) == 0)))
        return false;
    *out_step = (struct trace_step){
        .kind = slot->kind,
        .moment = trace_moment_of(model, call),
        .context = trace_current_context(model, call),
        .handle = trace_word(call, slot->handle),
        .other = trace_word(call, slot->other),
        .flags = (uint32_t)trace_word(call, model->roles[call->slot].value),
        .has_returned = call->returned,
        .has_failed = has_failed,
        .is_foreign = slot->is_foreign,
        .is_of_executable = slot->is_of_executable,
        .can_record_unseen = slot->can_record_unseen,
    };
    step_find_stream(model, call, out_step);
    if (slot->kind == TRACE_STEP_CREATE_STREAM || slot->kind == TRACE_STEP_CREATE_EVENT)
        step_find_number(model, call, out_step);
    if (slot->kind == TRACE_STEP_COPY)
        step_find_copy(&model->reader->slots[call->slot], call, out_step);
    else if (slot->kind == TRACE_STEP_NODE_COPY || slot->kind == TRACE_STEP_NODE_MEMSET)
        step_find_node(&model->reader->slots[call->slot], call, out_step);
    else if (slot->kind == TRACE_STEP_WORK)
        out_step->can_record_unseen = has_attributes(&model->reader->slots[call->slot], call);
    else if (slot->size >= 0)
        step_find_memory(slot, call, out_step);
    return true;
}
