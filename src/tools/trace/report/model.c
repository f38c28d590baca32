/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "cushim/default_stream.h"
#include "demangle.h"
#include "logs.h"
#include "places.h"
#include "text.h"

enum { MAX_CONTEXTS = 8 };

/* The contexts that are current on a thread. */
struct thread {
    struct trace_key key;
    uint64_t contexts[MAX_CONTEXTS]; /* 0: none, or unknown */
    unsigned depth;
    uint64_t popped; /* the context that was current last, if none is now, and the call that popped it */
    struct trace_moment popped_by;
};

/* The primary context of a device. */
struct primary {
    struct trace_key key;
    uint64_t context, references;
};

static struct trace_key key_of(const struct trace_call *call, uint32_t kind, uint64_t id)
{
    return (struct trace_key){.id = id, .process = (uint32_t)call->process, .kind = kind};
}

uint64_t trace_object_handle(const struct trace_object_field *field, const struct trace_call *call)
{
    return field->is_behind && trace_word(call, field->index - 1) == 0 ? 0 : trace_word(call, field->index);
}

struct trace_moment trace_moment_of(const struct trace_model *model, const struct trace_call *call)
{
    return (struct trace_moment){
        .call = model->calls,
        .process = call->process,
        .thread = call->thread,
        .slot = call->slot,
        .result = call->result,
        .begin = call->begin,
        .end = call->returned ? call->end : UINT64_MAX,
        .site = trace_site_of(model->reader, call),
        .python = trace_python_lines(call),
        .log = trace_log_find(&model->logs, call),
        .range = trace_range_path(&model->ranges, call->process, call->thread),
    };
}

/* ---- objects ---- */

static struct trace_object *object_find(const struct trace_model *model, size_t process, unsigned row, uint64_t handle)
{
    return trace_table_find(&model->objects, (struct trace_key){handle, (uint32_t)process, row + 1});
}

const struct trace_object *trace_object_find(const struct trace_model *model, size_t process, unsigned row,
                                             uint64_t handle)
{
    return object_find(model, process, row, handle);
}

const struct trace_object *trace_object_context_ended(const struct trace_model *model,
                                                      const struct trace_object *object)
{
    if ((trace_object_rows[object->key.kind - 1].flags & IN_CONTEXT) == 0 || object->context == 0)
        return NULL;
    const struct trace_object *context = object_find(model, object->key.process, 0, object->context);
    return context != NULL && (!context->is_alive || context->created.begin > object->created.end) ? context : NULL;
}

static bool is_part_of(const char *type, const char *whole)
{
    static const char *const parts[][2] = {
        {"CUfunction", "CUmodule"}, {"CUfunction", "CUkernel"}, {"CUkernel", "CUlibrary"}, {"CUgraphNode", "CUgraph"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(parts[i][0], type) == 0 && strcmp(parts[i][1], whole) == 0)
            return true;
    }
    return false;
}

/* The object that the call uses to create a part of it. */
static struct trace_key parent_of(const struct trace_model *model, const struct trace_call *call, unsigned row)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        if (field->what == USE && is_part_of(trace_object_rows[row].type, trace_object_rows[field->row].type))
            return key_of(call, field->row + 1, trace_object_handle(field, call));
    }
    return (struct trace_key){.kind = 0};
}

static const char *kernel_name_keep(struct trace_model *model, const char *mangled)
{
    char *name = trace_demangle(mangled);
    const char *kept = name != NULL ? trace_name_keep(&model->ranges, name) : NULL;
    model->ranges.has_failed |= name == NULL;
    free(name);
    return kept;
}

const char *trace_kernel_name(const struct trace_model *model, size_t process, uint64_t handle)
{
    for (unsigned row = 0; row < TRACE_OBJECT_ROWS; row++) {
        const char *type = trace_object_rows[row].type;
        const struct trace_object *object = strcmp(type, "CUfunction") == 0 || strcmp(type, "CUkernel") == 0
                                                ? object_find(model, process, row, handle)
                                                : NULL;
        if (object != NULL && object->number != 0)
            return object->name;
    }
    return NULL;
}

