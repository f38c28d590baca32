/* SPDX-License-Identifier: MIT */
/**
 * @file
 * An error for <cuda.h> and <ffnvcodec/dynlink_loader.h> that are included after cushim's own types: they declare the
 * same names. abi/mode.h refuses them if they come before cushim's own types.
 *
 * A header that comes later cannot be kept out. But a name that only this header uses, in its first declarations, can
 * be a macro. The macro reports the error and then ends the compilation with a file that does not exist, because
 * otherwise hundreds of redefinitions follow. The second pragma alone would not suffice: gcc reports no line for it.
 */
#ifndef CUSHIM_ABI_CONFLICT_H
#define CUSHIM_ABI_CONFLICT_H

#include "cushim/abi/mode.h"

#if CUSHIM_OWN_TYPES && defined(__GNUC__)

#    define CUSHIM_CONFLICT_STOP _Pragma("GCC dependency \"declarations that cushim's own types permit\"")

/* <cuda.h> begins with "typedef unsigned long long CUdeviceptr_v2;". In CUDA 11.2, "typedef struct CUipcEventHandle_st"
 * is the first conflict. */
#    define CUdeviceptr_v2                                                                                             \
        _Pragma(                                                                                                       \
            "GCC error \"cushim: <cuda.h> follows cushim's own types: remove one of the two. If this <cuda.h> belongs \
to your project, let it only define CUSHIM_OWN_TYPES as 1 and include <cushim/abi/cuda_abi.h>\"") CUSHIM_CONFLICT_STOP
#    define CUipcEventHandle_st CUdeviceptr_v2

/* With this definition, <ffnvcodec/dynlink_cuda.h> declares nothing. "struct CudaFunctions { tcuInit *cuInit;" follows
 * in <ffnvcodec/dynlink_loader.h>. */
#    define FFNV_DYNLINK_CUDA_H
#    define tcuInit                                                                                                    \
        _Pragma("GCC error \"cushim: <ffnvcodec/dynlink_loader.h> follows cushim's own types: use one of the two\"")   \
            CUSHIM_CONFLICT_STOP

#endif

#endif
