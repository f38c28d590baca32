/* SPDX-License-Identifier: MIT */
/* cuGetProcAddress for every driver: it obeys the version limit and the hidden functions. */
#ifndef CUSHIM_LOOKUP_ENTRY_H
#define CUSHIM_LOOKUP_ENTRY_H

#include "cushim/loader.h"

/* Looks in the loaded driver; `version` is at most the driver's. *out_fn is NULL unless CUSHIM_LOOKUP_FOUND. */
enum cushim_lookup_status cush_lookup_entry(const char *function, int version, enum cushim_default_stream kind,
                                            cushim_fn *out_fn);

#endif
