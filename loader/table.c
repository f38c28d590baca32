/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "adapted.h"
#include "missing.h"
#include "polyfills.h"
#include "resolve.h"

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
