/* SPDX-License-Identifier: MIT */
/* Devices: as many as SOFTCUDA_DEVICES says, all alike. */
#ifndef SOFT_DEVICE_H
#define SOFT_DEVICE_H

#include "soft.h"

enum { DEVICE_MAX = 64 };

int device_count(void);
bool device_exists(CUdevice device);

/* Bytes that each has (SOFTCUDA_MEMORY). */
size_t device_memory(void);

/* Whether the first form of values in memory works (SOFTCUDA_VALUE_OPS): not by default, as on a real machine. */
bool device_has_value_ops(void);

#endif
