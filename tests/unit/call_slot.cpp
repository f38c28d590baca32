/* SPDX-License-Identifier: MIT */
/* In C++, because it can make a zero of each parameter's type from the list alone. */
#include "call_slot.h"

#include "cushim/abi_egl.h" /* a frame is passed by value */

template <typename... Parameters> static CUresult call(CUresult(CUDAAPI *function)(Parameters...))
{
    return function(Parameters()...);
}

CUresult call_slot(const struct cushim_table *table, enum cushim_slot slot)
{
    switch (slot) {
#define CUSHIM_ENTRY(family, abi, since, params, args)                                                                 \
    case CUSHIM_SLOT_##family##_##abi:                                                                                 \
        return call(table->family##_##abi);
#include "cushim/entry_points.h"
    default:
        return CUDA_ERROR_UNKNOWN;
    }
}
