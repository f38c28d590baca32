/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include "common/atomic.h"
#include "load.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */

/* Without an argument, so that none has to be loaded in each of the functions below. */
static CUSHIM_COLD const struct cushim_dispatch_table *bootstrap_load_legacy(void)
{
    return cush_table_load(CUSHIM_DEFAULT_STREAM_LEGACY);
}

static CUSHIM_COLD const struct cushim_dispatch_table *bootstrap_load_per_thread(void)
{
    return cush_table_load(CUSHIM_DEFAULT_STREAM_PER_THREAD);
}

#define BOOTSTRAP(kind, function, abi, params, args)                                                                   \
    static CUSHIM_COLD CUresult CUDAAPI bootstrap_##kind##_##function##_##abi params                                   \
    {                                                                                                                  \
        return bootstrap_load_##kind()->function##_##abi args;                                                         \
    }
#define CUSHIM_ENTRY(function, abi, since, params, args) BOOTSTRAP(legacy, function, abi, params, args)
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args)                                                       \
    BOOTSTRAP(legacy, function, abi, params, args)                                                                     \
    BOOTSTRAP(per_thread, function, abi, params, args)
#include "cushim/entry_points.h"

const struct cushim_dispatch_table cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_COUNT] = {
    [CUSHIM_DEFAULT_STREAM_LEGACY] =
        {
#define CUSHIM_ENTRY(function, abi, since, params, args) bootstrap_legacy_##function##_##abi,
#include "cushim/entry_points.h"
        },
    [CUSHIM_DEFAULT_STREAM_PER_THREAD] =
        {
#define CUSHIM_ENTRY(function, abi, since, params, args) bootstrap_legacy_##function##_##abi,
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args) bootstrap_per_thread_##function##_##abi,
#include "cushim/entry_points.h"
        },
};

/* The pointers to the current tables, a pair for each release that added slots. All are stored, because a program
 * reads the pair of the release with which it was built. */
#if CUSHIM_INLINE_TABLE
#    define CURRENT(kind, release) cushim_current_##kind##_##release
#    define CURRENT_STORAGE
#else
#    define CURRENT(kind, release) current_##kind##_##release
#    define CURRENT_STORAGE static
#endif
#define CUSHIM_TABLE_VERSION(release, slots)                                                                           \
    CURRENT_STORAGE const struct cushim_dispatch_table *CURRENT(legacy, release) =                                     \
        &cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_LEGACY];                                                          \
    CURRENT_STORAGE const struct cushim_dispatch_table *CURRENT(per_thread, release) =                                 \
        &cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_PER_THREAD];
#include "cushim/table_releases.h"

#if !CUSHIM_INLINE_TABLE
#    define CUSHIM_TABLE_VERSION(release, slots)                                                                       \
        const struct cushim_dispatch_table *cushim_current_legacy_##release(void)                                      \
        {                                                                                                              \
            return CUSHIM_LOAD_ACQUIRE(&CURRENT(legacy, release));                                                     \
        }                                                                                                              \
        const struct cushim_dispatch_table *cushim_current_per_thread_##release(void)                                  \
        {                                                                                                              \
            return CUSHIM_LOAD_ACQUIRE(&CURRENT(per_thread, release));                                                 \
        }
#    include "cushim/table_releases.h"
#endif

void cush_table_set_current(const struct cushim_dispatch_table *legacy, const struct cushim_dispatch_table *per_thread)
{
#define CUSHIM_TABLE_VERSION(release, slots)                                                                           \
    CUSHIM_STORE_RELEASE(&CURRENT(legacy, release), legacy);                                                           \
    CUSHIM_STORE_RELEASE(&CURRENT(per_thread, release), per_thread);
#include "cushim/table_releases.h"
}

/* The number of slots by the names of both pointers. If slots were added without a row, programs could call slots that
 * an older library does not have. */
enum {
#define CUSHIM_TABLE_VERSION(release, slots)                                                                           \
    SLOTS_cushim_current_legacy_##release = (slots), SLOTS_cushim_current_per_thread_##release = (slots),
#include "cushim/table_releases.h"
};
#define SLOTS_BY_NAME(name) SLOTS_##name
#define SLOTS_OF(pointer) ((int)SLOTS_BY_NAME(pointer))
_Static_assert(SLOTS_OF(CUSHIM_CURRENT_LEGACY) == (int)CUSHIM_SLOT_COUNT
                   && SLOTS_OF(CUSHIM_CURRENT_PER_THREAD) == (int)CUSHIM_SLOT_COUNT,
               "slots were added: cushim/table_releases.h needs a row for the coming release (loader/lists/README.md)");

const struct cushim_dispatch_table *cushim_table_get(enum cushim_default_stream kind)
{
    return kind == CUSHIM_DEFAULT_STREAM_LEGACY       ? cushim_table_legacy()
           : kind == CUSHIM_DEFAULT_STREAM_PER_THREAD ? cushim_table_per_thread()
                                                      : NULL;
}
