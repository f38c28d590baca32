/* SPDX-License-Identifier: MIT */
#include "polyfill.h"

#include <string.h>

CUresult cush_fail_polyfill(enum cushim_slot slot, const char *why)
{
    return cush_error_set(CUDA_ERROR_NOT_SUPPORTED, cush_symbols_row(cush_symbols_row_of(slot)).symbol, why, NULL);
}

bool cush_polyfill_edges_are_plain(const CUgraphEdgeData *edges, size_t count)
{
    static const CUgraphEdgeData plain;
    for (size_t i = 0; edges != NULL && i < count; i++) {
        if (memcmp(&edges[i], &plain, sizeof plain) != 0)
            return false;
    }
    return true;
}
