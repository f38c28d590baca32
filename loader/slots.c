/* SPDX-License-Identifier: MIT */
/* What a program can ask about the slots. */
#include "error.h"
#include "os_library.h"
#include "polyfills.h"
#include "table.h"

CUresult cushim_query_slot(enum cushim_slot slot, struct cushim_slot_info *out_info)
{
    if (out_info == NULL || (unsigned)slot >= CUSHIM_SLOT_COUNT)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, "cushim_query_slot",
                              "There is no such slot, or out_info is NULL.", NULL);
    struct cushim_entry_point row = cush_symbols_row(cush_symbols_row_of(slot));
    struct cushim_slot_info info = {.name = cush_symbols_slot_name(slot),
                                    .function = row.function,
                                    .since = row.since,
                                    .state = CUSHIM_STATE_MISSING};
    if (cush_table_load() == &cush_driver_table.named) {
        info.state = (enum cushim_slot_state)cush_driver_origins[slot].state;
        if (info.state == CUSHIM_STATE_POLYFILL)
            info.via = cush_polyfills_via(cush_driver_origins[slot].rule, &info.via_count);
        if (info.state == CUSHIM_STATE_NATIVE)
            info.symbol = cush_os_library_symbol_name(cush_loaded_driver.library, cush_driver_table.slots[slot]);
    }
    *out_info = info;
    return CUDA_SUCCESS;
}

enum cushim_slot_state cushim_query_slot_state(enum cushim_slot slot)
{
    if ((unsigned)slot >= CUSHIM_SLOT_COUNT || cush_table_load() != &cush_driver_table.named)
        return CUSHIM_STATE_MISSING;
    return (enum cushim_slot_state)cush_driver_origins[slot].state;
}

CUresult cushim_require(const char *const *names, size_t count, const char **out_unmet)
{
    static const char function[] = "cushim_require";
    if (names == NULL && count != 0)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, function, "The list of names is NULL.", NULL);
    const struct cushim_dispatch_table *table = cush_table_load();
    for (size_t i = 0; i < count; i++) {
        enum cushim_slot slot;
        CUresult result = cushim_slot_find(names[i], &slot);
        if (result == CUDA_ERROR_INVALID_VALUE)
            return cush_error_set(result, function, "A name is NULL.", NULL);
        if (result == CUDA_SUCCESS && table != &cush_driver_table.named)
            result = cush_fail_absent(slot);
        else if (result == CUDA_SUCCESS && cush_driver_origins[slot].state == CUSHIM_STATE_MISSING)
            result = cush_fail_missing(slot);
        else if (result != CUDA_SUCCESS)
            cush_error_set(result, function, "A name in the list is none of cushim's slots.", NULL);
        if (result != CUDA_SUCCESS) {
            if (out_unmet != NULL)
                *out_unmet = names[i];
            return result;
        }
    }
    return CUDA_SUCCESS;
}
