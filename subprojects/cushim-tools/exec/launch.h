/* SPDX-License-Identifier: MIT */
/* Starting a program on a libcuda.so.1 of ours, in place of this process or in a child. */
#ifndef CUSHIM_LAUNCH_H
#define CUSHIM_LAUNCH_H

#include <stdbool.h>

#include "options.h"
#include "text.h"

/* Runs a program on a libcuda.so.1 of ours, in place of this process. Returns only on failure. */
enum status command_exec(const struct options *options);

/* ---- supervise.c: a program in a child process that gets the signals that are meant for it ---- */

/*
 * Calls command_exec() in a child process, which then becomes the program. Signals that reach this process alone go to
 * the child. Those of the terminal, or of a process that sends them to the whole process group, reach the child anyway.
 *
 * Returns the status of wait(), or -1 with errno if there is no child. `out_started` is whether the child became the
 * program; otherwise, command_exec() returned the exit status. `out_last` is what the process was at its end.
 */
struct supervised {
    char name[16];       /* as the system has it; "": not known */
    bool has_other_user; /* than this process */
};
int supervise(const struct options *options, bool *out_started, struct supervised *out_last);

/* Ends this process with a status of wait(): returns the exit status, or ends by the signal. */
int supervise_end(int status);

/* ---- exec_target.c: the program that is started ---- */

/* Returns why a program uses the machine's own driver, as the rest of a sentence that begins with its name, or NULL.
 * The program is found as execvp() finds it. */
const char *exec_target_obstacle(const char *program);

/* Whether the kernel gives a program more rights than the process or thread that becomes it: those of its file, or
 * capabilities. */
bool exec_target_gains_rights(long process, const char *path);

#endif
