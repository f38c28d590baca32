/* SPDX-License-Identifier: MIT */
/* The command line. */
#ifndef CUSHIM_CLI_OPTIONS_H
#define CUSHIM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/cushim.h"

/* The exit status of the program. */
enum status { STATUS_USABLE = 0, STATUS_UNUSABLE = 1, STATUS_USAGE = 2 };

enum command { COMMAND_NONE, COMMAND_PROBE, COMMAND_TABLE, COMMAND_LOOKUP, COMMAND_DOCTOR, COMMAND_RUN, COMMAND_EXEC };

enum { MOST_WORDS = 2 };

/* The pointers point into the command line. */
struct options {
    enum command command;
    bool help, version; /* these take precedence over a command */
    bool json;
    bool devices, all;
    enum cushim_default_stream kind;
    const char *softcuda; /* "580", or NULL */
    struct cushim_load_options load;
    int required_version;        /* 0: any */
    const char **required_slots; /* stored in elements of argv that have been read */
    size_t required_slot_count;
    const char *words[MOST_WORDS]; /* the other arguments: FILTER; FUNCTION and VERSION */
    size_t word_count;
    const char **layers; /* stored as required_slots */
    size_t layer_count;
    char **program; /* with exec: the program and its arguments, NULL at the end */
};

/* Reads the command line and permutes it. On STATUS_USAGE, a message was written to stderr. */
enum status options_read(int argc, char **argv, struct options *out_options);

/* Writes to stderr what is wrong with the command line, and how to get help. Returns STATUS_USAGE. */
CUSHIM_PRINTF(1, 2)
enum status options_complain(const char *format, ...);

#endif
