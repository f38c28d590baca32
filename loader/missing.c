/* SPDX-License-Identifier: MIT */
#include "missing.h"

#include "error.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */

#if defined(__GNUC__)
#    pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static CUresult CUDAAPI missing_##function##_##abi params                                                          \
    {                                                                                                                  \
        return cush_fail_missing(CUSHIM_SLOT_##function##_##abi);                                                      \
    }
#include "cushim/entry_points.h"

const struct cushim_dispatch_table cush_missing_table = {
#define CUSHIM_ENTRY(function, abi, since, params, args) missing_##function##_##abi,
#include "cushim/entry_points.h"
};
