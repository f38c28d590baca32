/* SPDX-License-Identifier: MIT */
#include "slots.h"

const struct slot_state slots_in_order[SLOT_STATES] = {
    {CUSHIM_STATE_NATIVE, "native", TONE_GOOD},
    {CUSHIM_STATE_POLYFILL, "polyfill", TONE_DOUBTFUL},
    {CUSHIM_STATE_ADAPTED, "adapted", TONE_DOUBTFUL},
    {CUSHIM_STATE_MISSING, "missing", TONE_BAD},
};

const struct slot_state *slots_state(enum cushim_slot_state state)
{
    const struct slot_state *found = slots_in_order;
    while (found->state != state)
        found++;
    return found;
}

struct slot_counts slots_count(enum cushim_default_stream kind)
{
    struct slot_counts counts = {{0}};
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        struct cushim_slot_info info;
        if (cushim_query_slot((enum cushim_slot)slot, kind, &info) == CUDA_SUCCESS)
            counts.of[info.state]++;
    }
    return counts;
}
