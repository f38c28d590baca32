/* SPDX-License-Identifier: MIT */
#include "bootstrap.h"

#include "load.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */

#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static CUresult CUDAAPI bootstrap_legacy_##function##_##abi params                                                 \
    {                                                                                                                  \
        return cush_table_load(CUSHIM_DEFAULT_STREAM_LEGACY)->function##_##abi args;                                   \
    }                                                                                                                  \
    static CUresult CUDAAPI bootstrap_per_thread_##function##_##abi params                                             \
    {                                                                                                                  \
        return cush_table_load(CUSHIM_DEFAULT_STREAM_PER_THREAD)->function##_##abi args;                               \
    }
#include "cushim/entry_points.h"

const struct cushim_dispatch_table cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_COUNT] = {
    [CUSHIM_DEFAULT_STREAM_LEGACY] =
        {
#define CUSHIM_ENTRY(function, abi, since, params, args) bootstrap_legacy_##function##_##abi,
#include "cushim/entry_points.h"
        },
    [CUSHIM_DEFAULT_STREAM_PER_THREAD] =
        {
#define CUSHIM_ENTRY(function, abi, since, params, args) bootstrap_per_thread_##function##_##abi,
#include "cushim/entry_points.h"
        },
};

/* One pair for each release that added slots. A program refers to the pair of the release that it was built with. */
#if CUSHIM_INLINE_TABLE
#    define CURRENT_TABLE CUSHIM_API
#    define current_legacy_0_2 cushim_current_legacy_0_2
#    define current_per_thread_0_2 cushim_current_per_thread_0_2
#else
#    define CURRENT_TABLE static
#endif
CURRENT_TABLE const struct cushim_dispatch_table *current_legacy_0_2 =
    &cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_LEGACY];
CURRENT_TABLE const struct cushim_dispatch_table *current_per_thread_0_2 =
    &cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_PER_THREAD];

#if !CUSHIM_INLINE_TABLE
const struct cushim_dispatch_table *cushim_current_legacy_0_2(void)
{
    return CUSHIM_LOAD_ACQUIRE(&current_legacy_0_2);
}

const struct cushim_dispatch_table *cushim_current_per_thread_0_2(void)
{
    return CUSHIM_LOAD_ACQUIRE(&current_per_thread_0_2);
}
#endif

void cush_table_set_current(const struct cushim_dispatch_table *legacy, const struct cushim_dispatch_table *per_thread)
{
    CUSHIM_STORE_RELEASE(&current_legacy_0_2, legacy);
    CUSHIM_STORE_RELEASE(&current_per_thread_0_2, per_thread);
}

const struct cushim_dispatch_table *cush_table_current(enum cushim_default_stream kind)
{
    return kind == CUSHIM_DEFAULT_STREAM_LEGACY ? cushim_table_legacy() : cushim_table_per_thread();
}
