/* SPDX-License-Identifier: MIT */
/* A child process that never holds up its parent, and what it does if it does not return. */
#ifndef CUSHIM_CHILD_H
#define CUSHIM_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* The memory that parent and child share. The child has the descriptors of any other program, and no more. */
struct child_memory {
    volatile bool may_begin; /* a child that is to be watched waits for it */
    volatile bool has_ended; /* `work` has returned */
    bool is_quiet;           /* set by the parent: what the child writes to stdout and stderr goes to `output` */
    bool is_relayed;         /* set by the parent: it goes to stderr of the parent, and the answer to `answer` */
    char output[512];        /* the begin of it */
    int answer_pipe;         /* of the child: where child_answers() leads stdout, or -1 */
};

struct child {
    struct child_memory *memory;
    long pid;
    int error;               /* why no child could be created: an errno; later ENOMEM, if its answer is lost */
    int signal;              /* the signal that ended it, or 0 */
    int output, answer_pipe; /* the ends of pipes, or -1 */
    char *answer;            /* what a relayed child has written since child_answers(); the caller frees it */
    size_t answer_size, answer_capacity;
    bool has_ended;
};

/* Allocates memory for a child, which begins with a struct child_memory. Returns NULL if there is none. */
void *child_memory_create(size_t size);
void child_memory_destroy(void *memory, size_t size);

/* Calls work(memory) in a child process. On Windows, and if `error` is set, nothing was called. */
struct child child_start(void (*work)(void *memory), void *memory);

/* In a relayed child: what was written to stdout so far, by the driver, is not the answer, and what follows is. */
void child_answers(struct child_memory *memory);

/* Asks once whether the child has ended, and takes what it has written. */
bool child_has_ended(struct child *child);

/* Takes what the child has written so far: a full pipe would hold it up. */
void child_take_output(struct child *child);

/* Ends the child. Returns false if it is still there after two seconds: a process in state D survives SIGKILL. */
bool child_stop(struct child *child);

/* Waits at most so long, without a limit for the parent. Returns whether the child has ended. */
bool child_wait(struct child *child, int milliseconds);

/* The signal in words: "Segmentation fault". */
const char *child_signal_name(int signal);

/* A small stack explains why a child crashed. Writes a sentence about it, after a space, or "". */
void child_describe_stack(char *text, size_t size);

/* What a process that does not return is doing. */
struct child_state {
    char letter;       /* of /proc/PID/stat: R, S, D, ...; '?' if it cannot be read */
    char call[64];     /* the system call, such as "ioctl of /dev/nvidiactl", or "" */
    char function[64]; /* the function of the kernel in which it waits, or "" */
};
struct child_state child_describe(const struct child *child);

#endif
