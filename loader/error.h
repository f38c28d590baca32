/* SPDX-License-Identifier: MIT */
/* The per-thread error detail: kept as codes, put into words when cushim_last_error() asks. */
#ifndef CUSHIM_ERROR_H
#define CUSHIM_ERROR_H

#include "cushim/loader.h"

/*
 * Records a failure and returns its code. `function` and `message` are constants; a "%" in the message stands for
 * `detail`, which must stay valid (a name of ours), or be NULL.
 */
CUresult cush_error_set(CUresult code, const char *function, const char *message, const char *detail);

/* Records that a missing slot was called: the driver's version and the slot's tell the rest. */
CUresult cush_fail_missing(enum cushim_slot slot);

/* Records that a slot was called with no driver there. */
CUresult cush_fail_absent(enum cushim_slot slot);

#endif
