/* SPDX-License-Identifier: MIT */
/* The objects of a trace: their names, why a call with one failed, what was left, and what grows. */
#include "effects.h"
#include "findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONTEXTS = 8, LEAST_GROWTH = 16, GROWTH_PARTS = 4 };

/* The kinds in the table after those of the rows, which begin with 1. */
enum { KEY_TYPE = TRACE_OBJECT_ROWS + 1, KEY_CREATOR, KEY_THREAD, KEY_DEVICE };

/* An object, alive or destroyed. */
struct object {
    struct trace_key key;
    unsigned number; /* from 1; 0: no recorded call has created it */
    unsigned references;
    bool is_alive, is_counted;
    struct trace_moment created, destroyed; /* destroyed.call is 0 if it was not */
    uint64_t context;                       /* current when it was created; 0: unknown */
};

/* Of a type or a creator. */
struct count {
    struct trace_key key;
    uint64_t created, alive, parts[GROWTH_PARTS];
    unsigned row, last_number;
    struct trace_moment first; /* created, of those that are alive */
    uint64_t begin;            /* the number of the call that created the first one */
};

struct thread {
    struct trace_key key;
    uint64_t contexts[MOST_CONTEXTS]; /* current ones; 0: unknown */
    unsigned depth;
};

/* The primary context of a device. */
struct primary {
    struct trace_key key;
    uint64_t context, references;
};

struct trace_objects {
    struct trace_table objects, counts, threads, devices;
    struct trace_object_effect *effects; /* of the slots */
    uint64_t *ends;                      /* the number of the last call of each process */
    size_t process_count;
};

static uint64_t field_handle(const struct trace_object_field *field, const struct trace_call *call)
{
    return field->is_behind && trace_word(call, field->place - 1) == 0 ? 0 : trace_word(call, field->place);
}

/* ---- contexts ---- */

static struct trace_key key_of(const struct trace_call *call, uint32_t kind, uint64_t id)
{
    return (struct trace_key){.id = id, .process = (uint32_t)call->process, .kind = kind};
}

static struct object *object_find(const struct trace_objects *objects, size_t process, unsigned row, uint64_t handle)
{
    return trace_table_find(&objects->objects, (struct trace_key){handle, (uint32_t)process, row + 1});
}

static uint64_t context_current(const struct trace_objects *objects, const struct trace_call *call)
{
    const struct thread *thread = trace_table_find(&objects->threads, key_of(call, KEY_THREAD, (uint64_t)call->thread));
    return thread != NULL && thread->depth < MOST_CONTEXTS ? thread->contexts[thread->depth] : 0;
}

uint64_t trace_current_context(const struct trace_findings *findings, const struct trace_call *call)
{
    return context_current(findings->objects, call);
}

static void primary_release(struct trace_findings *findings, const struct trace_call *call, bool is_reset)
{
    struct trace_objects *objects = findings->objects;
    struct primary *device = trace_table_find(&objects->devices, key_of(call, KEY_DEVICE, trace_word(call, 0)));
    struct object *context = device != NULL ? object_find(objects, call->process, 0, device->context) : NULL;
    if (context == NULL || (device->references > 0 && --device->references > 0 && !is_reset))
        return;
    context->is_alive = false;
    context->destroyed = trace_moment_of(findings, call);
}

/* After a success: which context is current. Row 0 is that of contexts. */
static void context_follow(struct trace_findings *findings, const struct trace_call *call,
                           const struct trace_object_effect *effect)
{
    struct trace_objects *objects = findings->objects;
    uint64_t handle = effect->count > 0 ? field_handle(&effect->fields[0], call) : 0;
    if (effect->context == RETAIN_PRIMARY) {
        struct primary *device = trace_table_add(&objects->devices, key_of(call, KEY_DEVICE, trace_word(call, 2)));
        findings->failed |= device == NULL;
        if (device != NULL) {
            device->context = handle;
            device->references++;
        }
        return;
    }
    if (effect->context == RELEASE_PRIMARY || effect->context == RESET_PRIMARY) {
        primary_release(findings, call, effect->context == RESET_PRIMARY);
        return;
    }
    struct thread *thread = trace_table_add(&objects->threads, key_of(call, KEY_THREAD, (uint64_t)call->thread));
    if (thread == NULL) {
        findings->failed = true;
        return;
    }
    if (effect->context == PUSH_CONTEXT)
        thread->depth++;
    else if (effect->context == POP_CONTEXT && thread->depth > 0)
        thread->depth--;
    if (thread->depth >= MOST_CONTEXTS)
        return;
    if (effect->context == PUSH_CONTEXT || effect->context == SET_CONTEXT)
        thread->contexts[thread->depth] = handle;
    else if (effect->context == DESTROY_CONTEXT && thread->contexts[thread->depth] == handle) {
        thread->contexts[thread->depth] = 0;
        thread->depth -= thread->depth > 0;
    }
}

