/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <string.h>

#include "error.h"
#include "os_library.h"
#include "table.h"

/* A slot that is adapted must answer here too, or a look-up would step around the cap, the mask or the choice. */
static cushim_fn entry_of_row(size_t row, bool per_thread)
{
    enum cushim_slot slot = cushim_priv_symbols_slot_of(row);
    if (slot != CUSHIM_SLOT_COUNT && cushim_priv_driver_origins[slot].state == CUSHIM_STATE_ADAPTED)
        return cushim_priv_driver_table.slots[slot];
    return cushim_priv_resolve_row(&cushim_priv_loaded_driver, row, per_thread);
}

/* A family without a row is newer than cushim, or not documented. */
static cushim_fn unknown_family(const char *family, int version, bool per_thread)
{
    if (cushim_priv_resolve_can_ask(&cushim_priv_loaded_driver))
        return cushim_priv_resolve_by_asking(&cushim_priv_loaded_driver, family, version, per_thread);
    /* A driver too old to be asked tells no versions, so a cap hides what it cannot date. Rows' symbols are no
     * families. */
    if (cushim_priv_loaded_driver.capped)
        return NULL;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        struct cushim_entry_point entry = cushim_priv_symbols_row(row);
        if (strcmp(entry.symbol, family) == 0 || strcmp(entry.per_thread_symbol, family) == 0)
            return NULL;
    }
    cushim_fn fn = cushim_priv_os_library_symbol(cushim_priv_loaded_driver.library, family);
    return cushim_priv_os_library_symbol_name(cushim_priv_loaded_driver.library, fn) != NULL
               ? fn
               : NULL; /* not libc's, say */
}

/* Whether the mask hides all of a family, and so what a newer driver may have of it. */
static bool hides_family(size_t first)
{
    size_t row = first;
    while (cushim_priv_symbols_same_family(first, row) && cushim_priv_mask_has(&cushim_priv_loaded_driver.mask, row))
        row++;
    return !cushim_priv_symbols_same_family(first, row);
}

enum lookup_result cushim_priv_lookup_entry(const char *family, int version, bool per_thread, cushim_fn *ret_fn)
{
    size_t first = cushim_priv_symbols_find_family(family);
    *ret_fn = NULL;
    if (first == ROW_COUNT) {
        *ret_fn = unknown_family(family, version, per_thread);
        return *ret_fn != NULL ? LOOKUP_FOUND : LOOKUP_NO_FUNCTION;
    }
    size_t row = first;
    while (cushim_priv_symbols_same_family(first, row + 1) && cushim_priv_symbols_row(row + 1).since <= version)
        row++;
    if (cushim_priv_symbols_row(row).since > version)
        return LOOKUP_NEEDS_NEWER;

    cushim_fn known = entry_of_row(row, per_thread);
    cushim_fn fn = known;
    /* A driver newer than the rows may have a newer ABI of the family. */
    if (version > SYMBOLS_NEWEST_VERSION && !hides_family(first)
        && cushim_priv_resolve_can_ask(&cushim_priv_loaded_driver)) {
        cushim_fn raw = cushim_priv_resolve_row(&cushim_priv_loaded_driver, row, per_thread);
        cushim_fn answer = cushim_priv_resolve_by_asking(&cushim_priv_loaded_driver, family, version, per_thread);
        if (answer != raw)
            fn = answer;
    }
    if (fn == NULL || (fn == known && cushim_priv_mask_has(&cushim_priv_loaded_driver.mask, row)))
        return LOOKUP_NO_FUNCTION;
    *ret_fn = fn;
    return LOOKUP_FOUND;
}

CUresult cushim_lookup(const char *family, int version, cushim_fn *ret_fn)
{
    static const char function[] = "cushim_lookup";
    if (family == NULL || ret_fn == NULL)
        return cushim_priv_error_record(CUDA_ERROR_INVALID_VALUE, function, "An argument is NULL.", NULL);
    if (cushim_priv_table_load() != &cushim_priv_driver_table.named)
        return cushim_priv_error_record(CUDA_ERROR_NO_DEVICE, function, "There is no CUDA driver: %",
                                        cushim_diagnosis()->message);
    if (version < OLDEST_VERSION || version > cushim_priv_loaded_driver.version)
        return cushim_priv_error_record(
            CUDA_ERROR_INVALID_VALUE, function,
            "The version asked for is above the driver's own, or is none (CUDA 12.3 is 12030).", NULL);
    cushim_fn fn;
    switch (cushim_priv_lookup_entry(family, version, cushim_priv_loaded_driver.per_thread, &fn)) {
    case LOOKUP_FOUND:
        *ret_fn = fn;
        return CUDA_SUCCESS;
    case LOOKUP_NEEDS_NEWER:
        return cushim_priv_error_record(CUDA_ERROR_NOT_FOUND, function, "That CUDA version has no such function yet.",
                                        NULL);
    case LOOKUP_NO_FUNCTION:
        break;
    }
    return cushim_priv_error_record(CUDA_ERROR_NOT_FOUND, function,
                                    "This driver has no such function, or the mask hides it.", NULL);
}

const char *cushim_symbol_name(cushim_fn fn)
{
    if (cushim_table() != &cushim_priv_driver_table.named)
        return NULL;
    return cushim_priv_os_library_symbol_name(cushim_priv_loaded_driver.library, fn);
}
