/* SPDX-License-Identifier: MIT */
/*
 * Watches the calls between the stream layer and the driver: counts them, can make one of them fail, and counts the
 * objects of the driver that the layer has created and not destroyed. Calls of the tests through `cu` are not watched,
 * except for the slots that a polyfill calls.
 */
#ifndef STREAM_WATCH_H
#define STREAM_WATCH_H

#include <stdatomic.h>

#include "check.h"

/* Begins to watch, with all counts at 0. Only one thread may watch at a time. */
void watch_begin(void);
void watch_end(void);

/* Returns how many calls were made since watch_begin(), of all slots and of one slot. */
int watch_calls(void);
int watch_calls_of(enum cushim_slot slot);

/* Makes one driver call return `code` without reaching the driver: the next one if `number` is 0, and so on. */
void watch_fail(int number, CUresult code);
/* The next call of this slot does not reach the driver and returns `code`, the same one for all slots. */
void watch_fail_slot(enum cushim_slot slot, CUresult code);
/* Returns whether a call has failed in this way, and writes its slot. */
bool watch_failed(enum cushim_slot *out_slot);

/* How many objects the layer has created and not destroyed; for captures, how many are open. */
extern struct watch_objects {
    atomic_int contexts, streams, events, graphs, executables, captures;
} watch_objects;
/* Returns the sum of these. */
int watch_alive(void);

#endif
