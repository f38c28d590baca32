/* SPDX-License-Identifier: MIT */
/* cuGetProcAddress for every driver, with version limit, hidden functions and the per-thread choice obeyed. */
#ifndef CUSHIM_LOOKUP_H
#define CUSHIM_LOOKUP_H

#include "cushim/loader.h"

enum lookup_result { LOOKUP_FOUND, LOOKUP_NO_FUNCTION, LOOKUP_NEEDS_NEWER };

/* Looks in the loaded driver; `version` is at most the driver's. *out_fn is NULL unless found. */
enum lookup_result cush_lookup_entry(const char *function, int version, bool per_thread, cushim_fn *out_fn);

#endif
