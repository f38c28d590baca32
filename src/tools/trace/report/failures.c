/* SPDX-License-Identifier: MIT */
/*
 * Why a call failed: an object that was destroyed before, or that belongs to another context; memory that was freed, or
 * that is too small; a pointer in no memory; no current context; or no more memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "finder.h"
#include "text.h"

/* "0.3 ms before, by thread 7, in cuStreamDestroy_v2" */
static void moment_describe(const struct trace_reader *reader, const struct trace_moment *moment,
                            const struct trace_call *call, char *text, size_t size)
{
    bool overlaps = moment->end > call->begin;
    snprintf(text, size, "%s%s, by thread %ld, in %s",
             overlaps ? "at the same time" : trace_duration(call->begin - moment->end).text, overlaps ? "" : " before",
             moment->thread, reader->slots[moment->slot].function);
}

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

/* Writes why a call failed with an object, or nothing. */
static void failure_describe(const struct trace_model *model, const struct trace_call *call,
                             const struct trace_object_field *field, const struct trace_object *object, char *text,
                             size_t size)
{
    const struct trace_object *context = trace_object_context_ended(model, object);
    char when[128];
    text[0] = '\0';
    if (!object->is_alive && object->destroyed.call != 0) {
        moment_describe(model->reader, &object->destroyed, call, when, sizeof when);
        bool is_memory = object->bytes > 0;
        snprintf(text, size, "%s was %s%s %s: %s it %s", trace_object_name(object).text,
                 field->what == DESTROY ? "already " : "", is_memory ? "freed" : "destroyed", when,
                 is_memory ? "free" : "destroy", field->what == DESTROY ? "once" : "after its last use");
        return;
    }
    if (context != NULL && context->destroyed.call != 0) {
        moment_describe(model->reader, &context->destroyed, call, when, sizeof when);
        snprintf(text, size, "the context of %s was destroyed %s: destroy the context last",
                 trace_object_name(object).text, when);
        return;
    }
    const struct trace_object *whole =
        object->parent.kind != 0 ? trace_object_find(model, object->parent.process,
                                                     (enum trace_row)(object->parent.kind - 1), object->parent.id)
                                 : NULL;
    if (whole != NULL && !whole->is_alive && whole->destroyed.call != 0) {
        moment_describe(model->reader, &whole->destroyed, call, when, sizeof when);
        const char *name = object->name;
        snprintf(text, size, "%s%s%s%s is part of %s, which was destroyed %s: keep it until the last use of its parts",
                 trace_object_name(object).text, name != NULL ? " (" : "", name != NULL ? name : "",
                 name != NULL ? ")" : "", trace_object_name(whole).text, when);
        return;
    }
    const struct trace_object *other =
        trace_object_find(model, call->process, TRACE_ROW_CONTEXT, trace_current_context(model, call));
    const struct trace_object *own = trace_object_find(model, call->process, TRACE_ROW_CONTEXT, object->context);
    if ((trace_object_rows[object->key.kind - 1].flags & IN_CONTEXT) != 0 && other != NULL && own != NULL
        && other != own && (call->result == CUDA_ERROR_INVALID_HANDLE || call->result == CUDA_ERROR_INVALID_CONTEXT))
        snprintf(text, size, "%s was created in %s, and %s is current: make its context current before",
                 trace_object_name(object).text, trace_object_name(own).text, trace_object_name(other).text);
}

/* Whether it is in memory that the file has, such as that of the host. */
static bool is_in_memory(const struct trace_model *model, size_t process, uint64_t address)
{
    for (const struct trace_object *object = NULL; (object = trace_table_next(&model->objects, object)) != NULL;) {
        if (object->key.process == process && object->bytes > 0 && address >= object->key.id
            && address - object->key.id < object->bytes)
            return true;
    }
    return false;
}

/* The same for device memory at an address of the call. */
static void memory_describe(const struct trace_model *model, const struct trace_call *call, uint64_t address,
                            char *text, size_t size)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    const struct trace_object *memory = trace_allocation_find(model, call->process, address);
    uint64_t bytes = effect->size >= 0 ? trace_word(call, effect->size) * effect->unit : 0;
    char when[128];
    if (memory == NULL)
        return;
    uint64_t offset = address - memory->key.id, left = offset < memory->bytes ? memory->bytes - offset : 0;
    if (left == 0 && is_in_memory(model, call->process, address))
        return;
    if (!memory->is_alive && left > 0) {
        moment_describe(model->reader, &memory->destroyed, call, when, sizeof when);
        snprintf(text, size,
                 "0x%" PRIx64 " is in an allocation of %" PRIu64 " bytes that was freed %s: free it after its last use",
                 address, memory->bytes, when);
    } else if (memory->is_alive && left == 0) {
        snprintf(text, size, "0x%" PRIx64 " is %" PRIu64 " bytes behind the end of an allocation of %" PRIu64 " bytes",
                 address, offset - memory->bytes, memory->bytes);
    } else if (memory->is_alive && bytes > left && offset == 0) {
        snprintf(text, size,
                 "it uses %" PRIu64 " bytes at 0x%" PRIx64 ", where %s has allocated only %" PRIu64 " bytes", bytes,
                 address, model->reader->slots[memory->created.slot].function, memory->bytes);
    } else if (memory->is_alive && bytes > left) {
        snprintf(text, size,
                 "it uses %" PRIu64 " bytes at 0x%" PRIx64 ", which is %" PRIu64 " bytes into an allocation of %" PRIu64
                 " bytes from %s: only %" PRIu64 " bytes are left",
                 bytes, address, offset, memory->bytes, model->reader->slots[memory->created.slot].function, left);
    }
}

