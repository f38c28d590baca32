/* SPDX-License-Identifier: MIT */
/* The objects that were not destroyed: functions whose objects grow in number, and what was left at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finder.h"
#include "../model/places.h"
#include "text.h"

enum { MIN_GROWTH = 16, GROWTH_PARTS = 4 };

/* The objects of a type or of a creator that are alive at the end. */
struct alive {
    struct trace_key key; /* that of its struct trace_count */
    uint64_t count, bytes, parts[GROWTH_PARTS];
    struct trace_moment first; /* created */
};

static bool alive_add(struct trace_table *table, const struct trace_model *model, const struct trace_object *object,
                      struct trace_key key)
{
    const struct trace_count *count = trace_table_find(&model->counts, key);
    struct alive *alive = trace_table_add(table, key);
    if (count == NULL || alive == NULL)
        return false;
    uint64_t end = model->ends[object->key.process], since = object->created.call - count->begin;
    uint64_t whole = end > count->begin ? end - count->begin : 1;
    if (alive->count++ == 0 || object->created.begin < alive->first.begin)
        alive->first = object->created;
    alive->bytes += object->bytes;
    alive->parts[since < whole ? since * GROWTH_PARTS / whole : GROWTH_PARTS - 1]++;
    return true;
}

static int compare_alive(const void *a, const void *b)
{
    const struct alive *one = *(const struct alive *const *)a, *other = *(const struct alive *const *)b;
    return one->count != other->count
               ? (one->count < other->count ? 1 : -1)
               : (one->first.begin > other->first.begin) - (one->first.begin < other->first.begin);
}

/* Whether an allocator keeps memory by design: that of a Python process or of a library of CUDA. */
static bool is_kept(const struct trace_model *model, const struct trace_object *object)
{
    const struct trace_moment *created = &object->created;
    const struct trace_module *module = trace_module_find(model->reader, created->process, created->site);
    return created->python != NULL || trace_is_python(&model->reader->processes[created->process])
           || (module != NULL && trace_is_cuda_library(module->path));
}

/* Whether a program creates an object again and again: the CUDA runtime loads each of its images once, and PyTorch
 * creates a pool of 128 streams before it uses the first. */
static bool is_repeated(const struct trace_model *model, const struct trace_object *object)
{
    enum trace_row row = trace_row_of(object);
    if (row == TRACE_ROW_STREAM) {
        const struct trace_count *count = trace_table_find(&model->counts, trace_creator_key(object));
        return count != NULL && count->is_spread;
    }
    return object->is_again || (row != TRACE_ROW_MODULE && row != TRACE_ROW_LIBRARY);
}

/* A report about the objects that were not destroyed. */
struct alive_rule {
    bool is_by_type;  /* and not by function and place */
    bool has_context; /* of those by type whose context exists, and not of those whose context has ended */
    bool (*report)(const struct trace_model *model, const struct alive *alive, const struct trace_count *count,
                   struct trace_list *list);
};

/* Whether an object exists, or existed until its context ended near the end of the process. */
static bool is_lasting(const struct trace_model *model, const struct trace_object *object)
{
    const struct trace_object *ended = trace_object_context_ended(model, object);
    return ended == NULL || 10 * ended->destroyed.call >= 9 * model->ends[object->key.process];
}

static bool is_of_rule(const struct trace_model *model, const struct alive_rule *rule,
                       const struct trace_object *object)
{
    if (!object->is_alive || !object->is_counted)
        return false;
    return rule->is_by_type
               ? (trace_object_context_ended(model, object) == NULL) == rule->has_context && !is_kept(model, object)
               : is_lasting(model, object) && is_repeated(model, object);
}

/* Counts the objects that were not destroyed, and reports each kind, the greatest number first. Returns false if there
 * is not enough memory. */
