/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "adapted.h"
#include "polyfills.h"

#if CUSHIM_INLINE_TABLE
CUSHIM_API const struct cushim_table *cushim_current_table = &cushim_priv_bootstrap_table;
#else
static const struct cushim_table *cushim_current_table = &cushim_priv_bootstrap_table;

const struct cushim_table *cushim_table(void)
{
    return CUSHIM_LOAD_ACQUIRE(&cushim_current_table);
}
#endif

_Static_assert(sizeof(union table) == sizeof(struct cushim_table), "a table is nothing but its slots");

union table cushim_priv_driver_table;
struct slot_origin cushim_priv_driver_origins[CUSHIM_SLOT_COUNT];
struct driver cushim_priv_loaded_driver;

void cushim_priv_table_set_current(const struct cushim_table *table)
{
    CUSHIM_STORE_RELEASE(&cushim_current_table, table);
}

void cushim_priv_table_fill(const struct driver *driver)
{
    cushim_priv_loaded_driver = *driver;
    cushim_priv_driver_table.named = cushim_priv_missing_table;
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        cushim_priv_driver_origins[slot] = (struct slot_origin){CUSHIM_STATE_MISSING, 0};
        size_t row = cushim_priv_symbols_row_of((enum cushim_slot)slot);
        cushim_fn fn = cushim_priv_resolve_allows(driver, row)
                           ? cushim_priv_resolve_row(&cushim_priv_loaded_driver, row, driver->per_thread)
                           : NULL;
        if (fn != NULL) {
            cushim_priv_driver_table.slots[slot] = fn;
            cushim_priv_driver_origins[slot].state = CUSHIM_STATE_NATIVE;
        }
    }
    cushim_priv_adapted_install();
    cushim_priv_polyfills_install();
}
