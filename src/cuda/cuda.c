/* SPDX-License-Identifier: MIT */
/*
 * cuda.c - every name that a driver exports, as a function that calls its slot in the current table.
 *
 * This file must not see <cuda.h>, whose macros would rename the definitions, so it is compiled with our own types.
 */
#define CUSHIM_OWN_TYPES 1
#include "cushim/dispatch_table.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */

#define CUSHIM_EXPORT(symbol, kind, function, abi, version, parameters, arguments)                                     \
    CUSHIM_REPLACEABLE CUresult CUDAAPI symbol parameters;                                                             \
    CUresult CUDAAPI symbol parameters                                                                                 \
    {                                                                                                                  \
        return cushim_table_##kind()->function##_##abi arguments;                                                      \
    }
#include "exports.inc"
