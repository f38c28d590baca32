/* SPDX-License-Identifier: MIT */
/* What else is asked of the operating system: the load lock, the process, files. posix/ and windows/ implement it. */
#ifndef CUSHIM_OS_SYSTEM_H
#define CUSHIM_OS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* Longest path that is handled, with its end. */
#define OS_PATH_SIZE 4096

/*
 * The one lock of the library: it guards loading. A fork() waits until the lock is free, with an end to its
 * patience, and both processes find it free; a fork by the very thread that holds it (a library's constructor) does not
 * wait.
 */
void cushim_priv_os_load_lock(void);
void cushim_priv_os_load_unlock(void);

/* Whether this thread holds the load lock. */
bool cushim_priv_os_load_lock_is_mine(void);

/* The environment's value, or NULL. `name` is a constant; asked by the holder of the load lock. Valid until the
 * environment changes, or the same name is asked for again. */
const char *cushim_priv_os_environment(const char *name);

/* Whether the process has more rights than its user, so that the user's environment is not to be followed. */
bool cushim_priv_os_privileged(void);

/* Whether the system has a file for each device (/dev/nvidia0), which tells whether it is there and who may use it. */
extern const bool cushim_priv_os_has_device_nodes;

enum os_file { OS_FILE_ABSENT, OS_FILE_DENIED, OS_FILE_READY };

/* Whether `path` is there and can be read, and written too if asked. Opens nothing. */
enum os_file cushim_priv_os_file_state(const char *path, bool also_write);

/* Reads the start of a file as text, at most size - 1 bytes; false if it cannot be read. */
bool cushim_priv_os_file_read(const char *path, char *text, size_t size);

/* Calls back for each name in a folder until the function returns true; true if one did. */
bool cushim_priv_os_folder_find(const char *path, bool (*matches)(const char *folder, const char *name));

#endif
