/* SPDX-License-Identifier: MIT */
/* Devices: SOFTCUDA_DEVICES of them, all alike. */
#ifndef SOFT_DEVICE_H
#define SOFT_DEVICE_H

#include "soft.h"

enum { DEVICE_MAX = 64 };

int device_count(void);
bool device_exists(CUdevice device);

/* The memory of each device in bytes (SOFTCUDA_MEMORY). */
size_t device_memory(void);

/* Whether the first version of the value operations works (SOFTCUDA_VALUE_OPS): not by default, as on a real
 * machine. */
bool device_has_value_ops(void);

#endif
