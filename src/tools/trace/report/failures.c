/* SPDX-License-Identifier: MIT */
/*
 * Why a call failed: an object that was destroyed before, or that belongs to another context; memory that was freed, or
 * that is too small; or no current context.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "finder.h"

/* "0.3 ms before, by thread 7, in cuStreamDestroy_v2" */
static void moment_describe(const struct trace_reader *reader, const struct trace_moment *moment,
                            const struct trace_call *call, char *text, size_t size)
{
    bool overlaps = moment->end > call->begin;
    snprintf(text, size, "%s%s, by thread %ld, in %s",
             overlaps ? "at the same time" : trace_duration(call->begin - moment->end).text, overlaps ? "" : " before",
             moment->thread, reader->slots[moment->slot].function);
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
        snprintf(text, size, "%s was %sdestroyed %s", trace_object_name(object).text,
                 field->what == DESTROY ? "already " : "", when);
        return;
    }
    if (context != NULL && context->destroyed.call != 0) {
        moment_describe(model->reader, &context->destroyed, call, when, sizeof when);
        snprintf(text, size, "the context of %s was destroyed %s", trace_object_name(object).text, when);
        return;
    }
    const struct trace_object *whole =
        object->parent.kind != 0
            ? trace_object_find(model, object->parent.process, object->parent.kind - 1, object->parent.id)
            : NULL;
    if (whole != NULL && !whole->is_alive && whole->destroyed.call != 0) {
        moment_describe(model->reader, &whole->destroyed, call, when, sizeof when);
        snprintf(text, size, "%s is part of %s, which was destroyed %s", trace_object_name(object).text,
                 trace_object_name(whole).text, when);
        return;
    }
    const struct trace_object *other = trace_object_find(model, call->process, 0, trace_current_context(model, call));
    const struct trace_object *own = trace_object_find(model, call->process, 0, object->context);
    if ((trace_object_rows[object->key.kind - 1].flags & IN_CONTEXT) != 0 && other != NULL && own != NULL
        && other != own && (call->result == CUDA_ERROR_INVALID_HANDLE || call->result == CUDA_ERROR_INVALID_CONTEXT))
        snprintf(text, size, "%s was created in %s, and %s is current", trace_object_name(object).text,
                 trace_object_name(own).text, trace_object_name(other).text);
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
    if (!memory->is_alive && left > 0) {
        moment_describe(model->reader, &memory->destroyed, call, when, sizeof when);
        snprintf(text, size, "0x%" PRIx64 " is in an allocation of %" PRIu64 " bytes that was freed %s", address,
                 memory->bytes, when);
    } else if (memory->is_alive && left == 0) {
        snprintf(text, size, "0x%" PRIx64 " is %" PRIu64 " bytes behind the end of an allocation of %" PRIu64 " bytes",
                 address, offset - memory->bytes, memory->bytes);
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
    const struct trace_object *context = trace_object_find(model, call->process, 0, trace_current_context(model, call));
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

/* What was alive when memory was out: the bytes of device allocations, and the function with most of them. */
static void out_of_memory_describe(const struct trace_model *model, const struct trace_call *call, char *text,
                                   size_t size)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    uint64_t bytes = 0, count = 0, most = 0;
    const char *function = "";
    for (size_t slot = 0; slot < model->reader->slot_count; slot++) {
        uint64_t of_slot = 0;
        if (trace_table_find(&model->counts, (struct trace_key){slot, (uint32_t)call->process, TRACE_COUNT_OF_CREATOR})
            == NULL)
            continue;
        for (const struct trace_object *object = NULL; (object = trace_table_next(&model->objects, object)) != NULL;) {
            if (object->is_alive && object->key.process == call->process && object->created.slot == slot
                && strcmp(trace_object_rows[object->key.kind - 1].word, "device allocation") == 0
                && trace_object_context_ended(model, object) == NULL) {
                of_slot += object->bytes;
                count++;
            }
        }
        bytes += of_slot;
        if (of_slot > most) {
            most = of_slot;
            function = model->reader->slots[slot].function;
        }
    }
    if (effect->size < 0)
        return;
    snprintf(text, size,
             "it asked for %" PRIu64 " bytes; %" PRIu64 " device allocations with %" PRIu64 " bytes were not freed%s%s",
             trace_word(call, effect->size), count, bytes, most > 0 ? ", most of them from " : "", function);
}

static void other_reason_describe(const struct trace_model *model, const struct trace_call *call, char *text,
                                  size_t size)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    bool is_of_memory = !call->returned || call->result == CUDA_ERROR_INVALID_VALUE
                        || call->result == CUDA_ERROR_ILLEGAL_ADDRESS || call->result == CUDA_ERROR_INVALID_HANDLE;
    const struct trace_header *header = model->reader->header;
    for (size_t i = 0; is_of_memory && i < effect->count && text[0] == '\0'; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        if (strcmp(trace_object_rows[field->row].type, "CUdeviceptr") == 0
            && (field->what == USE || field->what == DESTROY))
            memory_describe(model, call, trace_object_handle(field, call), text, size);
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
    struct trace_moment moment = trace_moment_of(model, call);
    bool is_of_captures =
        call->result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && call->result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    char why[512] = "";
    (void)state;
    if (call->returned && (call->result == CUDA_SUCCESS || call->result == CUDA_ERROR_NOT_READY || is_of_captures))
        return true;
    for (size_t i = 0; i < effect->count && why[0] == '\0'; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        uint64_t handle = field->what == USE || field->what == DESTROY ? trace_object_handle(field, call) : 0;
        const struct trace_object *object =
            handle != 0 ? trace_object_find(model, call->process, field->row, handle) : NULL;
        if (object != NULL)
            failure_describe(model, call, field, object, why, sizeof why);
    }
    if (why[0] == '\0' && list->found[TRACE_FINDING_FAILURE] < TRACE_MOST_FINDINGS)
        other_reason_describe(model, call, why, sizeof why);
    return why[0] == '\0'
           || trace_list_add(list, TRACE_FINDING_FAILURE, &moment, "%s %s%s: %s",
                             model->reader->slots[call->slot].function, call->returned ? "returned " : "did not return",
                             call->returned ? trace_result(call->result).text : "", why);
}

const struct trace_finder trace_finder_failures = {.read = failure_find};