/* Returns the context with which an object ended, or NULL. */
static const struct object *context_ended(const struct trace_objects *objects, const struct object *object)
{
    if ((trace_object_rows[object->key.kind - 1].flags & IN_CONTEXT) == 0 || object->context == 0)
        return NULL;
    const struct object *context = object_find(objects, object->key.process, 0, object->context);
    return context != NULL && (!context->is_alive || context->created.begin > object->created.end) ? context : NULL;
}

/* ---- objects ---- */

static struct count *count_of(struct trace_findings *findings, const struct trace_call *call, uint32_t kind,
                              uint64_t id)
{
    struct count *count = trace_table_add(&findings->objects->counts, key_of(call, kind, id));
    findings->failed |= count == NULL;
    return count;
}

static void object_create(struct trace_findings *findings, const struct trace_call *call,
                          const struct trace_object_field *field, uint64_t handle)
{
    struct trace_objects *objects = findings->objects;
    struct object *object = trace_table_add(&objects->objects, key_of(call, field->row + 1, handle));
    findings->failed |= object == NULL;
    if (object == NULL)
        return;
    if (object->is_alive && field->what != CREATE) {
        object->references += field->what == CREATE_COUNTED;
        return;
    }
    bool is_counted = field->what != CREATE_COUNTED && trace_object_rows[field->row].destroyers[0] != '\0';
    struct count *count = count_of(findings, call, KEY_TYPE, field->row);
    unsigned number = count != NULL ? ++count->last_number : 0;
    if (count != NULL)
        count->created += is_counted;
    count = is_counted ? count_of(findings, call, KEY_CREATOR, call->slot) : NULL;
    if (count != NULL && count->created++ == 0)
        count->begin = findings->calls;
    if (count != NULL)
        count->row = field->row;
    *object = (struct object){
        .key = object->key,
        .number = number,
        .references = 1,
        .is_alive = true,
        .is_counted = is_counted,
        .created = trace_moment_of(findings, call),
        .context = context_current(objects, call),
    };
}

/* A call that began before the handle was returned has destroyed an object that had the handle before. */
static void object_destroy(struct trace_findings *findings, const struct trace_call *call,
                           const struct trace_object_field *field, uint64_t handle)
{
    struct object *object = object_find(findings->objects, call->process, field->row, handle);
    if (object == NULL || !object->is_alive || object->created.end > call->begin || --object->references > 0)
        return;
    object->is_alive = false;
    object->destroyed = trace_moment_of(findings, call);
}

/* ---- why a call failed ---- */

/* "stream 3", "device allocation 0x7f0000" */
static struct trace_text object_name(const struct object *object)
{
    struct trace_text name;
    unsigned row = object->key.kind - 1;
    if ((trace_object_rows[row].flags & NAMED) != 0)
        snprintf(name.text, sizeof name.text, "%s %u", trace_object_rows[row].word, object->number);
    else
        snprintf(name.text, sizeof name.text, "%s 0x%" PRIx64, trace_object_rows[row].word, object->key.id);
    return name;
}

/* "0.3 ms before, by thread 7, in cuStreamDestroy_v2" */
static void moment_describe(const struct trace_reader *reader, const struct trace_moment *moment,
                            const struct trace_call *call, char *text, size_t size)
{
    bool overlaps = moment->end > call->begin;
    snprintf(text, size, "%s%s, by thread %ld, in %s",
             overlaps ? "at the same time" : trace_duration(call->begin - moment->end).text, overlaps ? "" : " before",
             moment->thread, reader->slots[moment->slot].function);
}

/* Returns whether it explains the failure. */
static bool failure_explain(struct trace_findings *findings, const struct trace_reader *reader,
                            const struct trace_call *call, const struct trace_object_field *field,
                            const struct object *object)
{
    struct trace_moment moment = trace_moment_of(findings, call);
    const struct object *context = context_ended(findings->objects, object);
    uint64_t current = context_current(findings->objects, call);
    const char *function = reader->slots[call->slot].function;
    char when[128], outcome[80];
    snprintf(outcome, sizeof outcome, "%s%s", call->returned ? "returned " : "did not return",
             call->returned ? trace_result(call->result).text : "");
    if (!object->is_alive && object->destroyed.call != 0) {
        moment_describe(reader, &object->destroyed, call, when, sizeof when);
        trace_finding_add(findings, TRACE_FINDING_FAILURE, &moment, "%s %s: %s was %sdestroyed %s", function, outcome,
                          object_name(object).text, field->what == DESTROY ? "already " : "", when);
        return true;
    }
    if (context != NULL && context->destroyed.call != 0) {
        moment_describe(reader, &context->destroyed, call, when, sizeof when);
        trace_finding_add(findings, TRACE_FINDING_FAILURE, &moment, "%s %s: the context of %s was destroyed %s",
                          function, outcome, object_name(object).text, when);
        return true;
    }
    const struct object *other = object_find(findings->objects, call->process, 0, current);
    const struct object *own = object_find(findings->objects, call->process, 0, object->context);
    if ((trace_object_rows[object->key.kind - 1].flags & IN_CONTEXT) == 0 || other == NULL || own == NULL
        || other == own || (call->result != CUDA_ERROR_INVALID_HANDLE && call->result != CUDA_ERROR_INVALID_CONTEXT))
        return false;
    trace_finding_add(findings, TRACE_FINDING_FAILURE, &moment, "%s %s: %s was created in %s, and %s is current",
                      function, outcome, object_name(object).text, object_name(own).text, object_name(other).text);
    return true;
}

