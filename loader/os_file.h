/* SPDX-License-Identifier: MIT */
/* Files of the operating system, also below a root directory. posix/ and windows/ implement it. */
#ifndef CUSHIM_LOADER_OS_FILE_H
#define CUSHIM_LOADER_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Longest path that is handled, with its end. */
#define OS_PATH_SIZE 4096

/*
 * Writes the path of the file that `path` is in a container with this root ("": the machine itself). A symbolic link
 * with an absolute target starts again at the root, and ".." never leaves the root. The file need not exist. Returns
 * false if the path is too long or its links form a loop.
 */
bool cush_os_path_below(const char *root, const char *path, char *whole, size_t size);

enum os_file { OS_FILE_ABSENT, OS_FILE_DENIED, OS_FILE_READY };

/* Whether `path` is there and can be read, and written too if asked. Opens nothing. */
enum os_file cush_os_file_state(const char *path, bool also_write);

/* Reads the start of a regular file as text, at most size - 1 bytes. Returns false if it is not one, or cannot be
 * read. */
bool cush_os_file_read(const char *path, char *text, size_t size);

/* Calls back for each name in a directory below `root` until the function returns true; true if one did. */
bool cush_os_directory_find(const char *root, const char *path,
                            bool (*matches)(const char *root, const char *path, const char *name));

#endif
