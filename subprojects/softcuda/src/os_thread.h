/* SPDX-License-Identifier: MIT */
/* What is asked of the operating system: the one lock, two signals, threads, time. posix/ and windows/ implement it. */
#ifndef SOFT_OS_THREAD_H
#define SOFT_OS_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* The one lock: every call of the driver runs under it, and lets go of it while it waits or runs a user's function. */
void os_lock(void);
void os_unlock(void);

/* What a thread can wait for, under the lock. */
enum os_signal {
    OS_WORK_READY, /* a worker: there is a stream with something to run */
    OS_OP_DONE,    /* everyone else: an operation that somebody waits for is done */
    OS_SIGNAL_COUNT
};
void os_wait(enum os_signal which);
void os_wake_one(enum os_signal which);
void os_wake_all(enum os_signal which);

/* Starts a thread that nobody joins; false when the system has no more. */
bool os_start_thread(void (*body)(void));

/* Calls `end` with `value` when this thread ends. One value a thread, and always the same `end`. Called under the
 * lock. */
void os_at_thread_end(void (*end)(void *value), void *value);

/* Nanoseconds of a clock that never goes back. */
uint64_t os_clock(void);
void os_sleep(uint64_t nanoseconds);

/* Calls `child` in every child that a fork makes from now on; the lock is free in it. Once a process. */
void os_on_fork(void (*child)(void));

/* Takes an exported name of this library away, so that dlsym finds nothing; false where there is none of that name. */
bool os_hide_symbol(const char *name);

/* A block of memory at a multiple of `alignment`, a power of two, uninitialised; NULL when there is no more. */
void *os_aligned_alloc(uint64_t alignment, uint64_t size);
void os_aligned_free(void *memory);

#endif
