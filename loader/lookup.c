/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <string.h>

#include "error.h"
#include "os_library.h"
#include "table.h"

/* A slot that is adapted must answer here too, or a look-up would step around the version limit, the hidden functions
 * or the choice. */
static cushim_fn lookup_entry_of_row(size_t row, bool per_thread)
{
    enum cushim_slot slot = cush_symbols_slot_of(row);
    if (slot != CUSHIM_SLOT_COUNT && cush_driver_origins[slot].state == CUSHIM_STATE_ADAPTED)
        return cush_driver_table.slots[slot];
    return cush_resolve_row(&cush_loaded_driver, row, per_thread);
}

/* A function without a row is newer than cushim, or not documented. */
static cushim_fn lookup_unknown(const char *function, int version, bool per_thread)
{
    if (cush_resolve_has_proc_address(&cush_loaded_driver))
        return cush_resolve_by_proc_address(&cush_loaded_driver, function, version, per_thread);
    /* A driver too old to be asked tells no versions, so a version limit hides what it cannot date. Rows' symbols are
     * no functions. */
    if (cush_loaded_driver.limited)
        return NULL;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        struct cushim_entry_point entry = cush_symbols_row(row);
        if (strcmp(entry.symbol, function) == 0 || strcmp(entry.per_thread_symbol, function) == 0)
            return NULL;
    }
    cushim_fn fn = cush_os_library_symbol(cush_loaded_driver.library, function);
    return cush_os_library_symbol_name(cush_loaded_driver.library, fn) != NULL ? fn : NULL; /* not libc's, say */
}

/* Whether the hidden functions include all of a function, and so what a newer driver may have of it. */
static bool lookup_hides_function(size_t first)
{
    size_t row = first;
    while (cush_symbols_same_function(first, row) && cush_hidden_set_has(&cush_loaded_driver.hidden, row))
        row++;
    return !cush_symbols_same_function(first, row);
}

enum lookup_result cush_lookup_entry(const char *function, int version, bool per_thread, cushim_fn *out_fn)
{
    size_t first = cush_symbols_find_function(function);
    *out_fn = NULL;
    if (first == ROW_COUNT) {
        *out_fn = lookup_unknown(function, version, per_thread);
        return *out_fn != NULL ? LOOKUP_FOUND : LOOKUP_NO_FUNCTION;
    }
    size_t row = first;
    while (cush_symbols_same_function(first, row + 1) && cush_symbols_row(row + 1).since <= version)
        row++;
    if (cush_symbols_row(row).since > version)
        return LOOKUP_NEEDS_NEWER;

    cushim_fn known = lookup_entry_of_row(row, per_thread);
    cushim_fn fn = known;
    /* A driver newer than the rows may have a newer ABI of the function. */
    if (version > CUSHIM_LIST_VERSION && !lookup_hides_function(first)
        && cush_resolve_has_proc_address(&cush_loaded_driver)) {
        cushim_fn raw = cush_resolve_row(&cush_loaded_driver, row, per_thread);
        cushim_fn answer = cush_resolve_by_proc_address(&cush_loaded_driver, function, version, per_thread);
        if (answer != raw)
            fn = answer;
    }
    if (fn == NULL || (fn == known && cush_hidden_set_has(&cush_loaded_driver.hidden, row)))
        return LOOKUP_NO_FUNCTION;
    *out_fn = fn;
    return LOOKUP_FOUND;
}

CUresult cushim_lookup(const char *function, int version, cushim_fn *out_fn)
{
    static const char lookup_name[] = "cushim_lookup";
    if (function == NULL || out_fn == NULL)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, lookup_name, "An argument is NULL.", NULL);
    if (cush_table_load() != &cush_driver_table.named)
        return cush_error_set(CUDA_ERROR_NO_DEVICE, lookup_name, "There is no CUDA driver: %",
                              cushim_get_diagnosis()->message);
    if (version < OLDEST_VERSION || version > cush_loaded_driver.version)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, lookup_name,
                              "The version asked for is above the driver's own, or is none (CUDA 12.3 is 12030).",
                              NULL);
    cushim_fn fn;
    switch (cush_lookup_entry(function, version, cush_loaded_driver.per_thread, &fn)) {
    case LOOKUP_FOUND:
        *out_fn = fn;
        return CUDA_SUCCESS;
    case LOOKUP_NEEDS_NEWER:
        return cush_error_set(CUDA_ERROR_NOT_FOUND, lookup_name, "That CUDA version has no such function yet.", NULL);
    case LOOKUP_NO_FUNCTION:
        break;
    }
    return cush_error_set(CUDA_ERROR_NOT_FOUND, lookup_name, "This driver has no such function, or it is hidden.",
                          NULL);
}

const char *cushim_symbol_name(cushim_fn fn)
{
    if (cushim_table() != &cush_driver_table.named)
        return NULL;
    return cush_os_library_symbol_name(cush_loaded_driver.library, fn);
}
