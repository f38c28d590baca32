/* SPDX-License-Identifier: MIT */
/*
 * Slots that older entry points can serve with the same meaning. A polyfill calls slots of the driver table of its own
 * kind, never of the current table, so that a version limit holds for it, too. Where a call asks for more than the
 * older entry point can give, a polyfill returns CUDA_ERROR_NOT_SUPPORTED and changes nothing.
 */
#ifndef CUSHIM_LOADER_POLYFILLS_H
#define CUSHIM_LOADER_POLYFILLS_H

#include <string.h>

#include "driver.h"
#include "error.h"

/*
 * A polyfill whose slot is the same in both tables exists once, in polyfills_context.c and polyfills_graph.c, and calls
 * slots that are the same, too. SHARED_POLYFILL(name) is its name, or that of a static function. The others are in
 * polyfills_stream.c, which is compiled for the table of the legacy default stream, and through polyfills_per_thread.c
 * for the other table. POLYFILL(name) is such a name for the table of that kind.
 */
#define SHARED_POLYFILL(name) cush_polyfill_shared_##name
#define POLYFILL_KIND CUSHIM_DEFAULT_STREAM_LEGACY
#define POLYFILL(name) cush_polyfill_legacy_##name
#define TABLE (&cush_driver_tables[POLYFILL_KIND].named)
#define ORIGINS (cush_driver_origins[POLYFILL_KIND])

/* A polyfill has the type of its slot. */
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    CUresult CUDAAPI cush_polyfill_shared_##function##_##abi params;
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args)                                                       \
    CUresult CUDAAPI cush_polyfill_legacy_##function##_##abi params;                                                   \
    CUresult CUDAAPI cush_polyfill_per_thread_##function##_##abi params;
#include "cushim/entry_points.h"

/* Whether all edges are plain: `edges` is NULL, or all data is zero. */
static inline bool polyfill_edges_are_plain(const CUgraphEdgeData *edges, size_t count)
{
    static const CUgraphEdgeData plain;
    for (size_t i = 0; edges != NULL && i < count; i++) {
        if (memcmp(&edges[i], &plain, sizeof plain) != 0)
            return false;
    }
    return true;
}

/* Fills missing slots of the driver table of a kind for which an honest polyfill exists on this driver. */
void cush_polyfills_install(enum cushim_default_stream kind);

/* The first CUDA version whose drivers have a slot, or functions of which it can be built. */
int cush_polyfills_since(enum cushim_slot slot);

/* The slots that a polyfill calls, by the `rule` of its origin. */
const enum cushim_slot *cush_polyfills_via(unsigned rule, size_t *out_count);

#endif
