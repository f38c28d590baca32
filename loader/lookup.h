/* SPDX-License-Identifier: MIT */
/* Which entry point a function name means: the newest one up to a CUDA version, in the list and in the driver. */
#ifndef CUSHIM_LOADER_LOOKUP_H
#define CUSHIM_LOADER_LOOKUP_H

#include "driver.h"

/* Looks in the loaded driver; `version` is at most the driver's. *out_fn is NULL unless CUSHIM_LOOKUP_FOUND. */
CUSHIM_COLD enum cushim_lookup_status cush_lookup_entry(const char *function, int version,
                                                        enum cushim_default_stream kind, cushim_fn *out_fn);

/* Returns the index of the newest entry point of a function that a CUDA version has; ENTRY_COUNT if it has none, or the
 * list lacks it. */
CUSHIM_COLD size_t cush_lookup_newest_index(const char *function, int version, enum cushim_default_stream kind);

/* Returns what the loaded driver exports under a name that is not in the list, unless it is hidden or limited. */
CUSHIM_COLD cushim_fn cush_lookup_unlisted_symbol(const char *symbol);

/* Returns whether the loaded driver has any entry point of a function in the list. */
bool cush_lookup_has_function(const char *function, enum cushim_default_stream kind);

#endif
