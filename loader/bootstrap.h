/* SPDX-License-Identifier: MIT */
/*
 * The tables at program start, one for each default stream, and the pointers to the current tables. Each slot loads the
 * driver and then makes the call. Therefore this file and load.c depend on each other: the one cycle of the library.
 */
#ifndef CUSHIM_BOOTSTRAP_H
#define CUSHIM_BOOTSTRAP_H

#include "cushim/loader.h"

extern const struct cushim_dispatch_table cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_COUNT];

/* Makes a pair of tables current, for every release whose pair of pointers this library has. */
void cush_table_set_current(const struct cushim_dispatch_table *legacy, const struct cushim_dispatch_table *per_thread);

#endif
