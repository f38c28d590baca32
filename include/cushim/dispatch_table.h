/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The dispatch tables: one typed function pointer for each entry point of the driver, in a table for each default
 * stream. loader.h has the general rules.
 *
 * @code
 * CUresult fill(CUdeviceptr memory, size_t size, CUstream stream)
 * {
 *     return cushim_table()->MemsetD8Async_v1(memory, 0, size, stream); // a slot is never NULL
 * }
 * @endcode
 */
#ifndef CUSHIM_DISPATCH_TABLE_H
#define CUSHIM_DISPATCH_TABLE_H

#include "cushim/attributes.h"
#include "cushim/default_stream.h"
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

/*
 * The pointers to the current tables, a pair for each release in table_releases.h. cushim_table() reads one of the
 * newest pair. Where the compiler cannot read a pointer of another module, they are functions.
 */
#if CUSHIM_INLINE_TABLE
#    define CUSHIM_TABLE_VERSION(release, slots)                                                                       \
        extern CUSHIM_API const struct cushim_dispatch_table *cushim_current_legacy_##release;                         \
        extern CUSHIM_API const struct cushim_dispatch_table *cushim_current_per_thread_##release;
#else
#    define CUSHIM_TABLE_VERSION(release, slots)                                                                       \
        CUSHIM_API const struct cushim_dispatch_table *cushim_current_legacy_##release(void);                          \
        CUSHIM_API const struct cushim_dispatch_table *cushim_current_per_thread_##release(void);
#endif
#include "cushim/table_releases.h"

/**
 * Returns the current table for the legacy default stream.
 *
 * The table is complete and immutable. It is one of these:
 * - bootstrap: current at program start. The first call through any slot loads the driver as cushim_load(NULL) does,
 *   and then makes the call.
 * - null driver: no driver could be loaded. cuDriverGetVersion and cuDeviceGetCount succeed with 0, cuGetErrorName and
 *   cuGetErrorString work, and every other slot, cuInit included, returns CUDA_ERROR_NO_DEVICE. For that code,
 *   cuGetErrorString gives the message of the diagnosis, which says why there is no driver and is never freed.
 * - driver: a driver is loaded.
 * - layered: the null driver or the driver table with slots that layers have replaced (layer.h).
 *
 * The program can call this function at each use: it is one or two load instructions where the compiler allows it (see
 * CUSHIM_INLINE_TABLE). It can also keep the pointer after a successful cushim_load(), because a loaded driver stays
 * loaded for the life of the process.
 *
 * @return The table, never NULL.
 */
static inline const struct cushim_dispatch_table *cushim_table_legacy(void)
{
#if CUSHIM_INLINE_TABLE
    return CUSHIM_LOAD_ACQUIRE(&CUSHIM_CURRENT_LEGACY);
#else
    return CUSHIM_CURRENT_LEGACY();
#endif
}

/**
 * Returns the current table for the per-thread default stream: as cushim_table_legacy(), except that a stream argument
 * of 0 means the calling thread's own default stream.
 *
 * With a driver before CUDA 7.0 the slots with a stream argument (or an implied default stream, such as cuMemcpy) are
 * missing from this table. So are the oldest ABI versions of some functions (cuMemcpy2D of CUDA 2.0), which never had a
 * per-thread variant.
 */
static inline const struct cushim_dispatch_table *cushim_table_per_thread(void)
{
#if CUSHIM_INLINE_TABLE
    return CUSHIM_LOAD_ACQUIRE(&CUSHIM_CURRENT_PER_THREAD);
#else
    return CUSHIM_CURRENT_PER_THREAD();
#endif
}

/**
 * Returns the current table of the kind for which the calling translation unit is compiled: the per-thread one with
 * CUDA_API_PER_THREAD_DEFAULT_STREAM, otherwise the legacy one.
 *
 * @note Do not call it in an inline function or a template of a C++ header that is included by units of both kinds: the
 *       linker keeps one body for all of them. Call cushim_table_legacy() or cushim_table_per_thread() there.
 */
static inline const struct cushim_dispatch_table *cushim_table(void)
{
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
    return cushim_table_per_thread();
#else
    return cushim_table_legacy();
#endif
}

/**
 * Returns the current table of a kind, as cushim_table_legacy() and cushim_table_per_thread() do, for languages that
 * cannot call inline functions: the table is an array of function pointers, and enum cushim_slot has the indices
 * (cushim_slot_find()).
 *
 * @return The table; NULL if kind is out of range.
 */
CUSHIM_API const struct cushim_dispatch_table *cushim_table_get(enum cushim_default_stream kind);

#ifdef __cplusplus
}
#endif

#endif
