/* SPDX-License-Identifier: MIT */
/*
 * Slots that older entry points can serve with the same meaning. A polyfill calls slots of the driver table, never of
 * the current one, so that a version limit holds for it too. Where a call asks for more than the older
 * entry point can give, a polyfill returns CUDA_ERROR_NOT_SUPPORTED and changes nothing.
 */
#ifndef CUSHIM_POLYFILL_H
#define CUSHIM_POLYFILL_H

#include "driver.h"
#include "error.h"

/* Records and returns the refusal of a call that asks for too much. `why` is a sentence. */
CUresult cush_fail_polyfill(enum cushim_slot slot, const char *why);

/* Each cush_polyfill_<slot> has its slot's type. Those that exist stand in polyfills_*.c and in polyfills.c's
 * list. */
#define CUSHIM_ENTRY(function, abi, since, params, args) CUresult CUDAAPI cush_polyfill_##function##_##abi params;
#include "cushim/entry_points.h"

/* Whether edge data says nothing: none at all, or every edge is a plain one. */
bool cush_polyfill_edges_are_plain(const CUgraphEdgeData *edges, size_t count);

#endif
