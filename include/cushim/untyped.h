/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The part of the API that has none of CUDA's types: loading, the functions of the driver by name, and why there is no
 * usable driver. It is for a project with a <cuda.h> of its own, whole or partial, and pointers of its own to the
 * functions of the driver. The header compiles beside every <cuda.h>, before or after it. A result code is an int here;
 * 0 is CUDA_SUCCESS.
 *
 * A source file includes this header or cushim.h, and a program can have files of both kinds.
 *
 * @code
 * typedef int (*get_count_fn)(int *);
 *
 * get_count_fn find_get_count(const char **out_why)
 * {
 *     *out_why = cushim_load(NULL) == 0 ? "" : cushim_diagnosis_get()->message;
 *     return (get_count_fn)cushim_symbol_if_available("cuDeviceGetCount");
 * }
 * @endcode
 */
#ifndef CUSHIM_UNTYPED_H
#define CUSHIM_UNTYPED_H

/* After headers with the types, the functions of this header are declared already. */
#if !defined(CUSHIM_CUDA_ABI_H)
#    define CUSHIM_UNTYPED
#endif

#include "cushim/load.h"
#include "cushim/diagnosis.h"
#include "cushim/lookup.h"
#include "cushim/choose.h"
#include "cushim/companion.h"
#include "cushim/gpu.h"
#include "cushim/nvrtc.h"
#include "cushim/error.h"
#include "cushim/version.h"

#endif
