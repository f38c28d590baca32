/* SPDX-License-Identifier: MIT */
/* What the command line requires of the driver, and whether that is met. */
#ifndef CUSHIM_CLI_REQUIREMENT_H
#define CUSHIM_CLI_REQUIREMENT_H

#include "options.h"

struct requirement {
    bool met;
    char message[256]; /* if not: the first thing that is missing */
    char advice[512];  /* and all of what a person can do */
};

/* Checks --require, and each --require-slot. The driver must have been loaded, or that been tried. */
struct requirement requirement_check(const struct options *options);

/* Why one slot cannot be called; NULL if it can. Valid until the next call. */
const char *requirement_slot_lacks(const char *name);

#endif
