/* SPDX-License-Identifier: MIT */
/*
 * What the driver says about the failed calls of a thread. Since CUDA 12.9 a driver calls registered functions with its
 * explanation of an error, on the thread of the failed call and before that call returns. Its last line names the code
 * and the function. So cushim does nothing for a call that succeeds.
 */
#ifndef CUSHIM_LOADER_DRIVER_LOG_H
#define CUSHIM_LOADER_DRIVER_LOG_H

#include "symbols.h"

/* Registers a function for the log of the driver in the driver tables, unless that driver has no log or hides it. It
 * needs no cuInit. This copy of cushim must stay mapped. The caller holds the load lock. */
void cush_driver_log_register(void);

/* For tests: unregisters that function before the driver is closed. */
void cush_driver_log_unregister(void);

/*
 * Returns the lines that the driver logged about the last failed driver call of this thread, and forgets them. Returns
 * NULL if that was not a call of `slot`, or did not return `code`. The text is valid until the next call on this
 * thread.
 */
const char *cush_driver_log_take(CUresult code, enum cushim_slot slot);

#endif
