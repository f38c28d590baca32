/* SPDX-License-Identifier: MIT */
/*
 * How the library and the tools write to a file. A write that is not possible raises a signal that would end the
 * program: SIGPIPE (a pipe without a reader) or SIGXFSZ (a limit of the size of files). Here it is an error like any
 * other, whatever the program does with these signals.
 */
#ifndef CUSHIM_LOADER_QUIET_FILE_H
#define CUSHIM_LOADER_QUIET_FILE_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "cushim/attributes.h"

struct quiet_signals {
    sigset_t before, pending;
};

static CUSHIM_COLD void quiet_begin(struct quiet_signals *signals)
{
    sigset_t raised;
    sigemptyset(&raised);
    sigaddset(&raised, SIGPIPE);
    sigaddset(&raised, SIGXFSZ);
    sigpending(&signals->pending);
    pthread_sigmask(SIG_BLOCK, &raised, &signals->before);
}

/* The kernel raises these signals in the thread that writes. One that was there before stays. */
static CUSHIM_COLD bool quiet_end(struct quiet_signals *signals, bool is_done)
{
    sigset_t raised, now;
    int error = errno, taken, number = error == EPIPE ? SIGPIPE : SIGXFSZ;
    sigemptyset(&raised);
    sigaddset(&raised, number);
    if (!is_done && (error == EPIPE || error == EFBIG) && !sigismember(&signals->pending, number)) {
        sigpending(&now);
        if (sigismember(&now, number)) /* it is not if the program ignores it */
            sigwait(&raised, &taken);
    }
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
    errno = error;
    return is_done;
}

/* Writes with one call. Returns false, with errno, if not all of it was written. */
static inline bool quiet_write(int file, const void *data, size_t size)
{
    struct quiet_signals signals;
    quiet_begin(&signals);
    errno = ENOSPC; /* of a write that ends early */
    return quiet_end(&signals, write(file, data, size) == (ssize_t)size);
}

#endif
