/* SPDX-License-Identifier: MIT */
/* The states that a slot can have, in words and numbers. */
#ifndef CUSHIM_CLI_SLOTS_H
#define CUSHIM_CLI_SLOTS_H

#include "cushim/cushim.h"
#include "text.h"

enum { SLOT_STATES = 4 };

struct slot_counts {
    int of[SLOT_STATES]; /* by cushim_slot_state */
};

/* How many slots are in each state; together CUSHIM_SLOT_COUNT. */
struct slot_counts slots_count(void);

/* In the order in which they are told. */
struct slot_state {
    enum cushim_slot_state state;
    const char *word;
    enum tone tone;
};
extern const struct slot_state slots_in_order[SLOT_STATES];

const struct slot_state *slots_state(enum cushim_slot_state state);

#endif
