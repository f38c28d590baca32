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
#    define TABLE_legacy CUSHIM_LOAD_DEPENDENT(&CUSHIM_CURRENT_LEGACY)
#    define TABLE_per_thread CUSHIM_LOAD_DEPENDENT(&CUSHIM_CURRENT_PER_THREAD)
#else
#    define TABLE_legacy cushim_table_legacy()
#    define TABLE_per_thread cushim_table_per_thread()
#endif

#define CUSHIM_EXPORT(symbol, kind, function, abi, parameters, arguments)                                              \
    CUSHIM_REPLACEABLE CUresult CUDAAPI symbol parameters;                                                             \
    CUresult CUDAAPI symbol parameters                                                                                 \
    {                                                                                                                  \
        return TABLE_##kind->function##_##abi arguments;                                                               \
    }
#include "lists/exports.inc"
