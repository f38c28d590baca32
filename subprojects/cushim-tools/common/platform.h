/* SPDX-License-Identifier: MIT */
/* The operating system, beyond the C library. */
#ifndef CUSHIM_TOOLS_PLATFORM_H
#define CUSHIM_TOOLS_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>

/* Size of the longest path, with its terminating null. */
#define PLATFORM_PATH_SIZE 4096

/* Whether stdout is a terminal, and whether that terminal shows colours. */
bool platform_on_terminal(void);
bool platform_has_colours(void);

/* At the begin of main(). No file of this program gets the number of a standard file that is closed. Arguments with
 * another encoding are replaced by their UTF-8 form, which is never freed. */
void platform_start(int *argc, char ***argv);

/* Whether the system describes itself and its devices in files (/dev, /proc, /sys): everywhere but on Windows. */
bool platform_has_system_files(void);

/* Whether a path exists, and whether it is a directory or a regular file: to open another one, such as a FIFO, can
 * block. */
bool platform_exists(const char *path);
bool platform_is_directory(const char *path);
bool platform_is_file(const char *path);

/* Writes the path with all symbolic links resolved. Returns false, and writes nothing, if the file does not exist or
 * the path is too long. */
bool platform_real_path(const char *path, char *real, size_t size);

/* Returns a function of a library that this process has loaded from `path`, or NULL. */
typedef void (*platform_fn)(void);
platform_fn platform_symbol(const char *path, const char *name);

void platform_sleep(int milliseconds);

/* Writes the directory of this program, with symbolic links resolved and without a final slash. Returns false if it is
 * unknown. */
bool platform_own_directory(char *directory, size_t size);

/* Runs this program again with these arguments (ASCII; the first is its name, NULL ends the list) and with a variable
 * set, in place of this process or before it exits. Returns only on failure. */
void platform_run_again(const char *const *arguments, const char *variable, const char *value);

/* Runs a program in place of this process; the first argument is its name, and NULL ends the list. Returns only on
 * failure, with errno set. */
void platform_run(const char *path, char *const *arguments);

#endif
