/* SPDX-License-Identifier: MIT */
/* What a slot points at when the driver has neither the entry point nor an older one of the same meaning. */
#ifndef CUSHIM_MISSING_H
#define CUSHIM_MISSING_H

#include "cushim/loader.h"

extern const struct cushim_dispatch_table cush_missing_table;

#endif
