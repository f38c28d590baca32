/* SPDX-License-Identifier: MIT */
/* What completions need of the operating system: a clock, sleeping until a word changes, descriptors. posix/ and
 * windows/ implement it. */
#ifndef CUSHIM_OS_WAIT_H
#define CUSHIM_OS_WAIT_H

#include <stdatomic.h>

#include "cushim/completion.h"

/* Another number in a child after fork() than in its parent. Costs no call of the system. */
unsigned cush_os_process_generation(void);

/*
 * Sleeps while *word is `value`, at most until `deadline` of cushim_time_ns(). May return early: look again. False: the
 * deadline has passed.
 */
bool cush_os_wait(atomic_uint *word, unsigned value, uint64_t deadline);

/* Wakes all who wait for the word. It must have changed before. */
void cush_os_wake(atomic_uint *word);

/*
 * A descriptor and how it is set: one number for both (an eventfd or a HANDLE), or two (a pipe's ends). 0: none.
 */
typedef uintptr_t os_signal;

/* 0 where the system gives none. */
os_signal cush_os_signal_open(void);
void cush_os_signal_close(os_signal signal);
void cush_os_signal_set(os_signal signal);
void cush_os_signal_clear(os_signal signal);
cushim_descriptor cush_os_signal_descriptor(os_signal signal);

#endif
