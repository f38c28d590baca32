/* SPDX-License-Identifier: MIT */
/* Memory that was freed, that is too small, or that nobody has allocated; and too little memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reasons.h"

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

/* Device memory at an address of the call. */
static void address_describe(const struct trace_failing_process *process, const struct trace_model *model,
                             const struct trace_call *call, uint64_t address, struct trace_reason *reason)
{
    const struct trace_object *memory = trace_allocation_find(model, call->process, address);
    uint64_t bytes = trace_effect_bytes(&model->effects[call->slot], call);
    if (memory == NULL)
        return;
    uint64_t offset = address - memory->key.id, left = offset < memory->bytes ? memory->bytes - offset : 0;
    if (left == 0 && (process->has_other_memory || is_in_memory(model, call->process, address)))
        return;
    if (!memory->is_alive && left > 0) {
        snprintf(reason->text, sizeof reason->text,
                 "0x%" PRIx64 " is in an allocation of %" PRIu64 " bytes that was freed %s: free it after its last use",
                 address, memory->bytes, trace_time_before(model->reader, &memory->destroyed, call).text);
    } else if (memory->is_alive && left == 0) {
        snprintf(reason->text, sizeof reason->text,
                 "0x%" PRIx64 " is %" PRIu64 " bytes behind the end of an allocation of %" PRIu64 " bytes", address,
                 offset - memory->bytes, memory->bytes);
    } else if (memory->is_alive && bytes > left && offset == 0) {
        snprintf(reason->text, sizeof reason->text,
                 "it uses %" PRIu64 " bytes at 0x%" PRIx64 ", where %s has allocated only %" PRIu64 " bytes", bytes,
                 address, model->reader->slots[memory->created.slot].function, memory->bytes);
    } else if (memory->is_alive && bytes > left) {
        snprintf(reason->text, sizeof reason->text,
                 "it uses %" PRIu64 " bytes at 0x%" PRIx64 ", which is %" PRIu64 " bytes into an allocation of %" PRIu64
                 " bytes from %s: only %" PRIu64 " bytes are left",
                 bytes, address, offset, memory->bytes, model->reader->slots[memory->created.slot].function, left);
    }
}

/* ---- too little memory ---- */

/* The device allocations of a function that were not freed. */
struct held_memory {
    const char *function;
    uint64_t bytes, count;
};

static int compare_held(const void *a, const void *b)
{
    const struct held_memory *one = a, *other = b;
    return one->bytes != other->bytes ? (one->bytes < other->bytes ? 1 : -1) : strcmp(one->function, other->function);
}

/* What was alive when memory was out, by the functions that allocated it. */
static void out_of_memory_describe(const struct trace_model *model, const struct trace_call *call,
                                   struct trace_reason *reason)
{
    enum { MAX_FUNCTIONS = 8 };
    const struct trace_object_effect *effect = &model->effects[call->slot];
    struct held_memory held[MAX_FUNCTIONS] = {{.bytes = 0}};
    uint64_t bytes = 0, count = 0;
    size_t functions = 0;
    if (effect->size < 0 || effect->rows >= 0)
        return;
    if (!trace_is_whole(model->reader)) {
        snprintf(reason->text, sizeof reason->text,
                 "it asked for %" PRIu64 " bytes; the file lacks calls, so what was alive is not known",
                 trace_word(call, effect->size));
        return;
    }
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
        reason->text, sizeof reason->text,
        "it asked for %" PRIu64 " bytes; %" PRIu64 " device allocation%s with %" PRIu64 " bytes %s alive",
        trace_word(call, effect->size), count, count == 1 ? "" : "s", bytes, count == 1 ? "was" : "were");
    for (size_t i = 0; i < functions && length < sizeof reason->text; i++)
        length += (size_t)snprintf(reason->text + length, sizeof reason->text - length,
                                   "%s%" PRIu64 " bytes from %s (%" PRIu64 ")", i == 0 ? ": " : ", ", held[i].bytes,
                                   held[i].function, held[i].count);
}

/* ---- a pointer in no memory ---- */

/* Whether a call has returned such memory: a global of a module, memory of another process, a range of addresses, or
 * memory that a graph allocates. */
bool trace_returns_other_memory(const struct trace_model *model, const struct trace_call *call)
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
        enum trace_type_number type = slot->fields[i].value.number;
        if (type == TRACE_TYPE_CUDA_MEM_ALLOC_NODE_PARAMS || type == TRACE_TYPE_CUgraphNodeParams)
            return true;
    }
    return false;
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

static void no_memory_describe(const struct trace_failing_process *process, const struct trace_model *model,
                               const struct trace_call *call, uint64_t address, struct trace_reason *reason)
{
    if (address == 0 || !trace_is_whole(model->reader) || process->has_other_memory || !needs_device_memory(model, call)
        || trace_allocation_find(model, call->process, address) != NULL || is_in_memory(model, call->process, address))
        return;
    snprintf(reason->text, sizeof reason->text,
             "0x%" PRIx64 " is in no allocation of this process: pass a pointer that cuMemAlloc has returned, and not "
             "one of the host",
             address);
}

void trace_memory_describe(const struct trace_failing_process *process, const struct trace_model *model,
                           const struct trace_call *call, struct trace_reason *reason)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    bool is_of_memory = !call->returned || call->result == CUDA_ERROR_INVALID_VALUE
                        || call->result == CUDA_ERROR_ILLEGAL_ADDRESS || call->result == CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; is_of_memory && i < effect->count && reason->text[0] == '\0'; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        if (!trace_row_is_address(field->row) || (field->what != USE && field->what != DESTROY))
            continue;
        address_describe(process, model, call, trace_object_handle(field, call), reason);
        if (reason->text[0] == '\0')
            no_memory_describe(process, model, call, trace_object_handle(field, call), reason);
    }
    if (call->returned && call->result == CUDA_ERROR_OUT_OF_MEMORY)
        out_of_memory_describe(model, call, reason);
}
