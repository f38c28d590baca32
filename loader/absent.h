/* SPDX-License-Identifier: MIT */
/* The table when there is no driver. A few slots return a true result all the same. */
#ifndef CUSHIM_ABSENT_H
#define CUSHIM_ABSENT_H

#include "cushim/loader.h"

extern const struct cushim_dispatch_table cush_absent_table;

/* Returns "NAME: sentence" for a code of the list, else NULL. */
const char *cush_absent_describe(CUresult code);

#endif