/* The kernel of the node that a call adds to a graph, or 0. */
static uint64_t node_kernel(const struct trace_slot *slot, const struct trace_call *call)
{
    const struct trace_slot_field *field = slot->field_count > 0 ? &slot->fields[slot->field_count - 1] : NULL;
    bool is_kernel =
        field != NULL && field->kind == TRACE_IN && strncmp(field->type, "const CUDA_KERNEL_NODE_PARAMS", 29) == 0;
    const uint64_t *at = is_kernel ? trace_find_field(slot, call, field->name) : NULL;
    CUDA_KERNEL_NODE_PARAMS_v2 parameters = {.func = NULL}; /* v1 is its first part */
    if (at == NULL || at[0] == 0)
        return 0;
    memcpy(&parameters, at + 1, field->size < sizeof parameters ? field->size : sizeof parameters);
    return parameters.func != NULL ? (uint64_t)(uintptr_t)parameters.func : (uint64_t)(uintptr_t)parameters.kern;
}

/* The name by which a call found a kernel, that of the kernel of which it returned the function, or of a node. */
static const char *kernel_name_of(struct trace_model *model, const struct trace_call *call, unsigned row,
                                  struct trace_key parent)
{
    const char *type = trace_object_rows[row].type;
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    if (strcmp(type, "CUgraphNode") == 0)
        return trace_kernel_name(model, call->process, node_kernel(slot, call));
    if (strcmp(type, "CUfunction") != 0 && strcmp(type, "CUkernel") != 0)
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

static bool object_create(struct trace_model *model, const struct trace_call *call,
                          const struct trace_object_field *field, uint64_t handle)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    struct trace_object *object = trace_table_add(&model->objects, key_of(call, field->row + 1, handle));
    if (object == NULL)
        return false;
    if (object->is_alive && field->what != CREATE) {
        object->references += field->what == CREATE_COUNTED;
        return true;
    }
    bool is_counted = field->what != CREATE_COUNTED && trace_object_rows[field->row].destroyers[0] != '\0';
    struct trace_count *count = trace_table_add(&model->counts, key_of(call, TRACE_COUNT_OF_TYPE, field->row));
    if (count == NULL)
        return false;
    count->row = field->row;
    count->created += is_counted;
    unsigned number = ++count->last_number;
    if (is_counted) {
        if ((count = trace_table_add(&model->counts, key_of(call, TRACE_COUNT_OF_CREATOR, call->slot))) == NULL)
            return false;
        if (count->created++ == 0)
            count->begin = model->calls;
        count->row = field->row;
    }
    struct trace_key parent = parent_of(model, call, field->row);
    const char *name = kernel_name_of(model, call, field->row, parent);
    *object = (struct trace_object){
        .key = object->key,
        .number = number,
        .references = 1,
        .is_alive = true,
        .is_counted = is_counted,
        .created = trace_moment_of(model, call),
        .context = trace_current_context(model, call),
        .bytes = effect->size >= 0 ? trace_word(call, effect->size) : 0,
        .parent = parent,
        .name = name,
    };
    return true;
}

static unsigned row_of(const char *type)
{
    unsigned row = 0;
    while (strcmp(trace_object_rows[row].type, type) != 0)
        row++;
    return row;
}

