/* SPDX-License-Identifier: MIT */
/* C++, because it can make a zero of each parameter's type from the list alone. */
#include "call_slot.h"

#include "cushim/abi/egl.h" /* for a frame that is passed by value */

template <typename... Parameters> static CUresult call(CUresult(CUDAAPI *function)(Parameters...))
{
    return function(Parameters()...);
}

CUresult call_slot(const struct cushim_dispatch_table *table, enum cushim_slot slot)
{
    switch (slot) {
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    case CUSHIM_SLOT_##function##_##abi:                                                                               \
        return call(table->function##_##abi);
#include "cushim/entry_points.h"
    default:
        return CUDA_ERROR_UNKNOWN;
    }
}
