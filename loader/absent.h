/* SPDX-License-Identifier: MIT */
/* The table when there is no driver. A few slots still have something true to say. */
#ifndef CUSHIM_ABSENT_H
#define CUSHIM_ABSENT_H

#include "cushim/loader.h"

extern const struct cushim_dispatch_table cush_absent_table;

#endif
