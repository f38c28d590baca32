/* SPDX-License-Identifier: MIT */
/*
 * Waits for events that were not recorded yet, and host memory that was freed with a copy pending. Programs that are
 * right wait for such events, too: in rings, whose slots were not used yet, and in joins. So an event counts only if
 * none that was created at the same place was recorded or, of a wait before the record, awaited later.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "finder.h"
#include "races.h"
#include "../model/places.h"

struct early {
    struct trace_list frees;
};

static bool early_read(void *state, const struct trace_model *model, const struct trace_call *call,
                       struct trace_list *list)
{
    struct early *early = state;
    const struct trace_slot *slots = model->reader->slots;
    bool has_memory = true;
    (void)call;
    (void)list;
    for (size_t i = 0; has_memory && i < model->orders->conflict_count; i++) {
        const struct trace_conflict *conflict = &model->orders->conflicts[i];
        if (conflict->kind != TRACE_HOST_FREE)
            continue;
        has_memory = trace_list_add_pair(
            &early->frees, TRACE_FINDING_EARLY, &conflict->second.moment, &conflict->first.moment,
            "%s frees host allocation 0x%" PRIx64 " that %s in %s %s, and no wait has shown that the copy is done%s",
            slots[conflict->second.moment.slot].function, conflict->base, slots[conflict->first.moment.slot].function,
            conflict->first_stream.text, trace_access_word(&conflict->first),
            conflict->first.kind == TRACE_READS
                ? ": only a wait of the driver, which its manual does not promise, keeps "
                  "this right"
                : ": its result cannot have been read safely");
    }
    return has_memory;
}

static bool wait_report(const struct trace_model *model, const struct trace_early_wait *one, struct trace_list *list)
{
    const struct trace_event_place *place = trace_table_find(&model->orders->places, one->place);
    const struct trace_module *module = trace_module_find(model->reader, one->wait.process, one->wait.site);
    const char *function = model->reader->slots[one->wait.slot].function;
    bool is_swapped = one->record.call != 0;
    /* NCCL waits so when it begins and ends: nobody can change that. */
    if (!model->reader->processes[one->wait.process].has_exited
        || (module != NULL && trace_is_cuda_library(module->path))
        || (place != NULL && (is_swapped ? place->is_awaited : place->is_recorded)))
        return true;
    if (is_swapped)
        return trace_list_add_pair(
            list, TRACE_FINDING_EARLY, &one->wait, &one->record,
            "%s waits for event %u before it is recorded, and no later call waits for it: record "
            "it first",
            function, one->event);
    char times[48] = "";
    if (one->count > 1)
        snprintf(times, sizeof times, ", %" PRIu64 " times", one->count);
    return trace_list_add(list, TRACE_FINDING_EARLY, &one->wait,
                          "%s waits for event %u, which was never recorded%s: it waits for nothing", function,
                          one->event, times);
}

static bool early_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    struct early *early = state;
    bool has_memory = early_read(state, model, NULL, list);
    if (!trace_is_whole(model->reader))
        return has_memory;
    for (size_t i = 0; has_memory && i < model->orders->early_count; i++)
        has_memory = wait_report(model, &model->orders->early[i], list);
    return has_memory && trace_list_move(list, &early->frees);
}

static void early_free(void *state)
{
    trace_list_free(&((struct early *)state)->frees);
}

const struct trace_finder trace_finder_early = {sizeof(struct early), early_read, early_end, early_free};
