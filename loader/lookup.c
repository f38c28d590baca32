/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <string.h>

#include "error.h"
#include "os_library.h"
#include "table.h"

/* A slot that is adapted must answer here too, or a look-up would step around the cap, the mask or the choice. */
static cushim_fn entry_of_row(size_t row, bool per_thread)
{
    enum cushim_slot slot = symbols_slot_of(row);
    if (slot != CUSHIM_SLOT_COUNT && driver_origins[slot].state == CUSHIM_STATE_ADAPTED)
        return driver_table.slots[slot];
    return resolve_row(&loaded_driver, row, per_thread);
}

/* A family without a row is newer than cushim, or not documented. */
static cushim_fn unknown_family(const char *family, int version, bool per_thread)
{
    if (resolve_can_ask(&loaded_driver))
        return resolve_by_asking(&loaded_driver, family, version, per_thread);
    /* A driver too old to be asked tells no versions, so a cap hides what it cannot date. Rows' symbols are no
     * families. */
    if (loaded_driver.capped)
        return NULL;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        struct cushim_entry_point entry = symbols_row(row);
        if (strcmp(entry.symbol, family) == 0 || strcmp(entry.per_thread_symbol, family) == 0)
            return NULL;
    }
    cushim_fn fn = os_library_symbol(loaded_driver.library, family);
    return os_library_symbol_name(loaded_driver.library, fn) != NULL ? fn : NULL; /* not libc's, say */
}

/* Whether the mask hides all of a family, and so what a newer driver may have of it. */
static bool hides_family(size_t first)
{
    size_t row = first;
    while (symbols_same_family(first, row) && mask_has(&loaded_driver.mask, row))
        row++;
    return !symbols_same_family(first, row);
}

enum lookup_result lookup_entry(const char *family, int version, bool per_thread, cushim_fn *ret_fn)
{
    size_t first = symbols_find_family(family);
    *ret_fn = NULL;
    if (first == ROW_COUNT) {
        *ret_fn = unknown_family(family, version, per_thread);
        return *ret_fn != NULL ? LOOKUP_FOUND : LOOKUP_NO_FUNCTION;
    }
    size_t row = first;
    while (symbols_same_family(first, row + 1) && symbols_row(row + 1).since <= version)
        row++;
    if (symbols_row(row).since > version)
        return LOOKUP_NEEDS_NEWER;

    cushim_fn known = entry_of_row(row, per_thread);
    cushim_fn fn = known;
    /* A driver newer than the rows may have a newer ABI of the family. */
    if (version > SYMBOLS_NEWEST_VERSION && !hides_family(first) && resolve_can_ask(&loaded_driver)) {
        cushim_fn raw = resolve_row(&loaded_driver, row, per_thread);
        cushim_fn answer = resolve_by_asking(&loaded_driver, family, version, per_thread);
        if (answer != raw)
            fn = answer;
    }
    if (fn == NULL || (fn == known && mask_has(&loaded_driver.mask, row)))
        return LOOKUP_NO_FUNCTION;
    *ret_fn = fn;
    return LOOKUP_FOUND;
}

CUresult cushim_lookup(const char *family, int version, cushim_fn *ret_fn)
{
    static const char function[] = "cushim_lookup";
    if (family == NULL || ret_fn == NULL)
        return error_record(CUDA_ERROR_INVALID_VALUE, function, "An argument is NULL.", NULL);
    if (table_load() != &driver_table.named)
        return error_record(CUDA_ERROR_NO_DEVICE, function, "There is no CUDA driver: %", cushim_diagnosis()->message);
    if (version < OLDEST_VERSION || version > loaded_driver.version)
        return error_record(CUDA_ERROR_INVALID_VALUE, function,
                            "The version asked for is above the driver's own, or is none (CUDA 12.3 is 12030).", NULL);
    cushim_fn fn;
    switch (lookup_entry(family, version, loaded_driver.per_thread, &fn)) {
    case LOOKUP_FOUND:
        *ret_fn = fn;
        return CUDA_SUCCESS;
    case LOOKUP_NEEDS_NEWER:
        return error_record(CUDA_ERROR_NOT_FOUND, function, "That CUDA version has no such function yet.", NULL);
    case LOOKUP_NO_FUNCTION:
        break;
    }
    return error_record(CUDA_ERROR_NOT_FOUND, function, "This driver has no such function, or the mask hides it.",
                        NULL);
}

const char *cushim_symbol_name(cushim_fn fn)
{
    if (cushim_table() != &driver_table.named)
        return NULL;
    return os_library_symbol_name(loaded_driver.library, fn);
}
