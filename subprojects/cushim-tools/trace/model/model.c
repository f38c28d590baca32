/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "lifetimes.h"

bool trace_model_start(struct trace_model *model, struct trace_reader *reader)
{
    *model = (struct trace_model){
        .reader = reader,
        .roles = calloc(reader->slot_count + 1, sizeof *model->roles),
        .effects = calloc(reader->slot_count + 1, sizeof *model->effects),
        .objects.size = sizeof(struct trace_object),
        .counts.size = sizeof(struct trace_count),
        .images.size = sizeof(struct trace_key),
    };
    reader->range_read = trace_range_read;
    reader->range_user = &model->ranges;
    trace_contexts_prepare(model);
    reader->kernel_read = trace_kernel_read;
    reader->kernel_user = model;
    if (model->roles == NULL || model->effects == NULL)
        return false;
    for (size_t i = 0; i < reader->slot_count; i++)
        model->roles[i] = trace_role_find(&reader->slots[i]);
    return true;
}

static bool processes_grow(struct trace_model *model, size_t count)
{
    uint64_t *grown = realloc(model->ends, count * sizeof *grown);
    if (grown == NULL)
        return false;
    memset(grown + model->process_count, 0, (count - model->process_count) * sizeof *grown);
    model->ends = grown;
    model->process_count = count;
    return true;
}

static bool captures_follow(struct trace_model *model, const struct trace_call *call,
                            const struct trace_object_effect *effect)
{
    const struct trace_role *role = &model->roles[call->slot];
    struct trace_capturing_call read = {
        .call = call,
        .role = role,
        .moment = trace_moment_of(model, call),
        .stream = role->stream >= 0 ? trace_stream_of(model, role, call) : 0,
    };
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        if (field->what == CREATE && field->row == TRACE_ROW_STREAM)
            read.created_stream = trace_object_handle(field, call);
        else if ((field->what == CREATE || field->what == DESTROY) && field->row == TRACE_ROW_EVENT)
            read.renewed_event = trace_object_handle(field, call);
    }
    return trace_capturing_read(&model->capturing, &read);
}

/* Keeps what the driver said about the newest call, for its moment. */
static bool texts_keep(struct trace_model *model, const struct trace_call *call)
{
    bool has_log = call->log != NULL && call->log_length > 0;
    model->log = has_log ? trace_text_keep(&model->texts, call->log, call->log_length) : NULL;
    return !has_log || model->log != NULL;
}

bool trace_model_read(struct trace_model *model, const struct trace_call *call)
{
    struct trace_object_effect *effect = &model->effects[call->slot];
    if (call->process >= model->process_count && !processes_grow(model, call->process + 1))
        return false;
    model->ends[call->process] = ++model->calls;
    model->work += model->roles[call->slot].kind != TRACE_OTHER;
    if (!texts_keep(model, call))
        return false;
    if (!effect->is_known)
        trace_effect_find(&model->reader->slots[call->slot], effect);
    if (call->returned && call->result == CUDA_SUCCESS
        && (!trace_objects_follow(model, call, effect) || !trace_contexts_follow(model, call, effect)))
        return false;
    return captures_follow(model, call, effect) && !trace_model_has_failed(model);
}

bool trace_model_has_failed(const struct trace_model *model)
{
    return model->has_failed || model->ranges.has_failed;
}

void trace_model_free(struct trace_model *model)
{
    free(model->roles);
    free(model->effects);
    free(model->objects.entries);
    free(model->counts.entries);
    free(model->threads.entries);
    free(model->devices.entries);
    free(model->images.entries);
    trace_texts_free(&model->texts);
    trace_ranges_free(&model->ranges);
    free(model->ends);
    trace_capturing_free(&model->capturing);
}
