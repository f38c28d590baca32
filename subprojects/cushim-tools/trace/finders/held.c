/* SPDX-License-Identifier: MIT */
/*
 * Kernels that have a pointer into memory that another stream allocates or frees in its order, without a wait. What
 * they do with it is not known, so this is a note. It needs `cushim trace --kernel-arguments`.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "finder.h"
#include "races.h"

struct held {
    struct trace_list found;
};

static bool held_add(struct trace_list *list, const struct trace_model *model, const struct trace_conflict *conflict)
{
    const struct trace_slot *slots = model->reader->slots;
    char why[320];
    trace_missing_describe(conflict, why, sizeof why);
    return trace_list_add_pair(
        list, TRACE_FINDING_HELD, &conflict->second.moment, &conflict->first.moment,
        "%s in %s %s device allocation 0x%" PRIx64 ", which %s in %s %s%s%s",
        slots[conflict->second.moment.slot].function, conflict->second_stream.text,
        trace_access_word(&conflict->second), conflict->base, slots[conflict->first.moment.slot].function,
        conflict->first_stream.text, trace_access_word(&conflict->first),
        conflict->is_ordered ? " before" : ", and nothing orders the two: ", conflict->is_ordered ? "" : why);
}

static bool held_read(void *state, const struct trace_model *model, const struct trace_call *call,
                      struct trace_list *list)
{
    struct held *held = state;
    bool has_memory = true;
    (void)call;
    (void)list;
    for (size_t i = 0; has_memory && i < model->orders->conflict_count; i++) {
        if (model->orders->conflicts[i].kind == TRACE_HELD)
            has_memory = held_add(&held->found, model, &model->orders->conflicts[i]);
    }
    return has_memory;
}

static bool held_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    struct held *held = state;
    return held_read(state, model, NULL, list)
           && (!trace_is_whole(model->reader) || trace_list_move(list, &held->found));
}

static void held_free(void *state)
{
    trace_list_free(&((struct held *)state)->found);
}

const struct trace_finder trace_finder_held = {sizeof(struct held), held_read, held_end, held_free};
