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
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
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

/* Writes a text with one call, as far as it fits. */
CUSHIM_PRINTF(2, 3)
static inline void quiet_print(int file, const char *format, ...)
{
    char text[3072]; /* a thread can have a small stack */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        (void)quiet_write(file, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Gives a file a size. Returns false, with errno, if that is not possible. */
static inline bool quiet_resize(int file, off_t size)
{
    struct quiet_signals signals;
    quiet_begin(&signals);
    return quiet_end(&signals, ftruncate(file, size) == 0);
}

#endif
