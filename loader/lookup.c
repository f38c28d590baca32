/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <string.h>

#include "os.h"
#include "tables.h"

/* An adapted slot must answer here, too, or a lookup would bypass the version limit, the hidden functions or the
 * kind. */
static cushim_fn entry_find(size_t index, enum cushim_default_stream kind)
{
    enum cushim_slot slot = cush_symbols_slot_of(index);
    if (slot != CUSHIM_SLOT_COUNT && cush_driver_origins[kind][slot].state == CUSHIM_STATE_ADAPTED)
        return cush_driver_tables[kind].slots[slot];
    return cush_resolve_entry(&cush_loaded_driver, index, kind);
}

/* dlsym() also finds what the libraries that the driver needs export, such as libc. */
static cushim_fn exported_symbol(const char *symbol)
{
    cushim_fn fn = cush_os_library_symbol(cush_loaded_driver.library, symbol);
    return cush_os_library_symbol_name(cush_loaded_driver.library, fn) != NULL ? fn : NULL;
}

/* A function that is not in the list is newer than cushim, or not documented; or a cut list lacks it. */
static cushim_fn lookup_unknown(const char *function, int version, enum cushim_default_stream kind)
{
    if (LIST_IS_CUT && cush_loaded_driver.hidden.has_others)
        return NULL;
    if (cush_resolve_has_proc_address(&cush_loaded_driver))
        return cush_resolve_by_proc_address(&cush_loaded_driver, function, version, kind);
    /* A driver too old to be asked has no versions of its functions, so a version limit hides what it cannot date. Its
     * oldest ABI version has the name of the function, so a cut list cannot know which one is meant. */
    if (LIST_IS_CUT || cush_loaded_driver.limited || cush_symbols_find_symbol(function) != ENTRY_COUNT)
        return NULL;
    return exported_symbol(function);
}

/* Whether the hidden functions include all of a function, and so what a newer driver may have of it. */
static bool hides_function(size_t first)
{
    size_t index = first;
    while (cush_symbols_same_function(first, index) && cush_hidden_set_has(&cush_loaded_driver.hidden, index))
        index++;
    return !cush_symbols_same_function(first, index);
}

/* The version from which on a driver finds an entry point for a kind. Per-thread variants exist from CUDA 7.0 on. */
static int entry_since(size_t index, enum cushim_default_stream kind)
{
    int since = cush_symbols_entry(index).since;
    bool needs_variant = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD && cush_symbols_has_variant(index);
    return needs_variant && since < FIRST_PER_THREAD_VERSION ? FIRST_PER_THREAD_VERSION : since;
}

/* The newest entry point of a function that a version has; ENTRY_COUNT if it has none. */
static size_t newest_index(size_t first, int version, enum cushim_default_stream kind)
{
    size_t newest = ENTRY_COUNT;
    for (size_t index = first; cush_symbols_same_function(first, index) && entry_since(index, kind) <= version; index++)
        newest = index;
    return newest;
}

size_t cush_lookup_newest_index(const char *function, int version, enum cushim_default_stream kind)
{
    size_t first = cush_symbols_find_function(function);
    return first != ENTRY_COUNT ? newest_index(first, version, kind) : ENTRY_COUNT;
}

/* What a driver that is newer than the list has in place of `known`, an entry point of the list. */
static cushim_fn newer_entry(const char *function, size_t index, int version, enum cushim_default_stream kind,
                             cushim_fn known)
{
    cushim_fn raw = cush_resolve_entry(&cush_loaded_driver, index, kind);
    cushim_fn answer = cush_resolve_by_proc_address(&cush_loaded_driver, function, version, kind);
    return answer != raw ? answer : known;
}

enum cushim_lookup_status cush_lookup_entry(const char *function, int version, enum cushim_default_stream kind,
                                            cushim_fn *out_fn)
{
    size_t first = cush_symbols_find_function(function);
    *out_fn = NULL;
    if (first == ENTRY_COUNT) {
        *out_fn = lookup_unknown(function, version, kind);
        if (*out_fn != NULL)
            return CUSHIM_LOOKUP_FOUND;
        return cush_symbols_find_symbol(function) != ENTRY_COUNT ? CUSHIM_LOOKUP_SUFFIXED : CUSHIM_LOOKUP_UNKNOWN;
    }
    size_t index = newest_index(first, version, kind);
    if (index == ENTRY_COUNT)
        return CUSHIM_LOOKUP_TOO_NEW;

    cushim_fn known = entry_find(index, kind);
    cushim_fn fn = known;
    if (version > CUSHIM_LIST_VERSION && !hides_function(first) && cush_resolve_has_proc_address(&cush_loaded_driver))
        fn = newer_entry(function, index, version, kind, known);
    if (fn == known && cush_hidden_set_has(&cush_loaded_driver.hidden, index))
        return CUSHIM_LOOKUP_HIDDEN;
    *out_fn = fn;
    return fn != NULL ? CUSHIM_LOOKUP_FOUND : CUSHIM_LOOKUP_LACKING;
}

bool cush_lookup_has_function(const char *function, enum cushim_default_stream kind)
{
    size_t first = cush_symbols_find_function(function);
    for (size_t index = first; index != ENTRY_COUNT && cush_symbols_same_function(first, index); index++) {
        if (cush_resolve_allows(&cush_loaded_driver, index) && entry_find(index, kind) != NULL)
            return true;
    }
    return false;
}

/* The name of the function of a symbol such as cuStreamQuery_v9_ptsz. */
struct function_name {
    char text[128];
};

static struct function_name function_of(const char *symbol)
{
    struct function_name name = {""};
    const char *suffix = strstr(symbol, "_v");
    suffix = suffix != NULL ? suffix : strstr(symbol, "_pt");
    size_t length = suffix != NULL ? (size_t)(suffix - symbol) : strlen(symbol);
    if (length < sizeof name.text)
        memcpy(name.text, symbol, length);
    return name;
}

/* Whether the driver itself finds a function without a version in the list at the version limit. Of its ABI versions,
 * it finds the newest one. */
static bool is_within_limit(const char *function, const char *symbol, cushim_fn fn)
{
    size_t length = strlen(symbol);
    bool is_per_thread = length > 5 && strncmp(symbol + length - 5, "_pt", 3) == 0;
    enum cushim_default_stream kind = is_per_thread ? CUSHIM_DEFAULT_STREAM_PER_THREAD : CUSHIM_DEFAULT_STREAM_LEGACY;
    return fn != NULL && lookup_unknown(function, cush_loaded_driver.version, kind) == fn;
}

cushim_fn cush_lookup_unlisted_symbol(const char *symbol)
{
    struct function_name function = function_of(symbol);
    size_t first = cush_symbols_find_function(function.text);
    if (cush_loaded_driver.hidden.has_others || (first != ENTRY_COUNT && hides_function(first)))
        return NULL;
    cushim_fn fn = exported_symbol(symbol);
    if (cush_loaded_driver.limited && (first != ENTRY_COUNT || !is_within_limit(function.text, symbol, fn)))
        return NULL;
    return fn;
}
