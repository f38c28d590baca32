/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <string.h>

#include "os.h"
#include "tables.h"

/* An adapted slot must answer here, too, or a lookup would bypass the version limit, the hidden functions or the
 * kind. */
static cushim_fn entry_of_row(size_t row, enum cushim_default_stream kind)
{
    enum cushim_slot slot = cush_symbols_slot_of(row);
    if (slot != CUSHIM_SLOT_COUNT && cush_driver_origins[kind][slot].state == CUSHIM_STATE_ADAPTED)
        return cush_driver_tables[kind].slots[slot];
    return cush_resolve_row(&cush_loaded_driver, row, kind);
}

/* dlsym() also finds what the libraries that the driver needs export, such as libc. */
static cushim_fn exported_symbol(const char *symbol)
{
    cushim_fn fn = cush_os_library_symbol(cush_loaded_driver.library, symbol);
    return cush_os_library_symbol_name(cush_loaded_driver.library, fn) != NULL ? fn : NULL;
}

/* A function without a row is newer than cushim, or not documented; or a cut list lacks it. */
static cushim_fn lookup_unknown(const char *function, int version, enum cushim_default_stream kind)
{
    if (LIST_IS_CUT && cush_loaded_driver.hidden.has_others)
        return NULL;
    if (cush_resolve_has_proc_address(&cush_loaded_driver))
        return cush_resolve_by_proc_address(&cush_loaded_driver, function, version, kind);
    /* A driver too old to be asked has no versions of its functions, so a version limit hides what it cannot date. Its
     * oldest ABI version has the name of the function, so a cut list cannot know which one is meant. */
    if (LIST_IS_CUT || cush_loaded_driver.limited || cush_symbols_find_symbol(function) != ROW_COUNT)
        return NULL;
    return exported_symbol(function);
}

/* Whether the hidden functions include all of a function, and so what a newer driver may have of it. */
static bool hides_function(size_t first)
{
    size_t row = first;
    while (cush_symbols_same_function(first, row) && cush_hidden_set_has(&cush_loaded_driver.hidden, row))
        row++;
    return !cush_symbols_same_function(first, row);
}

/* The version from which on a driver finds a row for a kind. Per-thread variants exist from CUDA 7.0 on. */
static int row_since(size_t row, enum cushim_default_stream kind)
{
    int since = cush_symbols_row(row).since;
    bool needs_variant = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD && cush_symbols_has_variant(row);
    return needs_variant && since < FIRST_PER_THREAD_VERSION ? FIRST_PER_THREAD_VERSION : since;
}

/* The newest row of a function that a version has; ROW_COUNT if it has none. */
static size_t newest_row(size_t first, int version, enum cushim_default_stream kind)
{
    size_t newest = ROW_COUNT;
    for (size_t row = first; cush_symbols_same_function(first, row) && row_since(row, kind) <= version; row++)
        newest = row;
    return newest;
}

size_t cush_lookup_newest_row(const char *function, int version, enum cushim_default_stream kind)
{
    size_t first = cush_symbols_find_function(function);
    return first != ROW_COUNT ? newest_row(first, version, kind) : ROW_COUNT;
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
    size_t row = newest_row(first, version, kind);
    if (row == ROW_COUNT)
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

bool cush_lookup_has_function(const char *function, enum cushim_default_stream kind)
{
    size_t first = cush_symbols_find_function(function);
    for (size_t row = first; row != ROW_COUNT && cush_symbols_same_function(first, row); row++) {
        if (cush_resolve_allows(&cush_loaded_driver, row) && entry_of_row(row, kind) != NULL)
            return true;
    }
    return false;
}

/* The first row of the function of which `symbol` is a newer version, such as cuStreamQuery_v9_ptsz; or ROW_COUNT. */
static size_t row_of_newer_version(const char *symbol)
{
    char function[128];
    const char *suffix = strstr(symbol, "_v");
    size_t length = suffix != NULL ? (size_t)(suffix - symbol) : strlen(symbol);
    if (length >= sizeof function)
        return ROW_COUNT;
    memcpy(function, symbol, length);
    function[length] = '\0';
    return cush_symbols_find_function(function);
}

cushim_fn cush_lookup_unlisted_symbol(const char *symbol)
{
    size_t first = row_of_newer_version(symbol);
    if (cush_loaded_driver.limited || cush_loaded_driver.hidden.has_others
        || (first != ROW_COUNT && hides_function(first)))
        return NULL;
    return exported_symbol(symbol);
}
