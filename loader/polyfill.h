/* SPDX-License-Identifier: MIT */
/*
 * Slots that older entry points can serve with the same meaning. A polyfill calls slots of the driver table of its own
 * kind, never of the current table, so that a version limit holds for it, too. Where a call asks for more than the
 * older entry point can give, a polyfill returns CUDA_ERROR_NOT_SUPPORTED and changes nothing.
 */
#ifndef CUSHIM_POLYFILL_H
#define CUSHIM_POLYFILL_H

#include "driver.h"
#include "error.h"

/* Records and returns the refusal of a call that asks for too much. `why` is a sentence. */
CUresult cush_fail_polyfill(enum cushim_slot slot, const char *why);

/*
 * The files polyfills_*.c contain each polyfill once. They are compiled for the table of the legacy default stream, and
 * through polyfills_per_thread.c for the other table. POLYFILL(slot) names a polyfill, which has the type of its slot.
 */
#ifdef POLYFILL_PER_THREAD
#    define POLYFILL_KIND CUSHIM_DEFAULT_STREAM_PER_THREAD
#    define POLYFILL(slot) cush_polyfill_per_thread_##slot
#else
#    define POLYFILL_KIND CUSHIM_DEFAULT_STREAM_LEGACY
#    define POLYFILL(slot) cush_polyfill_legacy_##slot
#endif
#define TABLE (&cush_driver_tables[POLYFILL_KIND].named)
#define ORIGINS (cush_driver_origins[POLYFILL_KIND])

#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    CUresult CUDAAPI cush_polyfill_legacy_##function##_##abi params;                                                   \
    CUresult CUDAAPI cush_polyfill_per_thread_##function##_##abi params;
#include "cushim/entry_points.h"

/* Returns whether all edges are plain: `edges` is NULL, or all data is zero. */
bool cush_polyfill_edges_are_plain(const CUgraphEdgeData *edges, size_t count);

#endif