/* Why there is no context, and what to do. */
static void context_describe(const struct trace_model *model, const struct trace_call *call, char *text, size_t size)
{
    const struct trace_object *context =
        trace_object_find(model, call->process, TRACE_ROW_CONTEXT, trace_current_context(model, call));
    struct trace_moment moment;
    char when[128];
    long thread = 0;
    if (context != NULL) {
        if (context->is_alive || context->destroyed.call == 0)
            return;
        moment_describe(model->reader, &context->destroyed, call, when, sizeof when);
        snprintf(text, size, "%s, which is current on this thread, was destroyed %s: make another context current",
                 trace_object_name(context).text, when);
    } else if (trace_context_popped(model, call, &context, &moment)) {
        moment_describe(model->reader, &moment, call, when, sizeof when);
        snprintf(text, size, "no context is current on this thread: %s was, until %s; call cuCtxSetCurrent before",
                 trace_object_name(context).text, when);
    } else if ((context = trace_context_elsewhere(model, call, &thread)) != NULL) {
        snprintf(text, size,
                 "no context is current on this thread; each thread has its own, and %s is current on thread %ld: call "
                 "cuCtxSetCurrent in this thread before",
                 trace_object_name(context).text, thread);
    } else {
        snprintf(text, size,
                 "no context is current on this thread: call cuDevicePrimaryCtxRetain and cuCtxSetCurrent before");
    }
}

/* The device allocations of a function that were not freed. */
struct held {
    const char *function;
    uint64_t bytes, count;
};

static int compare_held(const void *a, const void *b)
{
    const struct held *one = a, *other = b;
    return one->bytes != other->bytes ? (one->bytes < other->bytes ? 1 : -1) : strcmp(one->function, other->function);
}

/* What was alive when memory was out, by the functions that allocated it. */
static void out_of_memory_describe(const struct trace_model *model, const struct trace_call *call, char *text,
                                   size_t size)
{
    enum { MAX_FUNCTIONS = 8 };
    const struct trace_object_effect *effect = &model->effects[call->slot];
    struct held held[MAX_FUNCTIONS] = {{.bytes = 0}};
    uint64_t bytes = 0, count = 0;
    size_t functions = 0;
    if (effect->size < 0)
        return;
    for (const struct trace_object *object = NULL; (object = trace_table_next(&model->objects, object)) != NULL;) {
        if (!object->is_alive || object->key.process != call->process || trace_row_of(object) != TRACE_ROW_DEVICE_MEMORY
            || trace_object_context_ended(model, object) != NULL)
            continue;
        const char *function = model->reader->slots[object->created.slot].function;
        size_t i = 0;
        while (i < functions && strcmp(held[i].function, function) != 0)
            i++;
        bytes += object->bytes;
        count++;
        if (i == MAX_FUNCTIONS)
            continue;
        functions = i == functions ? i + 1 : functions;
        held[i].function = function;
        held[i].bytes += object->bytes;
        held[i].count++;
    }
    qsort(held, functions, sizeof held[0], compare_held);
    size_t length = (size_t)snprintf(
        text, size, "it asked for %" PRIu64 " bytes; %" PRIu64 " device allocation%s with %" PRIu64 " bytes %s alive",
        trace_word(call, effect->size), count, count == 1 ? "" : "s", bytes, count == 1 ? "was" : "were");
    for (size_t i = 0; i < functions && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%" PRIu64 " bytes from %s (%" PRIu64 ")",
                                   i == 0 ? ": " : ", ", held[i].bytes, held[i].function, held[i].count);
}

/* ---- a pointer in no memory ---- */

struct failures {
    bool *has_other_memory; /* by process: whether it has device memory of which the file does not show the size */
    size_t count;
};

/* Whether a call has returned such memory: a global of a module, memory of another process, a pitched allocation, a
 * range of addresses, or memory that a graph allocates. */