static bool alive_report(const struct trace_model *model, const struct alive_rule *rule, struct trace_list *list)
{
    struct trace_table table = {.size = sizeof(struct alive)};
    bool has_memory = true;
    size_t count = 0;
    for (const struct trace_object *object = NULL;
         has_memory && (object = trace_table_next(&model->objects, object)) != NULL;) {
        if (is_of_rule(model, rule, object))
            has_memory =
                alive_add(&table, model, object, rule->is_by_type ? trace_type_key(object) : trace_creator_key(object));
    }
    const struct alive **sorted = calloc(table.count + 1, sizeof *sorted);
    has_memory = has_memory && sorted != NULL;
    for (const struct alive *alive = NULL; has_memory && (alive = trace_table_next(&table, alive)) != NULL;)
        sorted[count++] = alive; /* analyzer: without memory, the loop does not begin */
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, compare_alive);
    for (size_t i = 0; has_memory && i < count; i++)
        has_memory = rule->report(model, sorted[i], trace_table_find(&model->counts, sorted[i]->key), list);
    free(sorted);
    free(table.entries);
    return has_memory;
}

/* "streams", "libraries" */
static struct trace_text plural_of(enum trace_row row, uint64_t count)
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

/* ---- what grows ---- */

/* Whether objects were created in all parts of the calls since the first one, and almost none was destroyed. */
static bool report_growth(const struct trace_model *model, const struct alive *alive, const struct trace_count *count,
                          struct trace_list *list)
{
    bool grows = alive->count >= MIN_GROWTH && 10 * alive->count >= 9 * count->created;
    for (size_t i = 0; i < GROWTH_PARTS; i++)
        grows = grows && 4 * GROWTH_PARTS * alive->parts[i] >= alive->count;
    return !grows
           || trace_list_add(list, TRACE_FINDING_GROWTH, &alive->first,
                             "%s creates %s again and again: %" PRIu64 " of %" PRIu64 " were not destroyed",
                             model->reader->slots[alive->first.slot].function, plural_of(count->row, 2).text,
                             alive->count, count->created);
}

static bool growth_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    static const struct alive_rule rule = {.is_by_type = false, .report = report_growth};
    (void)state;
    return alive_report(model, &rule, list);
}

const struct trace_finder trace_finder_growth = {.end = growth_end};

/* ---- what was left ---- */

/* Whether the file has all that the process did. */
static bool has_all(const struct trace_model *model, const struct alive *alive)
{
    return trace_is_whole(model->reader) && model->reader->processes[alive->key.process].has_exited;
}

static bool report_left(const struct trace_model *model, const struct alive *alive, const struct trace_count *count,
                        struct trace_list *list)
{
    if (!has_all(model, alive) || (trace_object_rows[count->row].flags & KEPT) != 0)
        return true;
    char bytes[48] = "";
    if (alive->bytes > 0)
        snprintf(bytes, sizeof bytes, " (%" PRIu64 " bytes)", alive->bytes);
    return trace_list_add(list, TRACE_FINDING_ALIVE, &alive->first,
                          "%" PRIu64 " of %" PRIu64 " %s%s %s alive at the end, the first one created by %s",
                          alive->count, count->created, plural_of(count->row, count->created).text, bytes,
                          alive->count == 1 ? "was" : "were", model->reader->slots[alive->first.slot].function);
}

/* Memory that ended with its context. */
static bool report_ended(const struct trace_model *model, const struct alive *alive, const struct trace_count *count,
                         struct trace_list *list)
{
    return alive->bytes == 0 || !has_all(model, alive)
           || trace_list_add(list, TRACE_FINDING_ALIVE, &alive->first,
                             "%" PRIu64 " of %" PRIu64 " %s (%" PRIu64
                             " bytes) %s not freed before the context ended, the first one created by %s",
                             alive->count, count->created, plural_of(count->row, count->created).text, alive->bytes,
                             alive->count == 1 ? "was" : "were", model->reader->slots[alive->first.slot].function);
}

static bool leftovers_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    static const struct alive_rule left = {.is_by_type = true, .has_context = true, .report = report_left};
    static const struct alive_rule ended = {.is_by_type = true, .has_context = false, .report = report_ended};
    (void)state;
    return alive_report(model, &left, list) && alive_report(model, &ended, list);
}

const struct trace_finder trace_finder_leftovers = {.end = leftovers_end};
