/* SPDX-License-Identifier: MIT */
/* The program that `cushim exec` starts. */
#ifndef CUSHIM_CLI_EXEC_TARGET_H
#define CUSHIM_CLI_EXEC_TARGET_H

/* Returns why the dynamic loader does not replace the driver of a program, as the rest of a sentence ("is statically
 * linked"), or NULL. The program is found as execvp() finds it. */
const char *exec_target_obstacle(const char *program);

#endif
