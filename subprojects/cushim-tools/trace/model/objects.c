/* SPDX-License-Identifier: MIT */
/* Which objects exist or existed at a call. lifetimes.c creates and destroys them. */
#include "model.h"

uint64_t trace_object_handle(const struct trace_object_field *field, const struct trace_call *call)
{
    return field->is_behind && trace_word(call, field->index - 1) == 0 ? 0 : trace_word(call, field->index);
}

const struct trace_object *trace_object_find(const struct trace_model *model, size_t process, enum trace_row row,
                                             uint64_t handle)
{
    return trace_table_find(&model->objects, trace_object_key(process, row, handle));
}

const struct trace_object *trace_object_context_ended(const struct trace_model *model,
                                                      const struct trace_object *object)
{
    if ((trace_object_rows[object->key.kind - 1].flags & IN_CONTEXT) == 0 || object->context == 0)
        return NULL;
    const struct trace_object *context =
        trace_object_find(model, object->key.process, TRACE_ROW_CONTEXT, object->context);
    return context != NULL && (!context->is_alive || context->created.begin > object->created.end) ? context : NULL;
}

const char *trace_kernel_name(const struct trace_model *model, size_t process, uint64_t handle)
{
    static const enum trace_row rows[] = {TRACE_ROW_FUNCTION, TRACE_ROW_KERNEL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct trace_object *object = trace_object_find(model, process, rows[i], handle);
        if (object != NULL && object->number != 0)
            return object->name;
    }
    return NULL;
}

const struct trace_object *trace_allocation_find(const struct trace_model *model, size_t process, uint64_t address)
{
    const struct trace_object *found = NULL;
    for (const struct trace_object *object = NULL; (object = trace_table_next(&model->objects, object)) != NULL;) {
        bool is_device = trace_row_of(object) == TRACE_ROW_DEVICE_MEMORY && object->bytes > 0;
        if (!is_device || object->key.process != process || address < object->key.id
            || address - object->key.id >= 2 * object->bytes)
            continue;
        bool is_inside = address - object->key.id < object->bytes;
        bool was_inside = found != NULL && address - found->key.id < found->bytes;
        if (found == NULL || (object->is_alive && !found->is_alive)
            || (object->is_alive == found->is_alive && is_inside && !was_inside))
            found = object;
    }
    return found;
}
