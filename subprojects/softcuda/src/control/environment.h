/* SPDX-License-Identifier: MIT */
/* The environment variables, of which SOFTCUDA_FAIL, _HIDE and _LATE_CALLBACKS are read when the library is loaded. */
#ifndef SOFT_ENVIRONMENT_H
#define SOFT_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* The number in an environment variable, or `otherwise`. */
uint64_t environment_number(const char *name, uint64_t otherwise);

/* Whether SOFTCUDA_HIDE names the symbol. Needs no lock. */
bool environment_hides(const char *symbol);

#endif
