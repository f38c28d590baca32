/* SPDX-License-Identifier: MIT */
/* The state of the driver in this process. */
#ifndef SOFT_DRIVER_H
#define SOFT_DRIVER_H

#include <stdbool.h>

/* Whether cuInit has succeeded, and whether this is a forked child of that process. */
bool soft_initialised(void);
bool soft_forked(void);

#endif
