/* SPDX-License-Identifier: MIT */
/*
 * Stands between the stream layer and the driver: counts calls, lets one of them fail, and keeps count of the driver's
 * objects that the layer made and has not ended. What the tests call by `cu` is not watched, but for what a polyfill
 * calls.
 */
#ifndef STREAM_WATCH_H
#define STREAM_WATCH_H

#include "check.h"

/* From here on the layer's calls are watched; the counts begin at 0. One thread at a time. */
void watch_begin(void);
void watch_end(void);

/* How many calls were made since the beginning, how many of one slot. */
int watch_calls(void);
int watch_calls_of(enum cushim_slot slot);

/* The `turn`th call from now (0: the next) is not made, and returns `code`. */
void watch_fail(int turn, CUresult code);
/* The next call of this slot is not made, and returns `code`. */
void watch_fail_slot(enum cushim_slot slot, CUresult code);
/* Whether that has happened, and to which slot. */
bool watch_failed(enum cushim_slot *out_slot);

/* What the layer made, less what it ended; a capture that is open counts as well. */
int watch_contexts(void);
int watch_streams(void);
int watch_events(void);
int watch_graphs(void);
int watch_executables(void);
int watch_captures(void);
/* All of these. */
int watch_alive(void);

#endif
