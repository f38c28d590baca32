/* SPDX-License-Identifier: MIT */
/*
 * abi/mode.h - whose declarations of the driver's types are in use: NVIDIA's <cuda.h>, or our own.
 *
 * CUSHIM_OWN_TYPES, defined before the first header of ours:
 *   1          our own declarations; no Toolkit is needed, and none may have been included before
 *   0          <cuda.h>, which then must be there
 *   undefined  <cuda.h> where the compiler finds one, our own otherwise
 *
 * CUSHIM_CUDA_HEADER_VERSION is the CUDA_VERSION of that <cuda.h>, or 0 with our own types. Whatever a version brought
 * is declared once, behind "#if CUSHIM_CUDA_HEADER_VERSION < that version": for our own types, and as a supplement to
 * every older <cuda.h>. "== 0" stands before what is older than the oldest Toolkit that we support, 11.2.
 */
#ifndef CUSHIM_ABI_MODE_H
#define CUSHIM_ABI_MODE_H

#include <stddef.h>
#include <stdint.h>

/* Declarations of the same names by others, made to stand in for <cuda.h>. After each error here, a header that does
 * not exist ends the compilation: hundreds of errors would follow. */
#if defined(FFNV_DYNLINK_CUDA_H)
#    error "cushim: <ffnvcodec/dynlink_cuda.h> was included before, and declares the same types: use one of the two"
#    include "cushim/see_the_error_above.h"
#elif defined(__CUEW_H__)
#    error "cushim: <cuew.h> was included before, and declares the same types: use one of the two"
#    include "cushim/see_the_error_above.h"
#endif

#ifndef CUSHIM_OWN_TYPES
#    if defined(CUDA_VERSION)
#        define CUSHIM_OWN_TYPES 0
#    elif defined(__has_include)
#        if __has_include(<cuda.h>)
#            define CUSHIM_OWN_TYPES 0
#        else
#            define CUSHIM_OWN_TYPES 1
#        endif
#    else
#        define CUSHIM_OWN_TYPES 1
#    endif
#endif

#if CUSHIM_OWN_TYPES

#    if defined(CUDA_VERSION) || defined(__cuda_cuda_h__)
#        error "cushim: CUSHIM_OWN_TYPES is 1, but <cuda.h> was included before: leave one of the two out"
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
#        error "cushim: this <cuda.h> is not NVIDIA's: define CUSHIM_OWN_TYPES as 1 to do without it"
#        include "cushim/see_the_error_above.h"
#    endif
#    if CUDA_VERSION < 11020
#        error "cushim: this <cuda.h> is older than CUDA 11.2: define CUSHIM_OWN_TYPES as 1 to do without it"
#        include "cushim/see_the_error_above.h"
#    endif
#    define CUSHIM_CUDA_HEADER_VERSION CUDA_VERSION

#endif

/* C++ allows only such values of an enum as its bits can hold, and later versions of CUDA add some: name the type. */
#ifdef __cplusplus
#    define CUSHIM_ENUM_BASE : unsigned int
#else
#    define CUSHIM_ENUM_BASE
#endif

#endif
