/* SPDX-License-Identifier: MIT */
/* The states of slots: their names and counts. */
#ifndef CUSHIM_CLI_SLOTS_H
#define CUSHIM_CLI_SLOTS_H

#include "cushim/cushim.h"
#include "text.h"

enum { SLOT_STATES = 4 };

struct slot_counts {
    int of[SLOT_STATES]; /* by cushim_slot_state */
};

/* Counts the slots of a table in each state; the sum is CUSHIM_SLOT_COUNT. */
struct slot_counts slots_count(enum cushim_default_stream kind);

/* The states, in the order of the output. */
struct slot_state {
    enum cushim_slot_state state;
    const char *word;
    enum tone tone;
};
extern const struct slot_state slots_in_order[SLOT_STATES];

const struct slot_state *slots_state(enum cushim_slot_state state);

#endif
