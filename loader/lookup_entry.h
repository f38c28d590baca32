/* SPDX-License-Identifier: MIT */
/* cuGetProcAddress for every driver: version limit, hidden functions and the per-thread choice are followed. */
#ifndef CUSHIM_LOOKUP_ENTRY_H
#define CUSHIM_LOOKUP_ENTRY_H

#include "cushim/loader.h"

/* Looks in the loaded driver; `version` is at most the driver's. *out_fn is NULL unless CUSHIM_LOOKUP_FOUND. */
enum cushim_lookup_status cush_lookup_entry(const char *function, int version, bool per_thread, cushim_fn *out_fn);

#endif
