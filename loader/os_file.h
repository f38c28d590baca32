/* SPDX-License-Identifier: MIT */
/* Files, also below a root directory: os_file.c in posix/ and windows/. */
#ifndef CUSHIM_LOADER_OS_FILE_H
#define CUSHIM_LOADER_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/attributes.h"

/* The size of the longest path that is handled, with its terminating zero. A function with one such path has a frame of
 * less than 4 KiB, for threads with small stacks. */
#define OS_PATH_SIZE 3328

/*
 * Writes the full path of the file that `path` means in a container with this root ("": this machine). A symbolic link
 * with an absolute target starts again at the root, and ".." never leaves the root. The file need not exist. Returns
 * false if the path is too long or its links form a loop.
 */
CUSHIM_COLD bool cush_os_path_below(const char *root, const char *path, char *full_path, size_t size);

enum os_file { OS_FILE_ABSENT, OS_FILE_DENIED, OS_FILE_READY };

/* Returns whether `path` exists and can be read, and also written if requested. Opens nothing. A sandbox can refuse the
 * question and not the file, or the file and not the question: so it is no proof that opening the file fails. */
CUSHIM_COLD enum os_file cush_os_file_state(const char *path, bool also_write);

/* Whether a seccomp filter can end this process for a system call that not every process makes. */
bool cush_os_may_have_filter(void);
/* Returns whether the file is the character device with this number, or, if that is permitted, a plain file. */
bool cush_os_file_is_device(const char *path, unsigned device_major, unsigned device_minor, bool may_be_plain);

/* Reads the start of a file as text, at most size - 1 bytes. Returns false if the file cannot be read or is not a
 * regular file. */
CUSHIM_COLD bool cush_os_file_read(const char *path, char *text, size_t size);

/* Writes the rest of the line that begins with this label ("Seccomp") in the status of this thread or of a process of
 * Linux, without the white space in front. Returns false if there is no such line, as without /proc. */
CUSHIM_COLD bool cush_os_thread_status(const char *label, char *value, size_t size);
CUSHIM_COLD bool cush_os_process_status(long process, const char *label, char *value, size_t size);

/* Calls a function for each line of a regular file. */
CUSHIM_COLD void cush_os_file_each_line(const char *path, void (*use)(const char *line, void *user), void *user);

/* Returns whether the path is a symbolic link to a file that does not exist. */
bool cush_os_link_is_broken(const char *path);

/* Writes the last name of the path to which a symbolic link leads. Returns false if it is not a link. */
CUSHIM_COLD bool cush_os_link_name(const char *path, char *name, size_t size);

/* Writes the path of a file with all links resolved; it has OS_PATH_SIZE bytes. Returns false if it does not exist. */
CUSHIM_COLD bool cush_os_file_real_path(const char *path, char *real_path);

/* Calls `matches` for each name in a directory below `root` until it returns true. Returns whether it did. */
CUSHIM_COLD bool
cush_os_directory_find(const char *root, const char *path,
                       bool (*matches)(const char *root, const char *path, const char *name, void *user), void *user);

/* Appends the text to a file with one write, or writes it to stderr if the path is "stderr". A failure has no effect:
 * it raises no signal (common/posix/quiet_file.h) and waits for nothing (a FIFO without a reader). */
CUSHIM_COLD void cush_os_file_append(const char *path, const char *text, size_t size);

#endif