/* For trace_reader.kernel_read. A program can ask for the same kernels again and again. */
static void kernel_read(void *user, const struct trace_kernel_note *note)
{
    struct trace_model *model = user;
    const struct trace_call call = {.slot = note->slot,
                                    .process = note->process,
                                    .thread = note->thread,
                                    .returned = true,
                                    .begin = note->time,
                                    .end = note->time};
    bool is_library = text_starts_with(model->reader->slots[note->slot].function, "cuLibrary");
    unsigned row = row_of(is_library ? "CUkernel" : "CUfunction");
    struct trace_key whole = key_of(&call, row_of(is_library ? "CUlibrary" : "CUmodule") + 1, note->whole);
    const char *name = kernel_name_keep(model, note->name);
    struct trace_object *object = trace_table_add(&model->objects, key_of(&call, row + 1, note->handle));
    struct trace_count *count = trace_table_add(&model->counts, key_of(&call, TRACE_COUNT_OF_TYPE, row));
    model->ranges.has_failed |= object == NULL || count == NULL;
    if (object == NULL || count == NULL
        || (object->number != 0 && object->name == name && object->parent.id == whole.id))
        return;
    count->row = row;
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

bool trace_is_captured(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_role *role = &model->roles[call->slot];
    return role->stream >= 0
           && trace_capture_of_stream(&model->capturing, call->process, trace_stream_of(model, role, call)) != 0;
}

/* Whether the launches of a graph create or destroy an object, and not the call, which is captured: how often is not
 * known. */
static bool is_of_graph(const struct trace_model *model, const struct trace_call *call,
                        const struct trace_object_field *field)
{
    return (field->what == CREATE || field->what == DESTROY)
           && strcmp(trace_object_rows[field->row].type, "CUdeviceptr") == 0 && trace_is_captured(model, call);
}

static bool objects_follow(struct trace_model *model, const struct trace_call *call,
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

/* ---- contexts ---- */

uint64_t trace_current_context(const struct trace_model *model, const struct trace_call *call)
{
    const struct thread *thread = trace_table_find(&model->threads, key_of(call, 1, (uint64_t)call->thread));
    return thread != NULL && thread->depth < MAX_CONTEXTS ? thread->contexts[thread->depth] : 0;
}

/* That of a per-thread stream: the highest bit, the number of the context, the thread. */
uint64_t trace_stream_number(const struct trace_model *model, const struct trace_call *call, uint64_t stream)
{
    if (stream == 0)
        stream = call->kind == CUSHIM_DEFAULT_STREAM_LEGACY ? TRACE_LEGACY_STREAM : TRACE_PER_THREAD_STREAM;
    if (stream != TRACE_PER_THREAD_STREAM)
        return stream;
    const struct trace_object *context = object_find(model, call->process, 0, trace_current_context(model, call));
    uint64_t number = context != NULL ? context->number : 0;
    return UINT64_C(1) << 63 | number << 32 | (uint32_t)call->thread;
}

uint64_t trace_stream_of(const struct trace_model *model, const struct trace_role *role, const struct trace_call *call)
{
    return trace_stream_number(model, call, trace_word(call, role->stream));
}

static void primary_release(const struct trace_model *model, const struct trace_call *call, bool is_reset)
{
    struct primary *device = trace_table_find(&model->devices, key_of(call, 1, trace_word(call, 0)));
    struct trace_object *context = device != NULL ? object_find(model, call->process, 0, device->context) : NULL;
    if (context == NULL || (device->references > 0 && --device->references > 0 && !is_reset))
        return;
    context->is_alive = false;
    context->destroyed = trace_moment_of(model, call);
}

static void thread_follow(struct thread *thread, enum trace_context_effect effect, uint64_t handle)
{
    bool pops = effect == POP_CONTEXT || (effect == SET_CONTEXT && handle == 0);
    if (effect == PUSH_CONTEXT)
        thread->depth++;
    if (pops && thread->depth > 0) {
        thread->depth--;
        return;
    }
    if (thread->depth >= MAX_CONTEXTS)
        return;
    if (pops)
        thread->contexts[0] = 0;
    else if (effect == PUSH_CONTEXT || effect == SET_CONTEXT || effect == SEE_CONTEXT)
        thread->contexts[thread->depth] = handle;
    else if (effect == DESTROY_CONTEXT && thread->contexts[thread->depth] == handle) {
        thread->contexts[thread->depth] = 0;
        thread->depth -= thread->depth > 0;
    }
}

/* After a success: which context is current. Row 0 is that of contexts. */
static bool contexts_follow(struct trace_model *model, const struct trace_call *call,
                            const struct trace_object_effect *effect)
{
    uint64_t handle = effect->count > 0 ? trace_object_handle(&effect->fields[0], call) : 0;
    if (effect->context == NO_CONTEXT)
        return true;
    if (effect->context == RETAIN_PRIMARY) {
        struct primary *device = trace_table_add(&model->devices, key_of(call, 1, trace_word(call, 2)));
        if (device == NULL)
            return false;
        device->context = handle;
        device->references++;
        return true;
    }
    if (effect->context == RELEASE_PRIMARY || effect->context == RESET_PRIMARY) {
        primary_release(model, call, effect->context == RESET_PRIMARY);
        return true;
    }
    struct thread *thread = trace_table_add(&model->threads, key_of(call, 1, (uint64_t)call->thread));
    if (thread == NULL)
        return false;
    uint64_t before = trace_current_context(model, call);
    thread_follow(thread, effect->context, handle);
    if (before != 0 && trace_current_context(model, call) == 0) {
        thread->popped = before;
        thread->popped_by = trace_moment_of(model, call);
    }
    return true;
}

bool trace_context_popped(const struct trace_model *model, const struct trace_call *call,
                          const struct trace_object **out_context, struct trace_moment *out_moment)
{
    const struct thread *thread = trace_table_find(&model->threads, key_of(call, 1, (uint64_t)call->thread));
    const struct trace_object *context =
        thread != NULL && thread->popped != 0 ? object_find(model, call->process, 0, thread->popped) : NULL;
    if (context == NULL)
        return false;
    *out_context = context;
    *out_moment = thread->popped_by;
    return true;
}

const struct trace_object *trace_context_elsewhere(const struct trace_model *model, const struct trace_call *call,
                                                   long *out_thread)
{
    for (const struct thread *thread = NULL; (thread = trace_table_next(&model->threads, thread)) != NULL;) {
        const struct trace_object *context = thread->key.process == call->process && thread->depth < MAX_CONTEXTS
                                                 ? object_find(model, call->process, 0, thread->contexts[thread->depth])
                                                 : NULL;
        if (context != NULL && context->is_alive && thread->key.id != (uint64_t)call->thread) {
            *out_thread = (long)thread->key.id;
            return context;
        }
    }
    return NULL;
}

const struct trace_object *trace_allocation_find(const struct trace_model *model, size_t process, uint64_t address)
{
    const struct trace_object *found = NULL;
    for (const struct trace_object *object = NULL; (object = trace_table_next(&model->objects, object)) != NULL;) {
        bool is_device = object->key.kind > 0 && object->bytes > 0
                         && strcmp(trace_object_rows[object->key.kind - 1].word, "device allocation") == 0;
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

/* ---- the model ---- */

bool trace_model_start(struct trace_model *model, struct trace_reader *reader)
{
    *model = (struct trace_model){
        .reader = reader,
        .roles = calloc(reader->slot_count + 1, sizeof *model->roles),
        .effects = calloc(reader->slot_count + 1, sizeof *model->effects),
        .objects.size = sizeof(struct trace_object),
        .counts.size = sizeof(struct trace_count),
        .threads.size = sizeof(struct thread),
        .devices.size = sizeof(struct primary),
    };
    reader->range_read = trace_range_read;
    reader->range_user = &model->ranges;
    reader->kernel_read = kernel_read;
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
        const char *type = trace_object_rows[field->row].type;
        if (field->what == CREATE && strcmp(type, "CUstream") == 0)
            read.created_stream = trace_object_handle(field, call);
        else if ((field->what == CREATE || field->what == DESTROY) && strcmp(type, "CUevent") == 0)
            read.renewed_event = trace_object_handle(field, call);
    }
    return trace_capturing_read(&model->capturing, &read);
}

bool trace_model_read(struct trace_model *model, const struct trace_call *call)
{
    struct trace_object_effect *effect = &model->effects[call->slot];
    if (call->process >= model->process_count && !processes_grow(model, call->process + 1))
        return false;
    model->ends[call->process] = ++model->calls;
    if (!trace_log_keep(&model->logs, call) || model->ranges.has_failed)
        return false;
    if (!effect->is_known)
        trace_effect_find(&model->reader->slots[call->slot], effect);
    if (call->returned && call->result == CUDA_SUCCESS
        && (!objects_follow(model, call, effect) || !contexts_follow(model, call, effect)))
        return false;
    return captures_follow(model, call, effect);
}

void trace_model_free(struct trace_model *model)
{
    free(model->roles);
    free(model->effects);
    free(model->objects.entries);
    free(model->counts.entries);
    free(model->threads.entries);
    free(model->devices.entries);
    trace_logs_free(&model->logs);
    trace_ranges_free(&model->ranges);
    free(model->ends);
    trace_capturing_free(&model->capturing);
}
