/* SPDX-License-Identifier: MIT */
/* The tables of the loader, and how the driver tables are filled. */
#ifndef CUSHIM_LOADER_TABLES_H
#define CUSHIM_LOADER_TABLES_H

#include "cushim/loader.h"
#include "driver.h"

/*
 * ---- bootstrap.c: the tables at program start, one for each default stream; the pointers to the current tables ----
 *
 * Each slot loads the driver and then makes the call. Therefore this file and load.c depend on each other: the one
 * cycle of the library.
 */

extern const struct cushim_dispatch_table cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_COUNT];

/* Makes a pair of tables current, for every release whose pair of pointers this library has. */
void cush_table_set_current(const struct cushim_dispatch_table *legacy, const struct cushim_dispatch_table *per_thread);

/* ---- tables.c: the null driver, the slots that fail, and filling the driver tables ---- */

/* Returns the null driver. The caller holds the load lock. */
const struct cushim_dispatch_table *cush_null_driver_table(void);

/* Returns whether a slot of the null driver can succeed. */
bool cush_null_driver_has(enum cushim_slot slot);

/* Returns "NAME: sentence" for a code of the list, else NULL. */
CUSHIM_COLD const char *cush_null_driver_describe(CUresult code);

/* Fills both driver tables from an open driver. The caller holds the load lock. */
CUSHIM_COLD void cush_table_fill(const struct driver *driver);

/* Sets whether the driver of the driver tables is loaded, or no driver is. The caller holds the load lock. */
void cush_table_set_loaded(bool is_loaded);

/* ---- get_proc_address.c: cuGetProcAddress for every driver, with version limit and hidden functions ---- */

/* Fills the adapted slots in the driver table of a kind: cuInit and cuGetErrorString (start.h), and those that cushim
 * answers under a version limit, with hidden functions, and for cuGetProcAddress in the per-thread table. */
CUSHIM_COLD void cush_adapted_install(enum cushim_default_stream kind);

#endif
