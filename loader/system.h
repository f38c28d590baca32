/* SPDX-License-Identifier: MIT */
/* The kernel module of the driver; cushim/system.h has the rest of what the operating system shows. */
#ifndef CUSHIM_LOADER_SYSTEM_H
#define CUSHIM_LOADER_SYSTEM_H

#include "cushim/loader.h"

/* Writes the version of the kernel module, or "" if it is not loaded. */
void cush_system_kernel_module(const char *root, char *version, size_t size);

#endif
