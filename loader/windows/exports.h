/* SPDX-License-Identifier: MIT */
/* The names that a DLL exports, read from the mapped DLL. */
#ifndef CUSHIM_LOADER_EXPORTS_H
#define CUSHIM_LOADER_EXPORTS_H

#include "cushim/loader.h"

/* Returns the first exported name of exactly this address in the DLL `module`, or NULL. The string is in the DLL. */
const char *cush_exports_name(const void *module, cushim_fn address);

#endif
