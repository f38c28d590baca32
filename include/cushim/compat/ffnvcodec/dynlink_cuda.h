/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Replaces <ffnvcodec/dynlink_cuda.h> of nv-codec-headers: the driver's types, and a function type for each entry
 * point, such as tcuMemAlloc_v2. The types are those of <cuda.h> if that was included before, otherwise cushim's own.
 */
#ifndef CUSHIM_COMPAT_DYNLINK_CUDA_H
#define CUSHIM_COMPAT_DYNLINK_CUDA_H

#if !defined(CUSHIM_OWN_TYPES) && !defined(CUDA_VERSION)
#    define CUSHIM_OWN_TYPES 1
#endif
#include "cushim/abi/cuda_abi.h"

#if CUSHIM_OWN_TYPES
#    include "cushim/abi/egl.h" /* the loader's interface has a frame that is passed by value */
/* These definitions refuse the original, whose names this header provides. Like the original, it reports a version, so
 * that <cuda.h> is not included again; its program is written for that version. */
#    undef tcuInit
#    undef FFNV_DYNLINK_CUDA_H
#    ifndef CUDA_VERSION
#        define CUDA_VERSION 7050
#    endif
#endif

/* The name of a function type, from the function and its ABI version. */
#define CUSHIM_TYPE_v1(function) tcu##function
#define CUSHIM_TYPE_v2(function) tcu##function##_v2
#define CUSHIM_TYPE_v3(function) tcu##function##_v3
#define CUSHIM_TYPE_v4(function) tcu##function##_v4
#define CUSHIM_ENTRY(function, abi, since, params, args) typedef CUresult CUDAAPI CUSHIM_TYPE_##abi(function) params;
#include "cushim/entry_points.h"

#endif
