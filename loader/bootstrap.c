/* SPDX-License-Identifier: MIT */
/* The table at program start: each slot loads the driver, then makes the call. */
#include "table.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */

#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static CUresult CUDAAPI bootstrap_##function##_##abi params                                                        \
    {                                                                                                                  \
        return cush_table_load()->function##_##abi args;                                                               \
    }
#include "cushim/entry_points.h"

const struct cushim_dispatch_table cush_bootstrap_table = {
#define CUSHIM_ENTRY(function, abi, since, params, args) bootstrap_##function##_##abi,
#include "cushim/entry_points.h"
};
