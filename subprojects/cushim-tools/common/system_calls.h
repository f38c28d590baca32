/* SPDX-License-Identifier: MIT */
/* The names of system calls and errors. Linux only: elsewhere no call is known. */
#ifndef CUSHIM_SYSTEM_CALLS_H
#define CUSHIM_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stddef.h>

enum call_argument { CALL_NONE, CALL_PATH, CALL_DESCRIPTOR, CALL_ADDRESS, CALL_SIZE };

struct call {
    const char *name;
    long number;
    enum call_argument argument;
    int index; /* of the argument */
    const char *phrase;
};

/* Finds a call by its number or its name; NULL if it is unknown. */
const struct call *calls_find(long number);
const struct call *calls_find_name(const char *name);

/* Whether /proc has the processes of this namespace under the numbers that they have here. */
bool calls_proc_is_own(void);

/* Writes the path of an open file of a process, "descriptor N" if it is unknown. */
void calls_descriptor_path(long process, long descriptor, char *path, size_t size);

/* Writes a call in which a process stands, such as "ioctl of /dev/nvidiactl"; `argument` is its first one. */
void calls_describe(long process, long number, unsigned long long argument, char *text, size_t size);

/* The name of an errno, such as "EACCES", or "error 999". Valid until the next call. */
const char *calls_error_name(int error);

#endif
