/* SPDX-License-Identifier: MIT */
/*
 * The table at program start, and the one pointer that says which table is current. Each slot loads the driver, then
 * makes the call; so this file and load.c are the one cycle of the library.
 */
#ifndef CUSHIM_BOOTSTRAP_H
#define CUSHIM_BOOTSTRAP_H

#include "cushim/loader.h"

extern const struct cushim_dispatch_table cush_bootstrap_table;

void cush_table_set_current(const struct cushim_dispatch_table *table);

#endif
