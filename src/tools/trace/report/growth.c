/* SPDX-License-Identifier: MIT */
/* The objects that were not destroyed: functions whose objects grow in number, and what was left at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finder.h"

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

/* What is done with the objects of a type or a creator. Returns false if there is not enough memory. */
typedef bool (*alive_fn)(const struct trace_model *model, const struct alive *alive, const struct trace_count *count,
                         struct trace_list *list, void *state);

/* Counts the objects that were not destroyed by their types or their creators, and reports each, the greatest number
 * first: those that are alive, or those of which the context has ended. */
static bool alive_report(const struct trace_model *model, bool is_by_type, bool has_context, struct trace_list *list,
                         alive_fn report, void *state)
{
    struct trace_table table = {.size = sizeof(struct alive)};
    bool has_memory = true;
    size_t count = 0;
    for (const struct trace_object *object = NULL;
         has_memory && (object = trace_table_next(&model->objects, object)) != NULL;) {
        bool is_alive = object->is_alive && object->is_counted;
        if (is_alive && (trace_object_context_ended(model, object) == NULL) == has_context)
            has_memory =
                alive_add(&table, model, object, is_by_type ? trace_type_key(object) : trace_creator_key(object));
    }
    const struct alive **sorted = calloc(table.count + 1, sizeof *sorted);
    has_memory = has_memory && sorted != NULL;
    for (const struct alive *alive = NULL; has_memory && (alive = trace_table_next(&table, alive)) != NULL;)
        sorted[count++] = alive; /* analyzer: without memory, the loop does not begin */
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, compare_alive);
    for (size_t i = 0; has_memory && i < count; i++)
        has_memory = report(model, sorted[i], trace_table_find(&model->counts, sorted[i]->key), list, state);
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
                          struct trace_list *list, void *state)
{
    (void)state;
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
    (void)state;
    return alive_report(model, false, true, list, report_growth, NULL);
}

const struct trace_finder trace_finder_growth = {.end = growth_end};

/* ---- what was left ---- */

/* What a process kept by habit: "128 of 128 streams, 3 of 4 modules" */
struct habits {
    struct trace_key key;
    struct trace_moment first;
    char text[256];
};

static bool is_whole(const struct trace_reader *reader, size_t process)
{
    return reader->header->overwritten == 0 && reader->header->dropped == 0 && reader->damaged == 0
           && reader->processes[process].has_exited;
}

static bool report_left(const struct trace_model *model, const struct alive *alive, const struct trace_count *count,
                        struct trace_list *list, void *state)
{
    struct trace_table *habits = state;
    if (!is_whole(model->reader, alive->key.process))
        return true;
    if ((trace_object_rows[count->row].flags & KEPT) != 0) {
        struct habits *own = trace_table_add(habits, (struct trace_key){0, alive->key.process, 1});
        if (own == NULL)
            return false;
        size_t length = strlen(own->text);
        if (own->first.call == 0 || alive->first.begin < own->first.begin)
            own->first = alive->first;
        snprintf(own->text + length, sizeof own->text - length, "%s%" PRIu64 " of %" PRIu64 " %s",
                 length > 0 ? ", " : "", alive->count, count->created, plural_of(count->row, count->created).text);
        return true;
    }
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
                         struct trace_list *list, void *state)
{
    (void)state;
    return alive->bytes == 0 || !is_whole(model->reader, alive->key.process)
           || trace_list_add(list, TRACE_FINDING_ALIVE, &alive->first,
                             "%" PRIu64 " of %" PRIu64 " %s (%" PRIu64
                             " bytes) %s not freed before the context ended, the first one created by %s",
                             alive->count, count->created, plural_of(count->row, count->created).text, alive->bytes,
                             alive->count == 1 ? "was" : "were", model->reader->slots[alive->first.slot].function);
}

static bool leftovers_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    struct trace_table habits = {.size = sizeof(struct habits)};
    (void)state;
    bool has_memory = alive_report(model, true, true, list, report_left, &habits)
                      && alive_report(model, true, false, list, report_ended, NULL);
    for (const struct habits *one = NULL; has_memory && (one = trace_table_next(&habits, one)) != NULL;)
        has_memory = trace_list_add(list, TRACE_FINDING_ALIVE, &one->first,
                                    "%s were alive, which is usual: programs and the CUDA runtime keep them until the "
                                    "end, and the driver destroys them with the process",
                                    one->text);
    free(habits.entries);
    return has_memory;
}

const struct trace_finder trace_finder_leftovers = {.end = leftovers_end};
