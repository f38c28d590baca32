/* SPDX-License-Identifier: MIT */
/* Finds one entry point in an open driver: by its exact name, else by cuGetProcAddress. */
#ifndef CUSHIM_LOADER_RESOLVE_H
#define CUSHIM_LOADER_RESOLVE_H

#include "driver.h"

/* Whether a driver that obeys version limit and hidden functions has this row. */
bool cush_resolve_allows(const struct driver *driver, size_t row);

/* The entry point of a row, or NULL. Looks neither at the version limit nor at hidden functions. */
cushim_fn cush_resolve_row(struct driver *driver, size_t row, enum cushim_default_stream kind);

/* What the driver itself answers for a function at a version, if its answers can be trusted; else NULL. */
cushim_fn cush_resolve_by_proc_address(struct driver *driver, const char *function, int version,
                                       enum cushim_default_stream kind);

/* Whether the driver has a cuGetProcAddress that can be trusted. */
bool cush_resolve_has_proc_address(struct driver *driver);

#endif
