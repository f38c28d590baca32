/* SPDX-License-Identifier: MIT */
/* Where a driver may be, when neither the caller nor the dynamic loader knew. */
#ifndef CUSHIM_LOADER_CANDIDATES_H
#define CUSHIM_LOADER_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the path of the index'th known place, below `root`; false past the last. It is "", nothing to look at, where
 * the name contains the kernel module's version and that is not to be had.
 */
bool cush_candidates_path(size_t index, const char *root, char *path, size_t size);

#endif
