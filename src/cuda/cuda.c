/* SPDX-License-Identifier: MIT */
/*
 * cuda.c - every name that a driver exports, as a function that calls its slot in the current table.
 *
 * This file must not see <cuda.h>, whose macros would rename the definitions, so it is compiled with our own types.
 */
#define CUSHIM_OWN_TYPES 1
#include "cushim/dispatch_table.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */

#if CUSHIM_INLINE_TABLE
#    define CURRENT_TABLE(kind) CUSHIM_LOAD_DEPENDENT(&cushim_current_##kind##_0_2)
#else
#    define CURRENT_TABLE(kind) cushim_table_##kind()
#endif

#define CUSHIM_EXPORT(symbol, kind, function, abi, version, parameters, arguments)                                     \
    CUSHIM_REPLACEABLE CUresult CUDAAPI symbol parameters;                                                             \
    CUresult CUDAAPI symbol parameters                                                                                 \
    {                                                                                                                  \
        return CURRENT_TABLE(kind)->function##_##abi arguments;                                                        \
    }
#include "exports.inc"
