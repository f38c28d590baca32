/* SPDX-License-Identifier: MIT */
/* The objects that calls create and destroy. */
#include "lifetimes.h"

#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "text.h"

static struct trace_object *object_find(const struct trace_model *model, size_t process, enum trace_row row,
                                        uint64_t handle)
{
    return trace_table_find(&model->objects, trace_object_key(process, row, handle));
}

static bool is_part_of(enum trace_row part, enum trace_row whole)
{
    static const enum trace_row parts[][2] = {{TRACE_ROW_FUNCTION, TRACE_ROW_MODULE},
                                              {TRACE_ROW_FUNCTION, TRACE_ROW_KERNEL},
                                              {TRACE_ROW_KERNEL, TRACE_ROW_LIBRARY},
                                              {TRACE_ROW_NODE, TRACE_ROW_GRAPH}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i][0] == part && parts[i][1] == whole)
            return true;
    }
    return false;
}

/* The object that the call uses to create a part of it. */
static struct trace_key parent_of(const struct trace_model *model, const struct trace_call *call, enum trace_row row)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        if (field->what == USE && is_part_of(row, field->row))
            return trace_object_key(call->process, field->row, trace_object_handle(field, call));
    }
    return (struct trace_key){.kind = 0};
}

/* Without memory, returns NULL, and `has_failed` is set. */
static const char *kernel_name_keep(struct trace_model *model, const char *mangled)
{
    char *name = trace_demangle(mangled);
    const char *kept = name != NULL ? trace_text_keep(&model->texts, name, strlen(name)) : NULL;
    model->has_failed |= kept == NULL;
    free(name);
    return kept;
}

/* The kernel of the node that a call adds to a graph, or 0. */
static uint64_t node_kernel(const struct trace_slot *slot, const struct trace_call *call)
{
    const struct trace_slot_field *field = slot->field_count > 0 ? &slot->fields[slot->field_count - 1] : NULL;
    bool is_kernel = field != NULL && field->kind == TRACE_IN && trace_type_is_kernel_node(&field->value);
    const uint64_t *at = is_kernel ? trace_find_field(slot, call, field->name) : NULL;
    CUDA_KERNEL_NODE_PARAMS_v2 parameters = {.func = NULL}; /* v1 is its first part */
    if (at == NULL || at[0] == 0)
        return 0;
    memcpy(&parameters, at + 1, field->size < sizeof parameters ? field->size : sizeof parameters);
    return parameters.func != NULL ? (uint64_t)(uintptr_t)parameters.func : (uint64_t)(uintptr_t)parameters.kern;
}

/* The name by which a call found a kernel, that of the kernel of which it returned the function, or of a node. */
static const char *kernel_name_of(struct trace_model *model, const struct trace_call *call, enum trace_row row,
                                  struct trace_key parent)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    if (row == TRACE_ROW_NODE)
        return trace_kernel_name(model, call->process, node_kernel(slot, call));
    if (row != TRACE_ROW_FUNCTION && row != TRACE_ROW_KERNEL)
        return NULL;
    const struct trace_object *whole = trace_table_find(&model->objects, parent);
    const uint64_t *text = trace_find_field(slot, call, "name");
    bool has_text = text != NULL && slot->field_count > 0 && slot->fields[slot->field_count - 1].kind == TRACE_TEXT
                    && strcmp(slot->fields[slot->field_count - 1].name, "name") == 0 && text[0] != 0;
    if (!has_text)
        return whole != NULL ? whole->name : NULL;
    char name[TRACE_TEXT_MAX + 1];
    memcpy(name, text + 2, (size_t)text[1]);
    name[text[1]] = '\0';
    return kernel_name_keep(model, name);
}

/* The image of a module or library that a call loads: its address, or its path; 0: unknown. */
static struct trace_key image_of(struct trace_model *model, const struct trace_call *call)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    struct trace_key key = {.process = (uint32_t)call->process, .kind = 1};
    size_t i = 0;
    while (i < slot->field_count && slot->fields[i].kind != TRACE_POINTER && slot->fields[i].kind != TRACE_TEXT)
        i++;
    const uint64_t *at = i < slot->field_count ? trace_find_field(slot, call, slot->fields[i].name) : NULL;
    if (at == NULL || at[0] == 0)
        return key;
    key.id = at[0];
    if (slot->fields[i].kind == TRACE_TEXT) {
        const char *path = trace_text_keep(&model->texts, (const char *)(at + 2), (size_t)at[1]);
        key.id = (uint64_t)(uintptr_t)path;
        model->has_failed |= path == NULL;
    }
    return key;
}

/* Whether a call loads an image that was loaded before. The CUDA runtime loads each of its own once. */
static bool is_loaded_again(struct trace_model *model, const struct trace_call *call, enum trace_row row)
{
    if (row != TRACE_ROW_MODULE && row != TRACE_ROW_LIBRARY)
        return false;
    struct trace_key key = image_of(model, call);
    size_t before = model->images.count;
    model->has_failed |= trace_table_add(&model->images, key) == NULL;
    return key.id == 0 || model->images.count == before;
}

