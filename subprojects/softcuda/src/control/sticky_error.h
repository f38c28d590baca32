/* SPDX-License-Identifier: MIT */
/* The sticky error of each device: every context of the device has it, and no reset clears it. */
#ifndef SOFT_STICKY_ERROR_H
#define SOFT_STICKY_ERROR_H

#include "soft.h"

CUresult sticky_error(int device);
void sticky_error_set(int device, CUresult error);
void sticky_error_clear(void);

#endif
