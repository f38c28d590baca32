/* SPDX-License-Identifier: MIT */
/* Checks that a load has no side effects. */
#ifndef PROBE_WATCH_H
#define PROBE_WATCH_H

#include <stdbool.h>

/*
 * From now on, creating a thread or a process, or opening a device node or a socket, ends this process with status
 * WATCH_STATUS and a line on stderr that names the system call. Returns false if the system cannot watch. It cannot be
 * undone.
 */
bool watch_system_calls(void);

/* The same for a call of the function at `address`. Returns false if its code cannot be changed. */
bool watch_function(void *address, const char *name);

enum { WATCH_STATUS = 99 };

/* The number of threads and of open descriptors of this process; -1 if unknown. */
int watch_count_threads(void);
int watch_count_descriptors(void);

#endif
