/* SPDX-License-Identifier: MIT */
/* Times between events that cannot be measured: an event does not record its time, or was never recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finder.h"

/* An event that a recorded call created. */
struct timed_event {
    struct trace_key key;
    struct trace_moment created;
    bool is_recorded, is_untimed;
};

struct elapsed {
    struct trace_table events;
};

static bool is_event(const struct trace_object_field *field)
{
    return field->row == TRACE_ROW_EVENT;
}

/* Whether a call records its event, or can make another object record it later, such as a graph. */
static bool is_recording(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    bool has_other_object = false;
    for (size_t i = 0; i < effect->count; i++)
        has_other_object =
            has_other_object || (!is_event(&effect->fields[i]) && effect->fields[i].row != TRACE_ROW_STREAM);
    return model->roles[call->slot].kind == TRACE_RECORD_EVENT || has_other_object;
}

/* After a success. Returns false if there is not enough memory. */
static bool events_follow(struct elapsed *elapsed, const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    const struct trace_role *role = &model->roles[call->slot];
    if (role->kind == TRACE_WORK && role->event < 0) /* most calls */
        return true;
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        struct trace_key key = {trace_object_handle(field, call), (uint32_t)call->process, 1};
        if (!is_event(field) || key.id == 0)
            continue;
        struct timed_event *event = trace_table_find(&elapsed->events, key);
        if (field->what == CREATE) {
            if ((event = trace_table_add(&elapsed->events, key)) == NULL)
                return false;
            event->created = trace_moment_of(model, call);
            event->is_recorded = role->value < 0; /* an event of another process, which can record it */
            event->is_untimed = role->value >= 0 && (trace_word(call, role->value) & CU_EVENT_DISABLE_TIMING) != 0;
        } else if (event != NULL && is_recording(model, call)) {
            event->is_recorded = true;
        }
    }
    return true;
}

/* Writes why a call has no time because of an event, or nothing. */
static void event_describe(const struct elapsed *elapsed, const struct trace_model *model,
                           const struct trace_object *object, char *text, size_t size)
{
    const struct timed_event *event =
        trace_table_find(&elapsed->events, (struct trace_key){object->key.id, object->key.process, 1});
    if (event == NULL || !object->is_alive || trace_object_context_ended(model, object) != NULL)
        return;
    if (event->is_untimed)
        snprintf(text, size,
                 "%s does not record its time, because %s created it with CU_EVENT_DISABLE_TIMING at %.6f s: create it "
                 "without this flag",
                 trace_object_name(object).text, model->reader->slots[event->created.slot].function,
                 (double)event->created.begin / 1e9);
    else if (!event->is_recorded)
        snprintf(text, size,
                 "%s was never recorded: record both events (cuEventRecord) and wait for the second one "
                 "(cuEventSynchronize) before",
                 trace_object_name(object).text);
}

static bool elapsed_read(void *state, const struct trace_model *model, const struct trace_call *call,
                         struct trace_list *list)
{
    struct elapsed *elapsed = state;
    const struct trace_object_effect *effect = &model->effects[call->slot];
    char why[256] = "";
    elapsed->events.size = sizeof(struct timed_event);
    if (call->returned && call->result == CUDA_SUCCESS)
        return events_follow(elapsed, model, call);
    if (!call->returned || call->result != CUDA_ERROR_INVALID_HANDLE
        || model->roles[call->slot].kind != TRACE_ELAPSED_TIME)
        return true;
    for (size_t i = 0; i < effect->count && why[0] == '\0'; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        const struct trace_object *object =
            is_event(field) ? trace_object_find(model, call->process, field->row, trace_object_handle(field, call))
                            : NULL;
        if (object != NULL)
            event_describe(elapsed, model, object, why, sizeof why);
    }
    struct trace_moment moment = trace_moment_of(model, call);
    return why[0] == '\0'
           || trace_list_add(list, TRACE_FINDING_ELAPSED, &moment, "%s returned %s: %s",
                             model->reader->slots[call->slot].function, trace_result(call->result).text, why);
}

static void elapsed_free(void *state)
{
    free(((struct elapsed *)state)->events.entries);
}

const struct trace_finder trace_finder_elapsed = {sizeof(struct elapsed), elapsed_read, NULL, elapsed_free};
