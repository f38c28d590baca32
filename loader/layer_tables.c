/* SPDX-License-Identifier: MIT */
#include "layer_stack.h"

#include <stdlib.h>
#include <string.h>

#include "common/atomic.h"
#include "tables.h"

static struct layer_tables *newest_tables;
static const struct layer_tables *top_tables;

bool cush_layer_tables_are_of_driver(const struct cushim_dispatch_table *legacy)
{
    if (legacy == &cush_driver_tables[CUSHIM_DEFAULT_STREAM_LEGACY].named)
        return true;
    const struct layer_tables *tables = CUSHIM_LOAD_ACQUIRE(&newest_tables);
    while (tables != NULL && legacy != &tables->of[CUSHIM_DEFAULT_STREAM_LEGACY].named)
        tables = tables->older;
    return tables != NULL && tables->has_driver;
}

void cush_layer_tables_keep(struct layer_tables *tables)
{
    tables->older = newest_tables;
    CUSHIM_STORE_RELEASE(&newest_tables, tables);
}

void cush_layer_tables_set_top(const struct layer_tables *top)
{
    CUSHIM_STORE_RELEASE(&top_tables, top);
}

/* An address names its entry point exactly: a driver has no two names for one function. A function that is not in the
 * table of its kind can be in the other one: a driver has one cuGetProcAddress for both, and the per-thread table has
 * ours. */
cushim_fn cush_layer_tables_function(enum cushim_default_stream kind, cushim_fn fn)
{
    const struct layer_tables *top = CUSHIM_LOAD_ACQUIRE(&top_tables);
    const enum cushim_default_stream kinds[] = {
        kind, kind == CUSHIM_DEFAULT_STREAM_LEGACY ? CUSHIM_DEFAULT_STREAM_PER_THREAD : CUSHIM_DEFAULT_STREAM_LEGACY};
    if (top == NULL || !top->has_driver || fn == NULL)
        return fn;
    /* The driver's own cuGetProcAddress has found the driver's function, and the slot is always adapted. */
    if (fn == (cushim_fn)cush_loaded_driver.init)
        return top->of[kind].slots[CUSHIM_SLOT_Init_v1];
    if (fn == (cushim_fn)cush_loaded_driver.error_text)
        return top->of[kind].slots[CUSHIM_SLOT_GetErrorString_v1];
    for (size_t i = 0; i < CUSHIM_DEFAULT_STREAM_COUNT; i++) {
        for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
            if (cush_driver_tables[kinds[i]].slots[slot] == fn)
                return top->of[kinds[i]].slots[slot];
        }
    }
    return fn;
}

bool cush_layer_tables_is_replaced(enum cushim_default_stream kind, enum cushim_slot slot)
{
    const struct layer_tables *top = CUSHIM_LOAD_ACQUIRE(&top_tables);
    return top != NULL && top->of[kind].slots[slot] != top->bottom->of[kind].slots[slot];
}

/* Replaces the function that a slot of the driver table of a kind has found. Without a flag, that kind counts. */
static void layer_replace_answer(enum cushim_default_stream kind, cuuint64_t flags, void **pfn)
{
    cushim_fn fn;
    if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0)
        kind = CUSHIM_DEFAULT_STREAM_PER_THREAD;
    else if (flags == CU_GET_PROC_ADDRESS_LEGACY_STREAM)
        kind = CUSHIM_DEFAULT_STREAM_LEGACY;
    memcpy(&fn, pfn, sizeof fn);
    fn = cush_layer_tables_function(kind, fn);
    memcpy(pfn, &fn, sizeof fn);
}

#define LAYERED(name, kind)                                                                                            \
    static CUresult CUDAAPI layered_##name##_GetProcAddress_v1(const char *symbol, void **pfn, int cudaVersion,        \
                                                               cuuint64_t flags)                                       \
    {                                                                                                                  \
        CUresult result = cush_driver_tables[kind].named.GetProcAddress_v1(symbol, pfn, cudaVersion, flags);           \
        if (result == CUDA_SUCCESS)                                                                                    \
            layer_replace_answer(kind, flags, pfn);                                                                    \
        return result;                                                                                                 \
    }                                                                                                                  \
    static CUresult CUDAAPI layered_##name##_GetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,        \
                                                               cuuint64_t flags,                                       \
                                                               CUdriverProcAddressQueryResult *symbolStatus)           \
    {                                                                                                                  \
        CUresult result =                                                                                              \
            cush_driver_tables[kind].named.GetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);           \
        if (result == CUDA_SUCCESS)                                                                                    \
            layer_replace_answer(kind, flags, pfn);                                                                    \
        return result;                                                                                                 \
    }
LAYERED(legacy, CUSHIM_DEFAULT_STREAM_LEGACY)
LAYERED(per_thread, CUSHIM_DEFAULT_STREAM_PER_THREAD)

void cush_layer_tables_fill_bottom(struct layer_tables *bottom, bool has_driver)
{
    struct cushim_dispatch_table *legacy = &bottom->of[CUSHIM_DEFAULT_STREAM_LEGACY].named;
    struct cushim_dispatch_table *per_thread = &bottom->of[CUSHIM_DEFAULT_STREAM_PER_THREAD].named;
    bottom->bottom = bottom;
    bottom->has_driver = has_driver;
    if (!has_driver) {
        *legacy = *per_thread = *cush_null_driver_table();
        return;
    }
    memcpy(bottom->of, cush_driver_tables, sizeof bottom->of);
    legacy->GetProcAddress_v1 = layered_legacy_GetProcAddress_v1;
    legacy->GetProcAddress_v2 = layered_legacy_GetProcAddress_v2;
    per_thread->GetProcAddress_v1 = layered_per_thread_GetProcAddress_v1;
    per_thread->GetProcAddress_v2 = layered_per_thread_GetProcAddress_v2;
}

void cush_layer_tables_reset(void)
{
    cush_layer_tables_set_top(NULL);
    while (newest_tables != NULL) {
        struct layer_tables *tables = newest_tables;
        newest_tables = tables->older;
        free(tables);
    }
}
