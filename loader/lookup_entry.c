/* SPDX-License-Identifier: MIT */
#include "lookup_entry.h"

#include "os_library.h"
#include "resolve.h"

/* An adapted slot must answer here, too, or a look-up would bypass the version limit, the hidden functions or the
 * kind. */
static cushim_fn entry_of_row(size_t row, enum cushim_default_stream kind)
{
    enum cushim_slot slot = cush_symbols_slot_of(row);
    if (slot != CUSHIM_SLOT_COUNT && cush_driver_origins[kind][slot].state == CUSHIM_STATE_ADAPTED)
        return cush_driver_tables[kind].slots[slot];
    return cush_resolve_row(&cush_loaded_driver, row, kind);
}

/* A function without a row is newer than cushim, or not documented. */
static cushim_fn lookup_unknown(const char *function, int version, enum cushim_default_stream kind)
{
    if (cush_resolve_has_proc_address(&cush_loaded_driver))
        return cush_resolve_by_proc_address(&cush_loaded_driver, function, version, kind);
    /* A driver too old to be asked has no versions of its functions, so a version limit hides what it cannot date. */
    if (cush_loaded_driver.limited || cush_symbols_find_symbol(function) != ROW_COUNT)
        return NULL;
    cushim_fn fn = cush_os_library_symbol(cush_loaded_driver.library, function);
    return cush_os_library_symbol_name(cush_loaded_driver.library, fn) != NULL ? fn : NULL; /* not libc's, say */
}

/* Whether the hidden functions include all of a function, and so what a newer driver may have of it. */
static bool hides_function(size_t first)
{
    size_t row = first;
    while (cush_symbols_same_function(first, row) && cush_hidden_set_has(&cush_loaded_driver.hidden, row))
        row++;
    return !cush_symbols_same_function(first, row);
}

/* The newest row of a function that a version has; the first one if it has none. */
static size_t newest_row(size_t first, int version)
{
    size_t row = first;
    while (cush_symbols_same_function(first, row + 1) && cush_symbols_row(row + 1).since <= version)
        row++;
    return row;
}

/* What a driver that is newer than the rows has in place of `known`, the entry point of a row. */
static cushim_fn newer_entry(const char *function, size_t row, int version, enum cushim_default_stream kind,
                             cushim_fn known)
{
    cushim_fn raw = cush_resolve_row(&cush_loaded_driver, row, kind);
    cushim_fn answer = cush_resolve_by_proc_address(&cush_loaded_driver, function, version, kind);
    return answer != raw ? answer : known;
}

enum cushim_lookup_status cush_lookup_entry(const char *function, int version, enum cushim_default_stream kind,
                                            cushim_fn *out_fn)
{
    size_t first = cush_symbols_find_function(function);
    *out_fn = NULL;
    if (first == ROW_COUNT) {
        *out_fn = lookup_unknown(function, version, kind);
        if (*out_fn != NULL)
            return CUSHIM_LOOKUP_FOUND;
        return cush_symbols_find_symbol(function) != ROW_COUNT ? CUSHIM_LOOKUP_SUFFIXED : CUSHIM_LOOKUP_UNKNOWN;
    }
    size_t row = newest_row(first, version);
    if (cush_symbols_row(row).since > version)
        return CUSHIM_LOOKUP_TOO_NEW;

    cushim_fn known = entry_of_row(row, kind);
    cushim_fn fn = known;
    if (version > CUSHIM_LIST_VERSION && !hides_function(first) && cush_resolve_has_proc_address(&cush_loaded_driver))
        fn = newer_entry(function, row, version, kind, known);
    if (fn == known && cush_hidden_set_has(&cush_loaded_driver.hidden, row))
        return CUSHIM_LOOKUP_HIDDEN;
    *out_fn = fn;
    return fn != NULL ? CUSHIM_LOOKUP_FOUND : CUSHIM_LOOKUP_LACKING;
}
