/* SPDX-License-Identifier: MIT */
/* Slots that cushim answers although the driver has them: under a version limit, with hidden functions, and for
 * cuGetProcAddress in the per-thread table. */
#ifndef CUSHIM_ADAPTED_H
#define CUSHIM_ADAPTED_H

#include "cushim/loader.h"

/* Replaces those slots in the driver table of a kind. */
void cush_adapted_install(enum cushim_default_stream kind);

#endif
