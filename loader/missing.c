/* SPDX-License-Identifier: MIT */
/* What a slot points at when the driver has neither the entry point nor an older one of the same meaning. */
#include "error.h"
#include "table.h"

#include "cushim/abi_egl.h" /* a frame is passed by value */

#if defined(__GNUC__)
#    pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#define CUSHIM_ENTRY(family, abi, since, params, args)                                                                 \
    static CUresult CUDAAPI missing_##family##_##abi params                                                            \
    {                                                                                                                  \
        return cushim_priv_error_missing(CUSHIM_SLOT_##family##_##abi);                                                \
    }
#include "cushim/entry_points.h"

const struct cushim_table cushim_priv_missing_table = {
#define CUSHIM_ENTRY(family, abi, since, params, args) missing_##family##_##abi,
#include "cushim/entry_points.h"
};
