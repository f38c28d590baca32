/* SPDX-License-Identifier: MIT */
/* The table at program start: each slot loads the driver, then makes the call. */
#include "table.h"

#include "cushim/abi_egl.h" /* a frame is passed by value */

#define CUSHIM_ENTRY(family, abi, since, params, args)                                                                 \
    static CUresult CUDAAPI bootstrap_##family##_##abi params                                                          \
    {                                                                                                                  \
        return cushim_priv_table_load()->family##_##abi args;                                                          \
    }
#include "cushim/entry_points.h"

const struct cushim_table cushim_priv_bootstrap_table = {
#define CUSHIM_ENTRY(family, abi, since, params, args) bootstrap_##family##_##abi,
#include "cushim/entry_points.h"
};
