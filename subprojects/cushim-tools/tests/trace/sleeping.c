/* SPDX-License-Identifier: MIT */
/* To be preloaded: a machine that sleeps for an hour between two readings of the clock that counts sleep. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int hours;
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_BOOTTIME)
        now->tv_sec += 3600L * hours++;
    return result;
}
