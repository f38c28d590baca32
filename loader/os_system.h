/* SPDX-License-Identifier: MIT */
/* The load lock, the environment and the process. posix/ and windows/ implement the functions. */
#ifndef CUSHIM_LOADER_OS_SYSTEM_H
#define CUSHIM_LOADER_OS_SYSTEM_H

#include <stdbool.h>

/*
 * The only lock of the loader; it guards loading. A fork() waits for a limited time until the lock is free, and
 * afterwards the lock is free in both processes. A fork() on the thread that holds the lock (in the constructor of a
 * library) does not wait.
 */
void cush_os_load_lock(void);
void cush_os_load_unlock(void);

/* Returns whether this thread holds the load lock. */
bool cush_os_load_lock_is_mine(void);

/* Returns the value of an environment variable, or NULL. `name` is a constant, and the caller holds the load lock. The
 * value is valid until the environment changes or until the next call with the same name. */
const char *cush_os_environment(const char *name);

/* Returns whether the process has more rights than its user. Then the environment variables are ignored. */
bool cush_os_privileged(void);

/* Returns the number of this process. */
unsigned long cush_os_process(void);

/* Whether the system has a file for each device (/dev/nvidia0), which shows that the device exists and who may use
 * it. */
extern const bool cush_os_has_device_nodes;

#endif
