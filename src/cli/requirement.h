/* SPDX-License-Identifier: MIT */
/* The requirements of the command line, and whether the driver meets them. */
#ifndef CUSHIM_CLI_REQUIREMENT_H
#define CUSHIM_CLI_REQUIREMENT_H

#include "options.h"

struct requirement {
    bool met;
    char message[256]; /* if not met: the first requirement that is not met */
    char advice[512];  /* everything that can be done */
};

/* Checks --require and each --require-slot. Call it after a load, successful or not. */
struct requirement requirement_check(const struct options *options);

/* Returns why a slot cannot be called, or NULL if it can. Valid until the next call. */
const char *requirement_slot_failure(const char *name, enum cushim_default_stream kind);

#endif
