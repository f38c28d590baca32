/* SPDX-License-Identifier: MIT */
/* A program in a child process that gets the signals that are meant for it. */
#ifndef CUSHIM_SUPERVISE_H
#define CUSHIM_SUPERVISE_H

#include "cli.h"

/*
 * Calls command_exec() in a child process, which then becomes the program. Signals that reach this process alone go to
 * the child. Those of the terminal, or of a process that sends them to the whole process group, reach the child anyway.
 *
 * Returns the status of wait(), or -1 with errno if there is no child. `out_started` is whether the child became the
 * program; otherwise, command_exec() returned the exit status.
 */
int supervise(const struct options *options, bool *out_started);

/* Ends this process with a status of wait(): returns the exit status, or ends by the signal. */
int supervise_end(int status);

#endif
