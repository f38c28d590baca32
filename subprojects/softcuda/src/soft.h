/* SPDX-License-Identifier: MIT */
/* Shared by all files of softcuda: the types of the driver, objects, and the driver that a library represents. */
#ifndef SOFT_SOFT_H
#define SOFT_SOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cushim/abi/cuda_abi.h"
#include "cushim/abi/egl.h"

#include "object.h"

/* One definition for each library, in variant.c. */
extern const int soft_version;   /* 12040 */
extern const char soft_driver[]; /* "550" */

#endif
