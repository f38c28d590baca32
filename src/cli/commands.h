/* SPDX-License-Identifier: MIT */
/* The commands. Each writes its output to stdout and returns the exit status; main() checks that stdout took it. */
#ifndef CUSHIM_CLI_COMMANDS_H
#define CUSHIM_CLI_COMMANDS_H

#include "options.h"

/* Reports whether there is a driver, which one, and what it has. */
enum status probe(const struct options *options);

/* Shows the state of every slot. */
enum status table(const struct options *options);

/* Looks up one entry point by function and version, or all of them. */
enum status lookup(const struct options *options);

/* Reports what is wrong and what can be done. */
enum status doctor(const struct options *options);

/* Runs a small pipeline on the driver of the machine or on softcuda, and checks each result. */
enum status run(const struct options *options);

/* Runs a program on a libcuda.so.1 of ours, in place of this process. Returns only on failure, with the exit status. */
int exec_program(const struct options *options);

#endif
