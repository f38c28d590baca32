/* SPDX-License-Identifier: MIT */
/*
 * soft.h - shared by all files of softcuda.
 *
 * A function of the driver is soft_<slot>, such as soft_StreamQuery_v1. Its prototype is made here from cushim's typed
 * list, so a wrong type does not compile; exports/exports.c makes its exported names. Every soft_ function, and every
 * function that takes or returns one of our structs, runs under the one lock (os_lock), which the exported wrapper
 * takes. A function that waits or runs a function of the user releases the lock meanwhile.
 */
#ifndef SOFT_SOFT_H
#define SOFT_SOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cushim/abi/cuda_abi.h"
#include "cushim/abi/egl.h"

#include "driver.h"
#include "object.h"
#include "thread.h"
#include "variant.h"

#define CUSHIM_ENTRY(driver_function, abi, since, params, args) CUresult soft_##driver_function##_##abi params;
#include "cushim/entry_points.h"

#endif
