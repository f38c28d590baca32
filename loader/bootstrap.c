/* SPDX-License-Identifier: MIT */
#include "bootstrap.h"

#include "load.h"

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

#if CUSHIM_INLINE_TABLE
CUSHIM_API const struct cushim_dispatch_table *cushim_current_table = &cush_bootstrap_table;
#else
static const struct cushim_dispatch_table *cushim_current_table = &cush_bootstrap_table;

const struct cushim_dispatch_table *cushim_table(void)
{
    return CUSHIM_LOAD_ACQUIRE(&cushim_current_table);
}
#endif

void cush_table_set_current(const struct cushim_dispatch_table *table)
{
    CUSHIM_STORE_RELEASE(&cushim_current_table, table);
}
