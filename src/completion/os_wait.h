/* SPDX-License-Identifier: MIT */
/*
 * What completions need from the operating system: a clock (cushim_clock_ns()), sleeping until a word changes, and
 * descriptors. The implementations are posix/os_wait.c and windows/os_wait.c.
 */
#ifndef CUSHIM_OS_WAIT_H
#define CUSHIM_OS_WAIT_H

#include "../../loader/common/atomic.h"

#include "cushim/completion.h"

/* From now on, the child of a fork() has another generation. Called before an object is made that remembers one. */
void cush_os_watch_forks(void);

extern atomic_uint cush_os_generation;

/* Returns a number that differs between the child of a fork() and its parent. Makes no system call. */
static inline unsigned cush_os_process_generation(void)
{
    return atomic_load_explicit(&cush_os_generation, memory_order_relaxed);
}

/*
 * Sleeps while *word is `value`, at most until `deadline`, a time of cushim_clock_ns(). It may return early, so the
 * caller must check the word again. Returns false if the deadline has passed.
 */
bool cush_os_wait(atomic_uint *word, unsigned value, uint64_t deadline);

/* Wakes all threads that wait for the word. The word must have changed before. */
void cush_os_wake(atomic_uint *word);

/* Sleeps until a time of cushim_clock_ns(). A signal does not shorten the sleep, and it is not a cancellation point. */
void cush_os_sleep_until(uint64_t time);

/* A descriptor and the means to set it: an eventfd, a HANDLE, or both ends of a pipe. 0: none. */
typedef uintptr_t os_signal;

/* Returns 0 if the operating system provides no more descriptors. */
os_signal cush_os_signal_open(void);
void cush_os_signal_close(os_signal signal);
void cush_os_signal_set(os_signal signal);
void cush_os_signal_clear(os_signal signal);
cushim_descriptor cush_os_signal_descriptor(os_signal signal);

#endif
