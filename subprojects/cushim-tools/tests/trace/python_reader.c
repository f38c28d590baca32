/* SPDX-License-Identifier: MIT */
/* The functions that read Python frames, for python_frames.py; also in a signal handler that interrupts anything. */
#include "../../trace/layer/python_frames.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../trace/file/format.h"
#include "cushim/attributes.h"

CUSHIM_LAYER_EXPORT unsigned reader_prepare(uint64_t *out_number);
CUSHIM_LAYER_EXPORT size_t reader_frames(uint64_t *words, size_t room);
CUSHIM_LAYER_EXPORT long reader_interrupt(long microseconds);

unsigned reader_prepare(uint64_t *out_number)
{
    python_prepare();
    return python_problem(out_number);
}

size_t reader_frames(uint64_t *words, size_t room)
{
    return python_frames(getpid(), words, room);
}

static volatile sig_atomic_t interrupts;

static void interrupt(int signal)
{
    uint64_t words[TRACE_PYTHON_WORDS];
    int error = errno;
    (void)signal;
    (void)python_frames(getpid(), words, TRACE_PYTHON_WORDS);
    interrupts++;
    errno = error;
}

/* Reads frames in a signal handler, each time that so much processor time has passed; 0: no more. Returns how often
 * that was done. */
long reader_interrupt(long microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    if (microseconds > 0)
        sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
    return interrupts;
}
