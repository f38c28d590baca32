/* SPDX-License-Identifier: MIT */
/**
 * @file
 * An error for <cuda.h> and <ffnvcodec/dynlink_loader.h> that are included after cushim's own types: they declare the
 * same names. abi/mode.h refuses them if they come before cushim's own types.
 *
 * A header that comes later cannot be kept out. But a name that only <cuda.h> uses, in its first declarations, can be a
 * macro, which reports the error and takes the rest of the header as the argument of another macro. The compiler then
 * reports this error first, and then that the argument does not end, instead of hundreds of redefinitions.
 */
#ifndef CUSHIM_ABI_CONFLICT_H
#define CUSHIM_ABI_CONFLICT_H

#include "cushim/abi/mode.h"

#if CUSHIM_OWN_TYPES && defined(__GNUC__)

#    define CUSHIM_CONFLICT_SKIP(...)

/* Ends the block extern "C" here, because its own end is skipped. */
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
        _Pragma("GCC error \"cushim: <cuda.h> follows cushim's own types: include it first, or remove it\"") \
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
