/* SPDX-License-Identifier: MIT */
/* The start of the driver (cuInit), and the report of why it failed. */
#ifndef CUSHIM_LOADER_START_H
#define CUSHIM_LOADER_START_H

#include "cushim/loader.h"

/*
 * The slots of cuInit and of cuGetErrorString, in every driver table. If the driver's cuInit fails, the first looks for
 * the cause, publishes the diagnosis and records the error of the thread. The second returns the message of that
 * diagnosis for exactly the code of the failed start, and the driver's own text for every other code.
 */
CUresult CUDAAPI cush_start_Init(unsigned Flags);
CUresult CUDAAPI cush_start_GetErrorString(CUresult error, const char **pStr);

/* For `cushim exec`, which sets it before the load: is called on the thread of a start that failed, or is NULL. */
extern void (*cush_start_on_failure)(const struct cushim_diagnosis *diagnosis);

/* Returns what cush_start_Init() has published since the last call on this thread, or NULL: then a layer has answered,
 * or the slot is missing. */
const struct cushim_diagnosis *cush_start_take(void);

/* For a driver that says that it is not started: returns whether the reason is a start before a fork(). */
bool cush_start_is_inherited(void);

/* For tests: forgets the starts of this process. */
void cush_start_reset(void);

/* Publishes the result of a start that did not reach the driver, and returns the diagnosis. */
CUSHIM_COLD const struct cushim_diagnosis *cush_start_report(CUresult code);

#endif
