/* SPDX-License-Identifier: MIT */
/* Loading, for the other parts of the loader. */
#ifndef CUSHIM_LOADER_LOAD_H
#define CUSHIM_LOADER_LOAD_H

#include "cushim/loader.h"

/* A bootstrap slot calls this: it loads the driver if that has not been tried, and returns the table to use instead. */
CUSHIM_COLD const struct cushim_dispatch_table *cush_table_load(enum cushim_default_stream kind);

/* Loads the driver if that has not been tried, and returns whether one is loaded. */
bool cush_load_has_driver(void);

/* Returns whether the tables of the driver, with layers or without, are the current ones. Never loads. */
bool cush_load_has_succeeded(void);

/* Loads as cushim_load() does, and reads no environment variable. */
CUresult cush_load_without_environment(const struct cushim_load_options *options);

/* For tests: forgets everything, as at program start: closes the driver, makes the bootstrap tables current, frees each
 * diagnosis. No other thread may be using cushim, and nothing got from it may be used again. */
void cush_load_reset_for_tests(void);

#endif
