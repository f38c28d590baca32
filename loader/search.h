/* SPDX-License-Identifier: MIT */
/* Tries the paths of a request until one of them opens a driver, and records each attempt in the diagnosis. */
#ifndef CUSHIM_LOADER_SEARCH_H
#define CUSHIM_LOADER_SEARCH_H

#include "driver.h"
#include "request.h"

/*
 * Returns true if a driver was opened: it is not a stub, and its version is known. Otherwise nothing is open, and the
 * builder has the reason. In both cases the builder has every attempt.
 */
bool cush_search_driver(const struct request *request, struct driver *driver, struct diagnosis_builder *builder);

#endif
