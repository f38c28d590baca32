/* SPDX-License-Identifier: MIT */
/* Streams of cushim that wait for events and then call back: completion_helper.c. */
#ifndef CUSHIM_COMPLETION_HELPER_H
#define CUSHIM_COMPLETION_HELPER_H

#include "completion_object.h"

/* Creates the helpers of the current context, if it has none. `id` is the id of the context. */
void cush_helpers_open(CUcontext context, unsigned long long id);

/* Returns how many helpers the context has. */
int cush_helpers_count(unsigned long long id);

/*
 * Both claim a helper of the context and return its index, or -1: the first one that waits for no other stream than
 * this, the second a busy one. The search for it begins at `from`.
 */
int cush_helper_for(unsigned long long id, const struct cushim_stream *owner);
int cush_helper_busy(unsigned long long id, unsigned from);

CUstream cush_helper_stream(int index);

/* Ends the claim. `has_wait` says whether a callback was added, which calls cush_helper_end_wait(). */
void cush_helper_give_back(int index, bool has_wait);
void cush_helper_end_wait(int index);

#endif
