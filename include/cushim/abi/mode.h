/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The choice between NVIDIA's declarations of the driver's types, from <cuda.h>, and cushim's own.
 *
 * The program may define CUSHIM_OWN_TYPES before it includes the first header of cushim:
 * - 1: cushim's own declarations. No Toolkit is needed, and <cuda.h> must not have been included before.
 * - 0: the declarations of <cuda.h>, which must exist.
 * - undefined: <cuda.h> if the compiler finds one, else cushim's own.
 *
 * A project with a partial <cuda.h> of its own replaces the contents of that file by these lines, and may
 * include it before or after headers of cushim:
 *
 *     #pragma once
 *     #define CUSHIM_OWN_TYPES 1
 *     #include <cushim/abi/cuda_abi.h>
 *
 * CUSHIM_CUDA_HEADER_VERSION is the CUDA_VERSION of that <cuda.h>, or 0 with cushim's own types. A declaration that a
 * CUDA version added stands once, behind "#if CUSHIM_CUDA_HEADER_VERSION < that version": it is used with cushim's own
 * types, and supplements every older <cuda.h>. "== 0" stands before declarations that the oldest supported Toolkit,
 * 11.2, already has.
 */
#ifndef CUSHIM_ABI_MODE_H
#define CUSHIM_ABI_MODE_H

#include <stddef.h>
#include <stdint.h>

/* Headers of other projects that declare the same names to replace <cuda.h>. After each error here, the inclusion of a
 * header that does not exist ends the compilation; otherwise hundreds of errors would follow. */
#if defined(FFNV_DYNLINK_CUDA_H)
#    error "cushim: <ffnvcodec/dynlink_cuda.h> was included before and declares the same types: use only one of the two"
#    include "cushim/see_the_error_above.h"
#elif defined(__CUEW_H__)
#    error "cushim: <cuew.h> was included before and declares the same types: use only one of the two"
#    include "cushim/see_the_error_above.h"
#endif

#if defined(CUSHIM_UNTYPED)
#    error "cushim: <cushim/untyped.h> was included before, which has no types: include <cushim/cushim.h> in its place"
#    include "cushim/see_the_error_above.h"
#endif

#if !defined(CUSHIM_OWN_TYPES) && !defined(CUDA_VERSION) && defined(__has_include)
#    if __has_include(<cuda.h>)
#        include <cuda.h> /* that of a project defines CUSHIM_OWN_TYPES */
#        ifndef CUSHIM_OWN_TYPES
#            define CUSHIM_OWN_TYPES 0
#        endif
#    endif
#endif
#ifndef CUSHIM_OWN_TYPES
#    ifdef CUDA_VERSION
#        define CUSHIM_OWN_TYPES 0
#    else
#        define CUSHIM_OWN_TYPES 1
#    endif
#endif

#if CUSHIM_OWN_TYPES

#    if defined(CUDA_VERSION) || defined(__cuda_cuda_h__)
#        error "cushim: CUSHIM_OWN_TYPES is 1, but <cuda.h> was included before: remove one of the two. If \
this <cuda.h> belongs to your project, let it only define CUSHIM_OWN_TYPES as 1 and include <cushim/abi/cuda_abi.h>"
#        include "cushim/see_the_error_above.h"
#    endif
#    define CUSHIM_CUDA_HEADER_VERSION 0

#    ifdef _WIN32
#        define CUDAAPI __stdcall
#        define CUDA_CB __stdcall
#    else
#        define CUDAAPI
#        define CUDA_CB
#    endif

#else

#    ifndef CUDA_VERSION
#        include <cuda.h>
#    endif
#    ifndef CUDA_VERSION
#        error "cushim: this <cuda.h> is not NVIDIA's. If it belongs to your project, let it only define \
CUSHIM_OWN_TYPES as 1 and include <cushim/abi/cuda_abi.h>"
#        include "cushim/see_the_error_above.h"
#    endif
#    if CUDA_VERSION < 11020
#        error "cushim: this <cuda.h> is older than CUDA 11.2: define CUSHIM_OWN_TYPES as 1, and do not include it"
#        include "cushim/see_the_error_above.h"
#    endif
#    define CUSHIM_CUDA_HEADER_VERSION CUDA_VERSION

#endif

/* In C++ an enum without a fixed type can hold only values that fit into the bits of its enumerators, and later CUDA
 * versions add values. */
#ifdef __cplusplus
#    define CUSHIM_ENUM_BASE : unsigned int
#else
#    define CUSHIM_ENUM_BASE
#endif

#endif