/* Counts an object by a key. Returns NULL if there is not enough memory. */
static struct trace_count *count_add(struct trace_model *model, struct trace_key key, enum trace_row row,
                                     bool is_counted)
{
    struct trace_count *count = trace_table_add(&model->counts, key);
    if (count == NULL)
        return NULL;
    count->row = row;
    if (is_counted && count->created++ == 0) {
        count->begin = model->calls;
        count->work = model->work;
    }
    count->is_spread |= model->work > count->work;
    return count;
}

static bool object_create(struct trace_model *model, const struct trace_call *call,
                          const struct trace_object_field *field, uint64_t handle)
{
    struct trace_object *object = trace_table_add(&model->objects, trace_object_key(call->process, field->row, handle));
    if (object == NULL)
        return false;
    if (object->is_alive && field->what != CREATE) {
        object->references += field->what == CREATE_COUNTED;
        return true;
    }
    struct trace_key parent = parent_of(model, call, field->row);
    bool is_counted = field->what != CREATE_COUNTED && trace_object_rows[field->row].destroyers[0] != '\0';
    *object = (struct trace_object){
        .key = object->key,
        .references = 1,
        .is_alive = true,
        .is_counted = is_counted,
        .is_again = is_loaded_again(model, call, field->row),
        .created = trace_moment_of(model, call),
        .context = trace_current_context(model, call),
        .bytes = trace_effect_bytes(&model->effects[call->slot], call),
        .parent = parent,
        .name = kernel_name_of(model, call, field->row, parent),
    };
    struct trace_count *count = count_add(model, trace_type_key(object), field->row, is_counted);
    if (count == NULL)
        return false;
    object->number = ++count->last_number;
    return !is_counted || count_add(model, trace_creator_key(object), field->row, true) != NULL;
}

/* A program can ask for the same kernels again and again. */
void trace_kernel_read(void *user, const struct trace_kernel_note *note)
{
    struct trace_model *model = user;
    const struct trace_call call = {.slot = note->slot,
                                    .process = note->process,
                                    .thread = note->thread,
                                    .returned = true,
                                    .begin = note->time,
                                    .end = note->time};
    bool is_library = text_starts_with(model->reader->slots[note->slot].function, "cuLibrary");
    enum trace_row row = is_library ? TRACE_ROW_KERNEL : TRACE_ROW_FUNCTION;
    struct trace_key whole =
        trace_object_key(call.process, is_library ? TRACE_ROW_LIBRARY : TRACE_ROW_MODULE, note->whole);
    const char *name = kernel_name_keep(model, note->name);
    struct trace_object *object = trace_table_add(&model->objects, trace_object_key(call.process, row, note->handle));
    model->has_failed |= object == NULL;
    if (object == NULL || (object->number != 0 && object->name == name && object->parent.id == whole.id))
        return;
    struct trace_count *count = count_add(model, trace_type_key(object), row, false);
    model->has_failed |= count == NULL;
    if (count == NULL)
        return;
    *object = (struct trace_object){
        .key = object->key,
        .number = ++count->last_number,
        .references = 1,
        .is_alive = true,
        .created = trace_moment_of(model, &call),
        .context = trace_current_context(model, &call),
        .parent = whole,
        .name = name,
    };
}

/* A call that began before the handle was returned has destroyed an object that had the handle before. */
static void object_destroy(const struct trace_model *model, const struct trace_call *call,
                           const struct trace_object_field *field, uint64_t handle)
{
    struct trace_object *object = object_find(model, call->process, field->row, handle);
    if (object == NULL || !object->is_alive || object->created.end > call->begin || --object->references > 0)
        return;
    object->is_alive = false;
    object->destroyed = trace_moment_of(model, call);
}

/* Whether the launches of a graph create or destroy an object, and not the call, which is captured: how often is not
 * known. */
static bool is_of_graph(const struct trace_model *model, const struct trace_call *call,
                        const struct trace_object_field *field)
{
    return (field->what == CREATE || field->what == DESTROY) && trace_row_is_address(field->row)
           && trace_is_captured(model, call);
}

bool trace_objects_follow(struct trace_model *model, const struct trace_call *call,
                          const struct trace_object_effect *effect)
{
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        uint64_t handle = field->what != USE ? trace_object_handle(field, call) : 0;
        if (handle == 0)
            continue;
        bool is_graph = is_of_graph(model, call, field);
        struct trace_object *object =
            field->what == SEEN || is_graph ? object_find(model, call->process, field->row, handle) : NULL;
        if (object != NULL && (!object->is_alive || is_graph))
            *object = (struct trace_object){.key = object->key};
        if (field->what == SEEN || is_graph)
            continue;
        if (field->what == DESTROY)
            object_destroy(model, call, field, handle);
        else if (!object_create(model, call, field, handle))
            return false;
    }
    return true;
}
