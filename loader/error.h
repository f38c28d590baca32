/* SPDX-License-Identifier: MIT */
/* The last failure of each thread, recorded as codes. last_error.c puts it into words. */
#ifndef CUSHIM_LOADER_ERROR_H
#define CUSHIM_LOADER_ERROR_H

#include "cushim/loader.h"

struct error_detail {
    CUresult code;
    const char *function;
    const char *message; /* NULL: the words of the driver for the code */
    const char *detail;  /* stands for a "%" in the message, or NULL */
    bool is_missing;     /* the slot was missing, and `slot` says which one; there is no message */
    enum cushim_slot slot;
};

/* The record of this thread. */
const struct error_detail *cush_error_get(void);

/*
 * Records a failure and returns its code. `function` and `message` are constants; a "%" in the message stands for
 * `detail`, which must stay valid (a name of ours), or be NULL.
 */
CUresult cush_error_set(CUresult code, const char *function, const char *message, const char *detail);

/* The same for a sentence that does not stay valid: it is copied, and cut if it is very long. */
CUresult cush_error_record_copy(CUresult code, const char *function, const char *message);

/* Records that a missing slot was called: the driver's version and the slot's tell the rest. */
CUresult cush_fail_missing(enum cushim_slot slot);

/* Records that a slot was called with no driver there. */
CUresult cush_fail_absent(enum cushim_slot slot);

#endif
