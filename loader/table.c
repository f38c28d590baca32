/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "adapted.h"
#include "polyfills.h"

#if CUSHIM_INLINE_TABLE
CUSHIM_API const struct cushim_table *cushim_current_table = &bootstrap_table;
#else
static const struct cushim_table *cushim_current_table = &bootstrap_table;

const struct cushim_table *cushim_table(void)
{
    return CUSHIM_LOAD_ACQUIRE(&cushim_current_table);
}
#endif

_Static_assert(sizeof(union table) == sizeof(struct cushim_table), "a table is nothing but its slots");

union table driver_table;
struct slot_origin driver_origins[CUSHIM_SLOT_COUNT];
struct driver loaded_driver;

void table_set_current(const struct cushim_table *table)
{
    CUSHIM_STORE_RELEASE(&cushim_current_table, table);
}

void table_fill(const struct driver *driver)
{
    loaded_driver = *driver;
    driver_table.named = missing_table;
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        driver_origins[slot] = (struct slot_origin){CUSHIM_STATE_MISSING, 0};
        size_t row = symbols_row_of((enum cushim_slot)slot);
        cushim_fn fn = resolve_allows(driver, row) ? resolve_row(&loaded_driver, row, driver->per_thread) : NULL;
        if (fn != NULL) {
            driver_table.slots[slot] = fn;
            driver_origins[slot].state = CUSHIM_STATE_NATIVE;
        }
    }
    adapted_install();
    polyfills_install();
}
