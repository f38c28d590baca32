/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "adapted.h"
#include "missing.h"
#include "polyfills.h"
#include "resolve.h"

static void table_set_native(enum cushim_default_stream kind, int slot, cushim_fn fn)
{
    if (fn == NULL)
        return;
    cush_driver_tables[kind].slots[slot] = fn;
    cush_driver_origins[kind][slot].state = CUSHIM_STATE_NATIVE;
}

static void table_clear(enum cushim_default_stream kind)
{
    cush_driver_tables[kind].named = cush_missing_table;
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++)
        cush_driver_origins[kind][slot] = (struct slot_origin){CUSHIM_STATE_MISSING, 0};
}

void cush_table_fill(const struct driver *driver)
{
    cush_loaded_driver = *driver;
    table_clear(CUSHIM_DEFAULT_STREAM_LEGACY);
    table_clear(CUSHIM_DEFAULT_STREAM_PER_THREAD);
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        size_t row = cush_symbols_row_of((enum cushim_slot)slot);
        if (!cush_resolve_allows(driver, row))
            continue;
        cushim_fn legacy = cush_resolve_row(&cush_loaded_driver, row, CUSHIM_DEFAULT_STREAM_LEGACY);
        table_set_native(CUSHIM_DEFAULT_STREAM_LEGACY, slot, legacy);
        cushim_fn per_thread = legacy;
        if (cush_symbols_has_form(row))
            per_thread = cush_resolve_row(&cush_loaded_driver, row, CUSHIM_DEFAULT_STREAM_PER_THREAD);
        table_set_native(CUSHIM_DEFAULT_STREAM_PER_THREAD, slot, per_thread);
    }
    for (int kind = 0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++) {
        cush_adapted_install((enum cushim_default_stream)kind);
        cush_polyfills_install((enum cushim_default_stream)kind);
    }
}
