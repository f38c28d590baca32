/* SPDX-License-Identifier: MIT */
/* The last failure of each thread, recorded as codes and constants. last_error.c formats it as a message. */
#ifndef CUSHIM_LOADER_ERROR_H
#define CUSHIM_LOADER_ERROR_H

#include <stddef.h>

#include "cushim/loader.h"

struct error_detail {
    CUresult code;
    const char *function;
    const char *message; /* NULL: the driver's text for the code */
    const char *detail;  /* replaces a "%" in the message, or NULL */
    bool is_missing;     /* `slot` was missing; there is no message */
    enum cushim_slot slot;
    const char *driver_message; /* what the driver logged about the failed call, or NULL */
};

/* Returns the last failure of this thread. */
const struct error_detail *cush_error_get(void);

/*
 * Records a failure and returns its code. `function` and `message` are constants. `detail` replaces a "%" in the
 * message; it must stay valid, or be NULL.
 */
CUSHIM_COLD CUresult cush_error_set(CUresult code, const char *function, const char *message, const char *detail);

/* Adds to the last failure what the driver logged about it, or NULL. The text is valid until the next failure. */
void cush_error_add_driver_message(const char *driver_message);

/* As cush_error_set(), for a message that does not stay valid. It is copied, and truncated to 511 bytes. */
CUSHIM_COLD CUresult cush_error_set_copy(CUresult code, const char *function, const char *message);

/* Records that a missing slot was called. The message is made from the versions of the driver and of the slot. */
CUSHIM_COLD CUresult cush_fail_missing(enum cushim_slot slot);

/* Records that a polyfill refuses a call that requests too much. `why` is a sentence. */
CUSHIM_COLD CUresult cush_fail_polyfill(enum cushim_slot slot, const char *why);

/* Records that a slot of the null driver was called. */
CUSHIM_COLD CUresult cush_fail_null_driver(enum cushim_slot slot);

/* Writes why the loaded driver, under its version limit and hidden functions, lacks a slot. */
CUSHIM_COLD void cush_last_error_format_missing(enum cushim_slot slot, char *text, size_t size);

#endif
