/* SPDX-License-Identifier: MIT */
/* The operations of a start, tried without the driver, in its order. They show what the system refuses where a start
 * cannot be watched, and where a preloaded library and not the system refuses. */
#ifndef CUSHIM_DOCTOR_TRIALS_H
#define CUSHIM_DOCTOR_TRIALS_H

#include "child.h"
#include "operations.h"

struct trials {
    struct child_memory child;
    bool tried;
    bool has_ended;   /* all operations were tried; the last one did not return otherwise */
    char current[64]; /* the path or call that is being tried */
    volatile int begun;
    int signal; /* which ended the trial of it, or 0 */
    bool control_opened, uvm_opened;
    int gpus_opened;
    char intercepted[64];         /* the file that can be opened by a system call, but not by open(), or "" */
    struct operations operations; /* those that failed */
};

struct trials *trials_create(void);
void trials_destroy(struct trials *trials);

/* Tries the operations in a child process. Each has so many seconds. The device files are those below `root`. */
void trials_run(struct trials *trials, const char *root, int seconds);

#endif
