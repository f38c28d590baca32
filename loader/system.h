/* SPDX-License-Identifier: MIT */
/* What the operating system shows of an NVIDIA GPU; see cushim_query_system(). */
#ifndef CUSHIM_LOADER_SYSTEM_H
#define CUSHIM_LOADER_SYSTEM_H

#include "cushim/loader.h"

/* Writes the version of the kernel's part of the driver, or "". */
void cush_system_kernel_module(const char *root, char *version, size_t size);

#endif
