/* SPDX-License-Identifier: MIT */
/* The services of the operating system: the one lock, two signals, threads, time, environment. posix/ and windows/
 * implement them. */
#ifndef SOFT_OS_THREAD_H
#define SOFT_OS_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* The one lock. Every call of the driver holds it, and releases it while it waits or runs a function of the user. */
void os_lock(void);
void os_unlock(void);

/* Conditions that a thread can wait for while it holds the lock. */
enum os_signal {
    OS_WORK_READY, /* for workers: a stream has work to execute */
    OS_OP_DONE,    /* for all others: an operation that a thread waits for is complete */
    OS_SIGNAL_COUNT
};
void os_wait(enum os_signal which);
void os_wake_one(enum os_signal which);
void os_wake_all(enum os_signal which);

/* Starts a detached thread; false if the system has no more threads. */
bool os_start_thread(void (*body)(void));

/* Calls `end` with `value` when this thread ends. Each thread has one value, and all have the same `end`. The lock must
 * be held. */
void os_at_thread_end(void (*end)(void *value), void *value);

/* Nanoseconds of a monotonic clock. */
uint64_t os_clock(void);
void os_sleep(uint64_t nanoseconds);

/* Calls `child` in every child of a later fork, where the lock is free. At most once in a process. */
void os_on_fork(void (*child)(void));

/* All environment variables, "NAME=TEXT" each, up to NULL. */
char **os_environment(void);

/* Uninitialised memory at a multiple of `alignment`, a power of two; NULL if out of memory. */
void *os_aligned_alloc(uint64_t alignment, uint64_t size);
void os_aligned_free(void *memory);

#endif
