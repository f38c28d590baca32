/* SPDX-License-Identifier: MIT */
/* The options of the command line: the list, and how the value of each is read. */
#ifndef CUSHIM_OPTION_H
#define CUSHIM_OPTION_H

#include "cli.h"

struct option {
    const char *name, *value; /* the name of the value, or NULL */
    /* Returns STATUS_USAGE, after a message, if the value is invalid. An option without a value gets NULL. */
    enum status (*read)(const struct option *option, const char *value, struct options *options);
    size_t member;        /* of struct options, for the functions that set one */
    const char *commands; /* those that have the option; NULL: all */
    const char *help;     /* NULL: the help of its command has it */
};

enum {
    OPTIONS = 0
#define OPTION(name, value, kind, member, commands, help) +1
#include "options.inc"
};
extern const struct option options_known[OPTIONS];

/* Finds the option that `argument` names, and the value after "=", or NULL. */
const struct option *option_find(const char *argument, const char **out_value);

/* Refuses the value of --format, which not every command accepts. */
enum status option_refuse_format(const char *value);

#endif
