/* SPDX-License-Identifier: MIT */
/* The absent table, the missing slots, and how the driver tables are filled. */
#ifndef CUSHIM_LOADER_TABLES_H
#define CUSHIM_LOADER_TABLES_H

#include "cushim/loader.h"
#include "driver.h"

extern const struct cushim_dispatch_table cush_absent_table;

/* Returns "NAME: sentence" for a code of the list, else NULL. */
const char *cush_absent_describe(CUresult code);

extern const struct cushim_dispatch_table cush_missing_table;

/* Fills both driver tables from an open driver, which becomes the loaded one. */
void cush_table_fill(const struct driver *driver);

#endif
