/* SPDX-License-Identifier: MIT */
/* What a program can ask about the slots. */
#include "error.h"
#include "os_library.h"
#include "polyfills.h"
#include "table.h"

CUresult cushim_slot_info(enum cushim_slot slot, struct cushim_slot_info *ret_info)
{
    if (ret_info == NULL || (unsigned)slot >= CUSHIM_SLOT_COUNT)
        return cushim_priv_error_record(CUDA_ERROR_INVALID_VALUE, "cushim_slot_info",
                                        "There is no such slot, or ret_info is NULL.", NULL);
    struct cushim_entry_point row = cushim_priv_symbols_row(cushim_priv_symbols_row_of(slot));
    struct cushim_slot_info info = {.name = cushim_priv_symbols_slot_name(slot),
                                    .family = row.family,
                                    .since = row.since,
                                    .state = CUSHIM_STATE_MISSING};
    if (cushim_priv_table_load() == &cushim_priv_driver_table.named) {
        info.state = (enum cushim_slot_state)cushim_priv_driver_origins[slot].state;
        if (info.state == CUSHIM_STATE_POLYFILL)
            info.via = cushim_priv_polyfills_via(cushim_priv_driver_origins[slot].rule, &info.via_count);
        if (info.state == CUSHIM_STATE_NATIVE)
            info.symbol = cushim_priv_os_library_symbol_name(cushim_priv_loaded_driver.library,
                                                             cushim_priv_driver_table.slots[slot]);
    }
    *ret_info = info;
    return CUDA_SUCCESS;
}

enum cushim_slot_state cushim_slot_state(enum cushim_slot slot)
{
    if ((unsigned)slot >= CUSHIM_SLOT_COUNT || cushim_priv_table_load() != &cushim_priv_driver_table.named)
        return CUSHIM_STATE_MISSING;
    return (enum cushim_slot_state)cushim_priv_driver_origins[slot].state;
}

CUresult cushim_require(const char *const *names, size_t count, const char **ret_unmet)
{
    static const char function[] = "cushim_require";
    if (names == NULL && count != 0)
        return cushim_priv_error_record(CUDA_ERROR_INVALID_VALUE, function, "The list of names is NULL.", NULL);
    const struct cushim_table *table = cushim_priv_table_load();
    for (size_t i = 0; i < count; i++) {
        enum cushim_slot slot;
        CUresult result = cushim_slot_find(names[i], &slot);
        if (result == CUDA_ERROR_INVALID_VALUE)
            return cushim_priv_error_record(result, function, "A name is NULL.", NULL);
        if (result == CUDA_SUCCESS && table != &cushim_priv_driver_table.named)
            result = cushim_priv_error_absent(slot);
        else if (result == CUDA_SUCCESS && cushim_priv_driver_origins[slot].state == CUSHIM_STATE_MISSING)
            result = cushim_priv_error_missing(slot);
        else if (result != CUDA_SUCCESS)
            cushim_priv_error_record(result, function, "A name in the list is none of cushim's slots.", NULL);
        if (result != CUDA_SUCCESS) {
            if (ret_unmet != NULL)
                *ret_unmet = names[i];
            return result;
        }
    }
    return CUDA_SUCCESS;
}
