/* SPDX-License-Identifier: MIT */
/* The environment variables that affect whether a GPU can be used. */
#ifndef CUSHIM_CLI_ENVIRONMENT_H
#define CUSHIM_CLI_ENVIRONMENT_H

#include "options.h"

enum { MOST_VARIABLES = 16 };

struct environment {
    struct cushim_variable variables[MOST_VARIABLES]; /* only those that are set */
    size_t count;
};

/* Reads the variables. Call it after the driver was loaded and, if it is to be started, `started`. */
struct environment environment_read(const struct options *options, bool started);

#endif
