/* SPDX-License-Identifier: MIT */
/* The commands. Each writes its output to stdout and returns the exit status; main() checks that stdout took it. */
#ifndef CUSHIM_CLI_COMMANDS_H
#define CUSHIM_CLI_COMMANDS_H

#include "options.h"

/* Reports whether there is a driver, which one, and what it has. */
enum status command_probe(const struct options *options);

/* Shows the state of every slot. */
enum status command_table(const struct options *options);

/* Looks up one entry point by function and version, or all of them. */
enum status command_lookup(const struct options *options);

/* Reports what is wrong and what can be done. */
enum status command_doctor(const struct options *options);

/* Runs a small pipeline on the driver of the machine or on softcuda, and checks each result. */
enum status command_run(const struct options *options);

/* Runs a program on a libcuda.so.1 of ours, in place of this process. Returns only on failure, with the exit status. */
int command_exec(const struct options *options);

#endif
