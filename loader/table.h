/* SPDX-License-Identifier: MIT */
/* How the driver tables are filled. */
#ifndef CUSHIM_TABLE_H
#define CUSHIM_TABLE_H

#include "driver.h"

/* Fills both driver tables from an open driver, which becomes the loaded one. */
void cush_table_fill(const struct driver *driver);

#endif
