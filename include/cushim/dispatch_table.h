/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The dispatch table: one typed function pointer for each entry point of the driver. loader.h has the general rules.
 */
#ifndef CUSHIM_DISPATCH_TABLE_H
#define CUSHIM_DISPATCH_TABLE_H

#include "cushim/attributes.h"
#include "cushim/abi/cuda_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The slots: one typed pointer for each entry point in entry_points.h, named by function and ABI version, such as
 * StreamGetCaptureInfo_v3. No slot is ever NULL. A call looks like cushim_table()->StreamQuery_v1(stream).
 */
struct cushim_dispatch_table {
#define CUSHIM_ENTRY(function, abi, since, params, args) CUresult(CUDAAPI *function##_##abi) params;
#include "cushim/entry_points.h"
};

/** The same list as numbers: CUSHIM_SLOT_StreamGetCaptureInfo_v3. */
enum cushim_slot {
#define CUSHIM_ENTRY(function, abi, since, params, args) CUSHIM_SLOT_##function##_##abi,
#include "cushim/entry_points.h"
    CUSHIM_SLOT_COUNT
};

#if CUSHIM_INLINE_TABLE
extern CUSHIM_API const struct cushim_dispatch_table *cushim_current_table;
#endif

/**
 * Returns the current table, which is complete and immutable. It is one of these:
 * - bootstrap: current at program start. The first call through any slot loads the driver as cushim_load(NULL) does,
 *   always with the legacy default stream, and then makes the call. A program that is compiled for per-thread default
 *   streams must therefore call cushim_load() first.
 * - absent: no driver could be loaded. cuDriverGetVersion and cuDeviceGetCount give 0 with success, cuGetErrorName and
 *   cuGetErrorString work, and every other slot, cuInit included, returns CUDA_ERROR_NO_DEVICE.
 * - driver: a driver is loaded.
 *
 * The program can call this function at each use: it is one load instruction where the compiler allows it (see
 * ::CUSHIM_INLINE_TABLE). It can also keep the pointer after a successful cushim_load(), because a loaded driver stays
 * loaded for the life of the process.
 *
 * @return The table, never NULL.
 */
#if CUSHIM_INLINE_TABLE
static inline const struct cushim_dispatch_table *cushim_table(void)
{
    return CUSHIM_LOAD_ACQUIRE(&cushim_current_table);
}
#else
CUSHIM_API const struct cushim_dispatch_table *cushim_table(void);
#endif

#ifdef __cplusplus
}
#endif

#endif
