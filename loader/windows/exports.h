/* SPDX-License-Identifier: MIT */
/* The list of names that a DLL exports, read where the system has mapped it. */
#ifndef CUSHIM_LOADER_EXPORTS_H
#define CUSHIM_LOADER_EXPORTS_H

#include "cushim/loader.h"

/* The first exported name of exactly this address in the DLL `module`, or NULL. It stands in the DLL itself. */
const char *cush_exports_name(const void *module, cushim_fn address);

#endif
