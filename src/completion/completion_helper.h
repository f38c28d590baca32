/* SPDX-License-Identifier: MIT */
/* Streams of cushim that wait for events and then call back: completion_helper.c. */
#ifndef CUSHIM_COMPLETION_HELPER_H
#define CUSHIM_COMPLETION_HELPER_H

#include "completion_object.h"

/* Creates the helpers that the current context lacks. `id` is the id of the context. */
void cush_helpers_open(CUcontext context, unsigned long long id);

/* Returns whether the context lacks helpers because some were closed. */
bool cush_helpers_are_missing(unsigned long long id);

/* Returns how many helpers the context has. */
int cush_helpers_count(unsigned long long id);

/*
 * Both claim a helper of the context and return its index, or -1: the first one that waits for nothing but older work
 * of the same stream, the second any busy one.
 */
int cush_helper_claim(const struct cushim_completion *completion);
int cush_helper_claim_busy(const struct cushim_completion *completion);

/* Returns whether a callback for older work of the same stream is due, and none for newer work behind it. */
bool cush_helper_has_older_wait(const struct cushim_completion *completion);

CUstream cush_helper_stream(int index);

/* Forgets the stream of a helper, which keeps a wait without a callback. Callbacks that are due there still come. */
void cush_helper_close(int index);

/* Ends the claim. `has_wait` says whether a callback was added, which calls cush_helper_end_wait(). */
void cush_helper_release(int index, bool has_wait);
void cush_helper_end_wait(int index);

#endif
