/* SPDX-License-Identifier: MIT */
/* What the program can do. Each command writes its answer to stdout, which its caller checks, and returns the exit
 * status. */
#ifndef CUSHIM_CLI_COMMANDS_H
#define CUSHIM_CLI_COMMANDS_H

#include "options.h"

/* Is there a driver, which one, and what does it have? */
enum status probe(const struct options *options);

/* Every slot: native, polyfill, adapted or missing. */
enum status table(const struct options *options);

/* An entry point by function and version, or all of them. */
enum status lookup(const struct options *options);

/* What is wrong, and what can be done? */
enum status doctor(const struct options *options);

/* A pipeline that a person can follow, on the machine's driver or on softcuda, each result checked. */
enum status run(const struct options *options);

#endif