static void call_explain(struct trace_findings *findings, const struct trace_reader *reader,
                         const struct trace_call *call, const struct trace_object_effect *effect)
{
    bool is_of_captures =
        call->result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && call->result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (call->returned && (call->result == CUDA_ERROR_NOT_READY || is_of_captures))
        return;
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        uint64_t handle = field->what == USE || field->what == DESTROY ? field_handle(field, call) : 0;
        const struct object *object =
            handle != 0 ? object_find(findings->objects, call->process, field->row, handle) : NULL;
        if (object != NULL && failure_explain(findings, reader, call, field, object))
            return;
    }
}

/* ---- following the calls ---- */

static bool objects_prepare(struct trace_findings *findings, const struct trace_reader *reader, size_t process)
{
    struct trace_objects *objects = findings->objects;
    if (objects == NULL) {
        objects = findings->objects = calloc(1, sizeof *objects);
        if (objects == NULL || (objects->effects = calloc(reader->slot_count, sizeof *objects->effects)) == NULL)
            return false;
        objects->objects.size = sizeof(struct object);
        objects->counts.size = sizeof(struct count);
        objects->threads.size = sizeof(struct thread);
        objects->devices.size = sizeof(struct primary);
    }
    if (process >= objects->process_count) {
        uint64_t *grown = realloc(objects->ends, (process + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        memset(grown + objects->process_count, 0, (process + 1 - objects->process_count) * sizeof *grown);
        objects->ends = grown;
        objects->process_count = process + 1;
    }
    return true;
}

void trace_objects_read(struct trace_findings *findings, const struct trace_reader *reader,
                        const struct trace_call *call)
{
    struct trace_objects *objects = findings->objects;
    if ((objects == NULL || call->process >= objects->process_count)
        && !objects_prepare(findings, reader, call->process)) {
        findings->failed = true;
        return;
    }
    objects = findings->objects;
    objects->ends[call->process] = findings->calls;
    struct trace_object_effect *effect = &objects->effects[call->slot];
    if (!effect->is_known)
        trace_effect_find(&reader->slots[call->slot], effect);
    if (!call->returned || call->result != CUDA_SUCCESS) {
        call_explain(findings, reader, call, effect);
        return;
    }
    for (size_t i = 0; i < effect->count; i++) {
        const struct trace_object_field *field = &effect->fields[i];
        uint64_t handle = field->what != USE ? field_handle(field, call) : 0;
        if (handle == 0)
            continue;
        struct object *object = field->what == SEEN ? object_find(objects, call->process, field->row, handle) : NULL;
        if (object != NULL && !object->is_alive)
            *object = (struct object){.key = object->key};
        else if (field->what == DESTROY)
            object_destroy(findings, call, field, handle);
        else if (field->what != SEEN)
            object_create(findings, call, field, handle);
    }
    if (effect->context != NO_CONTEXT)
        context_follow(findings, call, effect);
}

/* ---- the end ---- */

/* Counts an object that is alive. */
static void object_count(struct trace_objects *objects, const struct object *object, struct count *count)
{
    uint64_t end = objects->ends[object->key.process], since = object->created.call - count->begin;
    uint64_t whole = end > count->begin ? end - count->begin : 1;
    uint64_t part = since < whole ? since * GROWTH_PARTS / whole : GROWTH_PARTS - 1;
    if (count->alive++ == 0 || object->created.begin < count->first.begin)
        count->first = object->created;
    count->parts[part]++;
}

/* Whether its objects were created in all parts of the calls since the first one, and almost none was destroyed. */
static bool count_grows(const struct count *count)
{
    bool grows = count->alive >= LEAST_GROWTH && 10 * count->alive >= 9 * count->created;
    for (size_t i = 0; i < GROWTH_PARTS; i++)
        grows = grows && 4 * GROWTH_PARTS * count->parts[i] >= count->alive;
    return grows;
}

/* "streams", "libraries" */
static struct trace_text plural_of(unsigned row, uint64_t count)
{
    struct trace_text word;
    size_t length = strlen(trace_object_rows[row].word);
    bool has_y = count != 1 && trace_object_rows[row].word[length - 1] == 'y';
    snprintf(word.text, sizeof word.text, "%.*s%s", (int)(has_y ? length - 1 : length), trace_object_rows[row].word,
             count == 1 ? ""
             : has_y    ? "ies"
                        : "s");
    return word;
}

static int compare_counts(const void *a, const void *b)
{
    const struct count *one = *(const struct count *const *)a, *other = *(const struct count *const *)b;
    return one->alive != other->alive
               ? (one->alive < other->alive ? 1 : -1)
               : (one->first.begin > other->first.begin) - (one->first.begin < other->first.begin);
}

static void count_report(struct trace_findings *findings, const struct trace_reader *reader, const struct count *count)
{
    const struct trace_header *header = reader->header;
    const char *function = reader->slots[count->first.slot].function;
    bool is_whole = header->overwritten == 0 && header->dropped == 0 && reader->damaged == 0
                    && reader->processes[count->key.process].has_exited;
    unsigned row = count->key.kind == KEY_TYPE ? (unsigned)count->key.id : count->row;
    if (count->key.kind == KEY_CREATOR && count_grows(count))
        trace_finding_add(findings, TRACE_FINDING_GROWTH, &count->first,
                          "%s creates %s again and again: %" PRIu64 " of %" PRIu64 " were not destroyed", function,
                          plural_of(row, 2).text, count->alive, count->created);
    else if (count->key.kind == KEY_TYPE && is_whole)
        trace_finding_add(findings, TRACE_FINDING_ALIVE, &count->first,
                          "%" PRIu64 " of %" PRIu64 " %s %s alive at the end, the first one created by %s",
                          count->alive, count->created, plural_of(row, count->created).text,
                          count->alive == 1 ? "was" : "were", function);
}

void trace_objects_end(struct trace_findings *findings, const struct trace_reader *reader)
{
    struct trace_objects *objects = findings->objects;
    size_t number = 0;
    for (struct object *object = NULL; (object = trace_table_next(&objects->objects, object)) != NULL;) {
        struct trace_key type = {object->key.kind - 1, object->key.process, KEY_TYPE};
        struct trace_key creator = {object->created.slot, object->key.process, KEY_CREATOR};
        if (!object->is_alive || !object->is_counted || context_ended(objects, object) != NULL)
            continue;
        object_count(objects, object, trace_table_find(&objects->counts, type));
        object_count(objects, object, trace_table_find(&objects->counts, creator));
    }
    const struct count **sorted = calloc(objects->counts.count + 1, sizeof *sorted);
    findings->failed |= sorted == NULL;
    for (const struct count *count = NULL;
         sorted != NULL && (count = trace_table_next(&objects->counts, count)) != NULL;) {
        if (count->alive > 0)
            sorted[number++] = count;
    }
    if (number > 0)
        qsort(sorted, number, sizeof *sorted, compare_counts);
    for (size_t i = 0; i < number; i++)
        count_report(findings, reader, sorted[i]);
    free(sorted);
}

void trace_objects_free(struct trace_findings *findings)
{
    struct trace_objects *objects = findings->objects;
    if (objects == NULL)
        return;
    free(objects->objects.entries);
    free(objects->counts.entries);
    free(objects->threads.entries);
    free(objects->devices.entries);
    free(objects->effects);
    free(objects->ends);
    free(objects);
}

/* Returns the object with a short name, or NULL. */
static const struct object *object_named(const struct trace_findings *findings, size_t process, const char *type,
                                         uint64_t handle)
{
    size_t length = strcspn(type, " ");
    for (unsigned row = 0; row < TRACE_OBJECT_ROWS && findings->objects != NULL; row++) {
        const struct object *object = (trace_object_rows[row].flags & NAMED) != 0
                                              && strlen(trace_object_rows[row].type) == length
                                              && strncmp(trace_object_rows[row].type, type, length) == 0
                                          ? object_find(findings->objects, process, row, handle)
                                          : NULL;
        if (object != NULL && object->number != 0)
            return object;
    }
    return NULL;
}

unsigned trace_object_number(const struct trace_findings *findings, size_t process, const char *type, uint64_t handle)
{
    const struct object *object = object_named(findings, process, type, handle);
    return object != NULL ? object->number : 0;
}

struct trace_text trace_object_name(const struct trace_findings *findings, size_t process, const char *type,
                                    uint64_t handle)
{
    const struct object *object = object_named(findings, process, type, handle);
    return object != NULL ? object_name(object) : (struct trace_text){""};
}
