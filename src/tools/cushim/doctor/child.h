/* SPDX-License-Identifier: MIT */
/* A child process that never holds up its parent, and what it does if it does not return. */
#ifndef CUSHIM_DOCTOR_CHILD_H
#define CUSHIM_DOCTOR_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* The memory that parent and child share. No descriptor is used, so that the child has those of any other program. */
struct child_memory {
    volatile bool may_begin; /* a child that is to be watched waits for it */
    volatile bool has_ended; /* `work` has returned */
};

struct child {
    long pid;
    int error;  /* why no child could be created: an errno */
    int signal; /* the signal that ended it, or 0 */
    bool has_ended;
};

/* Allocates memory for a child, which begins with a struct child_memory. Returns NULL if there is none. */
void *child_memory_create(size_t size);
void child_memory_destroy(void *memory, size_t size);

/* Calls work(memory) in a child process. On Windows, and if `error` is set, nothing was called. */
struct child child_start(void (*work)(void *memory), void *memory);

/* Asks once whether the child has ended. */
bool child_has_ended(struct child *child);

/* Ends the child. Returns false if it is still there after two seconds: a process in state D survives SIGKILL. */
bool child_stop(struct child *child);

/* The signal in words: "Segmentation fault". */
const char *child_signal_name(int signal);

/* What a process that does not return is doing. */
struct child_state {
    char letter;       /* of /proc/PID/stat: R, S, D, ...; '?' if it cannot be read */
    char call[64];     /* the system call, such as "ioctl of /dev/nvidiactl", or "" */
    char function[64]; /* the function of the kernel in which it waits, or "" */
};
struct child_state child_describe(const struct child *child);

#endif
