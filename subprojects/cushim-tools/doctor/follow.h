/* SPDX-License-Identifier: MIT */
/* Follows the system calls of processes, with ptrace(2): Linux 5.3 or later. */
#ifndef CUSHIM_DOCTOR_FOLLOW_H
#define CUSHIM_DOCTOR_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "system_calls.h"

/* A thread that is followed, and the call in which it is. */
struct followed {
    pid_t id;
    bool is_inside;
    long number;
    uint64_t arguments[6];
};

enum { MAX_FOLLOWED = 512 };

struct follower {
    struct followed threads[MAX_FOLLOWED];
    size_t count;
    void *user;

    /* Whether a thread that has stopped is still to be followed; otherwise it goes on alone. */
    bool (*may_follow)(struct follower *follower, const struct followed *thread);
    void (*call_ended)(struct follower *follower, const struct followed *thread, int64_t result);
    void (*began)(struct follower *follower, pid_t id);  /* a new thread; or NULL */
    void (*became)(struct follower *follower, pid_t id); /* another program; or NULL */
    void (*lost)(struct follower *follower, pid_t id); /* a thread for which there is no room goes on alone; or NULL */
    void (*ended)(struct follower *follower, pid_t id, int status);
};

/* Begins to follow a process: its threads or, with `children`, also its children. Those that are followed end with this
 * process unless they are children. Returns 0 or an errno. */
int follow_start(pid_t process, bool children);

/* Handles what waitpid() has reported. Returns false if the kernel cannot describe a call. */
bool follow_handle(struct follower *follower, pid_t id, int status);

/* Stops following a thread that runs. */
void follow_leave(struct follower *follower, pid_t id);

/* Reads the words of a stopped thread from an address on, until a zero. */
void follow_read_text(pid_t thread, uint64_t address, char *text, size_t size);

/* Reads a word, or 0. */
long follow_read_word(pid_t thread, uint64_t address);

/* In a child: asks to be followed, which a filter can answer with the end of the process. */
void follow_ask(void);

#endif
