/* SPDX-License-Identifier: MIT */
/* Where a driver may be, when neither the caller nor the system's loader knew. */
#ifndef CUSHIM_CANDIDATES_H
#define CUSHIM_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the path of the index'th known place, below `root`; false past the last. `kernel_module` is the kernel
 * module's version or "": a place whose name contains it is "" (nothing to look at) without it.
 */
bool candidates_path(size_t index, const char *root, const char *kernel_module, char *path, size_t size);

#endif
