/* SPDX-License-Identifier: MIT */
/* What the program asks of the operating system beyond the C library. */
#ifndef CUSHIM_CLI_PLATFORM_H
#define CUSHIM_CLI_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>

/* Longest path that is handled, with its end. */
#define PLATFORM_PATH_SIZE 4096

/* Whether a person reads stdout, and whether that terminal shows colours. */
bool platform_on_terminal(void);
bool platform_has_colours(void);

/* Gives the arguments in UTF-8 where main() was given them in something else. They stay. */
void platform_arguments(int *argc, char ***argv);

/* Whether the system tells of itself and of its devices in files (/dev, /proc, /sys), as all but Windows do. */
bool platform_has_system_files(void);

/* Whether something is there, and whether it is a directory. */
bool platform_exists(const char *path);
bool platform_is_directory(const char *path);

/* Writes the path without any symbolic link; false, and nothing written, where there is no such file or no room. */
bool platform_real_path(const char *path, char *real, size_t size);

/* A function of a library that this process has loaded from `path`, or NULL. */
typedef void (*platform_fn)(void);
platform_fn platform_symbol(const char *path, const char *name);

/* A clock that nobody sets. */
long long platform_microseconds(void);

/*
 * Runs `work` in a child process, which has ten seconds, and returns whether it returned. `text` then holds the string
 * that it wrote there; otherwise it says how the child ended, as in "ends the process (Bus error)". Where no child can
 * be made, and on Windows, `work` does not run, and this returns true with an empty text: LoadLibrary compares a file
 * with its header before it maps it, and a bare name leads to System32 alone.
 */
bool platform_try(void (*work)(const void *input, char *text, size_t size), const void *input, char *text, size_t size);

/* The directory of this program, without any symbolic link and without a last slash; false where that cannot be
 * known. */
bool platform_own_directory(char *directory, size_t size);

/* Runs this program anew with these arguments (ASCII; the first is its name, a NULL ends them), in place of this
 * process or before it ends, and with that variable set; returns only in failure. */
void platform_run_again(const char *const *arguments, const char *variable, const char *value);

#endif
