/* SPDX-License-Identifier: MIT */
/*
 * Accesses of two streams to the same memory that nothing orders, and that at least one of changes, whether they met or
 * not. What is not in the trace (kernels, host code, other processes) silences a race, and never makes one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "finder.h"
#include "../model/places.h"
#include "races.h"

/* The accesses become findings at the end: only then it is known whether the file has all calls. */
struct races {
    struct trace_list found;
    struct trace_table known; /* struct known_race */
};

/* A race that has a finding: a program can have it a million times. */
struct known_race {
    struct trace_key key;
    size_t finding;
};

const char *trace_access_word(const struct trace_access *access)
{
    static const char *const words[] = {"reads", "writes", "holds a pointer into", "allocates", "frees"};
    return words[access->kind];
}

const char *trace_memory_word(enum trace_memory_kind kind)
{
    static const char *const words[] = {"device allocation", "managed allocation", "host allocation"};
    return words[kind];
}

/* "8 bytes at offset 16 of device allocation 0x7f0000" */
static void range_describe(const struct trace_conflict *conflict, char *text, size_t size)
{
    const struct trace_span *one = &conflict->first.span, *other = &conflict->second.span;
    uint64_t low = one->low > other->low ? one->low : other->low;
    uint64_t high = one->high < other->high ? one->high : other->high;
    snprintf(text, size, "%s%" PRIu64 " bytes at offset %" PRIu64 " of %s 0x%" PRIx64,
             one->pitch != 0 || other->pitch != 0 ? "some of the " : "", high - low, low - conflict->base,
             trace_memory_word(conflict->memory), conflict->base);
}

void trace_missing_describe(const struct trace_conflict *conflict, char *text, size_t size)
{
    const char *first = conflict->first_stream.text, *second = conflict->second_stream.text;
    char event[32] = "an event";
    double time = (double)conflict->time / 1e9;
    if (conflict->event != 0)
        snprintf(event, sizeof event, "event %u", conflict->event);
    switch (conflict->missing) {
    case TRACE_NO_WAIT:
        snprintf(text, size, "%s was recorded in %s behind the first call, at %.6f s, but %s does not wait for it",
                 event, first, time, second);
        break;
    case TRACE_WAIT_TOO_EARLY:
        snprintf(text, size, "%s waits for %s at %.6f s, before it was recorded behind the first call: record it first",
                 second, event, time);
        break;
    case TRACE_RECORD_TOO_EARLY:
        snprintf(text, size, "%s, for which %s waits, was recorded in %s at %.6f s, before the first call", event,
                 second, first, time);
        break;
    case TRACE_RECORDED_AGAIN:
        snprintf(text, size, "%s was recorded behind the first call, and again at %.6f s, before %s waited for it",
                 event, time, second);
        break;
    default:
        snprintf(text, size,
                 "record an event in %s behind the first call, and let %s wait for it before the second one", first,
                 second);
        break;
    }
}

static bool race_add(struct trace_list *list, const struct trace_model *model, const struct trace_conflict *conflict)
{
    const struct trace_slot *slots = model->reader->slots;
    const char *first = slots[conflict->first.moment.slot].function, *what = trace_access_word(&conflict->first);
    const char *second = slots[conflict->second.moment.slot].function;
    char range[128], why[320] = "the free comes first in the order of the streams";
    range_describe(conflict, range, sizeof range);
    if (conflict->kind == TRACE_RACE)
        trace_missing_describe(conflict, why, sizeof why);
    else if (conflict->kind == TRACE_RACE_IN_GRAPH)
        snprintf(why, sizeof why, "within the graph, no event of the capture orders the two");
    bool wants_stacks = (conflict->first.moment.python == NULL || conflict->second.moment.python == NULL)
                        && trace_is_python(&model->reader->processes[conflict->second.moment.process]);
    return trace_list_add_pair(list, TRACE_FINDING_RACE, &conflict->second.moment, &conflict->first.moment,
                               conflict->kind == TRACE_USE_AFTER_FREE
                                   ? "%s in %s %s %s, which %s in %s %s: %s%s"
                                   : "%s in %s %s %s, which %s in %s %s, and nothing orders the two: %s%s",
                               second, conflict->second_stream.text, trace_access_word(&conflict->second), range, first,
                               conflict->first_stream.text, what, why,
                               wants_stacks ? ". With --stacks, both calls have their lines of Python" : "");
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

/* Equal races differ only in numbers: those of streams, events and bytes, and times. */
static struct trace_key race_key(const struct trace_conflict *conflict)
{
    const struct trace_access *accesses[2] = {&conflict->first, &conflict->second};
    const struct trace_text *streams[2] = {&conflict->first_stream, &conflict->second_stream};
    uint64_t hash = (uint64_t)conflict->kind << 8 | (uint64_t)conflict->missing << 4 | (uint64_t)conflict->memory;
    for (size_t i = 0; i < 2; i++) {
        hash = mix(hash, accesses[i]->moment.site);
        hash = mix(hash, (uint64_t)(uintptr_t)accesses[i]->moment.python);
        hash = mix(hash, accesses[i]->moment.slot << 4 | (uint64_t)accesses[i]->kind);
        for (const char *at = streams[i]->text; *at != '\0'; at++)
            hash = *at > '9' ? mix(hash, (uint64_t)*at) : hash;
    }
    return (struct trace_key){.id = hash, .process = (uint32_t)conflict->second.moment.process, .kind = 1};
}

static bool race_find(struct races *races, const struct trace_model *model, const struct trace_conflict *conflict)
{
    struct known_race *known = trace_table_find(&races->known, race_key(conflict));
    if (known != NULL)
        return trace_list_repeat(&races->found, known->finding, &conflict->second.moment);
    size_t before = races->found.count;
    if (!race_add(&races->found, model, conflict))
        return false;
    if (races->found.count == before)
        return true;
    races->known.size = sizeof *known;
    if ((known = trace_table_add(&races->known, race_key(conflict))) == NULL)
        return false;
    known->finding = before;
    return true;
}

static bool races_read(void *state, const struct trace_model *model, const struct trace_call *call,
                       struct trace_list *list)
{
    struct races *races = state;
    bool has_memory = true;
    (void)call;
    (void)list;
    for (size_t i = 0; has_memory && i < model->orders->conflict_count; i++) {
        if (model->orders->conflicts[i].kind < TRACE_HOST_FREE)
            has_memory = race_find(races, model, &model->orders->conflicts[i]);
    }
    return has_memory;
}

static bool races_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    struct races *races = state;
    return races_read(state, model, NULL, list)
           && (!trace_is_whole(model->reader) || trace_list_move(list, &races->found));
}

static void races_free(void *state)
{
    struct races *races = state;
    trace_list_free(&races->found);
    free(races->known.entries);
}

const struct trace_finder trace_finder_races = {sizeof(struct races), races_read, races_end, races_free};
