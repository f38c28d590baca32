/* SPDX-License-Identifier: MIT */
/*
 * A file that a command has open and that the processes of its program open, too, although they have no descriptor of
 * it. Its name is "/proc/NUMBER/fd/N" with the device and the inode of the file: in another PID namespace, or after the
 * command has ended, the number can be that of a stranger, whose file is not to be touched.
 */
#ifndef CUSHIM_OPEN_FILE_H
#define CUSHIM_OPEN_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { OPEN_FILE_NAME_SIZE = 128 };

/* In the command: writes the name of an open file. */
bool open_file_name(int file, char name[OPEN_FILE_NAME_SIZE]);

/* Opens the file with this name, by its path or by another one unless that is NULL. Returns a descriptor, or -1 with
 * errno, which is ESTALE if the path leads to another file. That one is not opened. */
int open_file_open(const char *name, const char *other_path, int flags);

/* In the command: makes a file without a name, of which nothing is left when the command has ended, however it ends.
 * Returns a descriptor, or -1 with errno. */
int open_file_make(void);

#endif
