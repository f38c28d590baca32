/* SPDX-License-Identifier: MIT */
/* The known paths of the driver, which are tried if the dynamic loader does not find it. */
#ifndef CUSHIM_LOADER_CANDIDATES_H
#define CUSHIM_LOADER_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the known path with this index, below `root`. Returns false past the last one. The path is "", and is skipped,
 * if it contains the version of the kernel module and that is not known.
 */
bool cush_candidates_path(size_t index, const char *root, char *path, size_t size);

#endif
