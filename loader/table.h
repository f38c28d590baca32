/* SPDX-License-Identifier: MIT */
/* How the driver table is filled. */
#ifndef CUSHIM_TABLE_H
#define CUSHIM_TABLE_H

#include "driver.h"

/* Fills the driver table from an open driver, which becomes the loaded one. */
void cush_table_fill(const struct driver *driver);

#endif
