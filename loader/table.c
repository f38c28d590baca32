/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "adapted.h"
#include "polyfills.h"

#if CUSHIM_INLINE_TABLE
CUSHIM_API const struct cushim_dispatch_table *cushim_current_table = &cush_bootstrap_table;
#else
static const struct cushim_dispatch_table *cushim_current_table = &cush_bootstrap_table;

const struct cushim_dispatch_table *cushim_table(void)
{
    return CUSHIM_LOAD_ACQUIRE(&cushim_current_table);
}
#endif

_Static_assert(sizeof(union table) == sizeof(struct cushim_dispatch_table), "a table is nothing but its slots");

union table cush_driver_table;
struct slot_origin cush_driver_origins[CUSHIM_SLOT_COUNT];
struct driver cush_loaded_driver;

void cush_table_set_current(const struct cushim_dispatch_table *table)
{
    CUSHIM_STORE_RELEASE(&cushim_current_table, table);
}

void cush_table_fill(const struct driver *driver)
{
    cush_loaded_driver = *driver;
    cush_driver_table.named = cush_missing_table;
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        cush_driver_origins[slot] = (struct slot_origin){CUSHIM_STATE_MISSING, 0};
        size_t row = cush_symbols_row_of((enum cushim_slot)slot);
        cushim_fn fn =
            cush_resolve_allows(driver, row) ? cush_resolve_row(&cush_loaded_driver, row, driver->per_thread) : NULL;
        if (fn != NULL) {
            cush_driver_table.slots[slot] = fn;
            cush_driver_origins[slot].state = CUSHIM_STATE_NATIVE;
        }
    }
    cush_adapted_install();
    cush_polyfills_install();
}
