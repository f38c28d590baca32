/* SPDX-License-Identifier: MIT */
/* What else is asked of the operating system: the load lock, the process. posix/ and windows/ implement it. */
#ifndef CUSHIM_LOADER_OS_SYSTEM_H
#define CUSHIM_LOADER_OS_SYSTEM_H

#include <stdbool.h>

/*
 * The one lock of the library: it guards loading. A fork() waits until the lock is free, with an end to its
 * patience, and both processes find it free; a fork by the very thread that holds it (a library's constructor) does not
 * wait.
 */
void cush_os_load_lock(void);
void cush_os_load_unlock(void);

/* Whether this thread holds the load lock. */
bool cush_os_load_lock_is_mine(void);

/* The environment's value, or NULL. `name` is a constant; asked by the holder of the load lock. Valid until the
 * environment changes, or the same name is asked for again. */
const char *cush_os_environment(const char *name);

/* Whether the process has more rights than its user, so that the user's environment is not to be followed. */
bool cush_os_privileged(void);

/* Whether the system has a file for each device (/dev/nvidia0), which tells whether it is there and who may use it. */
extern const bool cush_os_has_device_nodes;

#endif
