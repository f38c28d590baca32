/* SPDX-License-Identifier: MIT */
/* The command line. */
#ifndef CUSHIM_CLI_OPTIONS_H
#define CUSHIM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/cushim.h"

/* What the program exits with. */
enum status { STATUS_USABLE = 0, STATUS_UNUSABLE = 1, STATUS_USAGE = 2 };

enum command { COMMAND_NONE, COMMAND_PROBE, COMMAND_TABLE, COMMAND_LOOKUP, COMMAND_DOCTOR, COMMAND_RUN };

enum { MOST_WORDS = 2 };

/* Every pointer is into the command line. */
struct options {
    enum command command;
    bool help, version; /* these win over any command */
    bool json;
    bool devices, all;
    const char *softcuda; /* "580", or NULL */
    struct cushim_load_options load;
    int required_version;        /* 0: any */
    const char **required_slots; /* in cells of argv that were read already */
    size_t required_slot_count;
    const char *words[MOST_WORDS]; /* what is no option: FILTER; FUNCTION and VERSION */
    size_t word_count;
};

/* Reads the command line, and permutes it. On STATUS_USAGE it has complained. */
enum status options_read(int argc, char **argv, struct options *out_options);

/* Says on stderr what is wrong with the command line, and where to read on. Always STATUS_USAGE. */
CUSHIM_PRINTF(1, 2)
enum status options_complain(const char *format, ...);

#endif
