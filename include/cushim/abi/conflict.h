/* SPDX-License-Identifier: MIT */
/*
 * abi_conflict.h - an error for <cuda.h> and <ffnvcodec/dynlink_loader.h> that follow our own types: they declare the
 * same names. abi/mode.h refuses them before our own types.
 *
 * A header that comes later cannot be kept out. But a name that only <cuda.h> uses, in its first declarations, can be a
 * macro, which reports the error and takes the rest of the header as the argument of another macro. Then the compiler
 * reports this error first, and that the argument does not end, in place of hundreds of redefinitions.
 */
#ifndef CUSHIM_ABI_CONFLICT_H
#define CUSHIM_ABI_CONFLICT_H

#include "cushim/abi/mode.h"

#if CUSHIM_OWN_TYPES && defined(__GNUC__)

#    define CUSHIM_CONFLICT_SKIP(...)

/* The block extern "C" ends here, because its own end is skipped. */
#    ifdef __cplusplus
#        define CUSHIM_CONFLICT_END_BLOCK }
#    else
#        define CUSHIM_CONFLICT_END_BLOCK
#    endif

/* <cuda.h> begins with "typedef unsigned long long CUdeviceptr_v2;". In CUDA 11.2, "typedef struct CUipcEventHandle_st"
 * is the first conflict. */
#    define CUdeviceptr_v2                                                                                             \
        cushim_conflict;                                                                                               \
        CUSHIM_CONFLICT_END_BLOCK                                                                                      \
        _Pragma("GCC error \"cushim: <cuda.h> follows cushim's own types: include it first, or leave it out\"") \
        extern int CUSHIM_CONFLICT_SKIP(
#    define CUipcEventHandle_st cushim_conflict_tag *CUdeviceptr_v2

/* With this definition, <ffnvcodec/dynlink_cuda.h> declares nothing. "struct CudaFunctions { tcuInit *cuInit;" follows
 * in <ffnvcodec/dynlink_loader.h>. */
#    define FFNV_DYNLINK_CUDA_H
#    define tcuInit                                                                                                    \
        int cushim_conflict;                                                                                           \
        }                                                                                                              \
        CudaFunctions;                                                                                                 \
        _Pragma("GCC error \"cushim: <ffnvcodec/dynlink_loader.h> follows cushim's own types: use one of the two\"") \
        extern int CUSHIM_CONFLICT_SKIP(

#endif

#endif