static bool has_other_memory(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    bool creates_node = false;
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        bool is_memory = trace_row_is_address(field->row);
        bool has_size = effect->size >= 0 && !trace_is_captured(model, call);
        if (is_memory && (field->what == SEEN || (field->what == CREATE && !has_size)))
            return true;
        creates_node = creates_node || (field->what == CREATE && field->row == TRACE_ROW_NODE);
    }
    for (size_t i = 0; creates_node && i < slot->field_count; i++) {
        if (strstr(slot->fields[i].type, "MEM_ALLOC_NODE_PARAMS") != NULL
            || strstr(slot->fields[i].type, "CUgraphNodeParams") != NULL)
            return true;
    }
    return false;
}

static bool other_memory_note(struct failures *failures, const struct trace_model *model, const struct trace_call *call)
{
    if (!has_other_memory(model, call))
        return true;
    if (call->process >= failures->count) {
        bool *grown = realloc(failures->has_other_memory, (call->process + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        memset(grown + failures->count, 0, (call->process + 1 - failures->count) * sizeof *grown);
        failures->has_other_memory = grown;
        failures->count = call->process + 1;
    }
    failures->has_other_memory[call->process] = true;
    return true;
}

/* A copy or a memset, of which the pointers must be device memory: other functions ask what a pointer is, and cuMemcpy
 * accepts pointers of the host. */
static bool needs_device_memory(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    enum trace_role_kind kind = model->roles[call->slot].kind;
    return (kind == TRACE_WORK || kind == TRACE_SYNCHRONOUS) && trace_find_field(slot, call, "src") == NULL
           && call->returned && call->result == CUDA_ERROR_INVALID_VALUE;
}

static void no_memory_describe(const struct failures *failures, const struct trace_model *model,
                               const struct trace_call *call, uint64_t address, char *text, size_t size)
{
    const struct trace_header *header = model->reader->header;
    bool is_whole = header->overwritten == 0 && header->dropped == 0 && model->reader->damaged == 0;
    bool has_other = call->process < failures->count && failures->has_other_memory[call->process];
    if (address == 0 || !is_whole || has_other || !needs_device_memory(model, call)
        || trace_allocation_find(model, call->process, address) != NULL || is_in_memory(model, call->process, address))
        return;
    snprintf(text, size,
             "0x%" PRIx64 " is in no allocation of this process: pass a pointer that cuMemAlloc has returned, and not "
             "one of the host",
             address);
}

/* ---- the finder ---- */

static void other_reason_describe(const struct failures *failures, const struct trace_model *model,
                                  const struct trace_call *call, char *text, size_t size)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    bool is_of_memory = !call->returned || call->result == CUDA_ERROR_INVALID_VALUE
                        || call->result == CUDA_ERROR_ILLEGAL_ADDRESS || call->result == CUDA_ERROR_INVALID_HANDLE;
    const struct trace_header *header = model->reader->header;
    for (size_t i = 0; is_of_memory && i < effect->count && text[0] == '\0'; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        if (!trace_row_is_address(field->row) || (field->what != USE && field->what != DESTROY))
            continue;
        memory_describe(model, call, trace_object_handle(field, call), text, size);
        if (text[0] == '\0')
            no_memory_describe(failures, model, call, trace_object_handle(field, call), text, size);
    }
    if (call->returned && call->result == CUDA_ERROR_OUT_OF_MEMORY && header->overwritten == 0)
        out_of_memory_describe(model, call, text, size);
    if (call->returned
        && (call->result == CUDA_ERROR_INVALID_CONTEXT || call->result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        && text[0] == '\0' && header->overwritten == 0)
        context_describe(model, call, text, size);
}

static bool failure_find(void *state, const struct trace_model *model, const struct trace_call *call,
                         struct trace_list *list)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    char why[1024] = "";
    if (call->returned && call->result == CUDA_SUCCESS)
        return other_memory_note(state, model, call);
    if (call->returned && (trace_is_of_capture(call->result) || trace_answer_of(model->reader, call) != NULL))
        return true;
    for (size_t i = 0; i < effect->count && why[0] == '\0'; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        const struct trace_object *object = object_of(model, call, field);
        if (object != NULL)
            failure_describe(model, call, field, object, why, sizeof why);
    }
    if (why[0] == '\0' && list->found[TRACE_FINDING_FAILURE] < TRACE_MAX_FINDINGS)
        other_reason_describe(state, model, call, why, sizeof why);
    struct trace_moment moment = trace_moment_of(model, call);
    return why[0] == '\0'
           || trace_list_add(list, TRACE_FINDING_FAILURE, &moment, "%s %s%s: %s",
                             model->reader->slots[call->slot].function, call->returned ? "returned " : "did not return",
                             call->returned ? trace_result(call->result).text : "", why);
}

static void failures_free(void *state)
{
    free(((struct failures *)state)->has_other_memory);
}

const struct trace_finder trace_finder_failures = {sizeof(struct failures), failure_find, NULL, failures_free};
