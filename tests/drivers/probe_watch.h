/* SPDX-License-Identifier: MIT */
/* Shows that a load does nothing but load. */
#ifndef PROBE_WATCH_H
#define PROBE_WATCH_H

#include <stdbool.h>

/*
 * From here on, a thread, a process, a device node or a socket ends this one, with status WATCH_STATUS and a line on
 * stderr that names the system call. False where the system cannot watch. It cannot be taken back.
 */
bool watch_system_calls(void);

/* The same for a call of the function at `address`. False where its code cannot be changed. */
bool watch_function(void *address, const char *name);

enum { WATCH_STATUS = 99 };

/* How many threads and open descriptors this process has; -1 where it cannot be told. */
int watch_count_threads(void);
int watch_count_descriptors(void);

#endif
