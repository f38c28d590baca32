/* SPDX-License-Identifier: MIT */
/* cushim_lookup() and its relatives. */
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "error.h"
#include "layer.h"
#include "load.h"
#include "lookup.h"
#include "os.h"
#include "tables.h"
#include "version.h"

static const char bad_argument[] = "An argument is NULL, or the default-stream kind is invalid.";

static struct cushim_lookup_answer lookup_find(const char *function, int version, enum cushim_default_stream kind)
{
    struct cushim_lookup_answer answer = {.status = CUSHIM_LOOKUP_NO_DRIVER};
    size_t index = cush_symbols_find_function(function);
    if (index == ENTRY_COUNT)
        index = cush_symbols_find_symbol(function);
    if (index != ENTRY_COUNT) {
        answer.since = cush_symbols_entry(index).since;
        answer.function = cush_symbols_entry(index).function;
    }
    if (!cush_load_has_driver())
        return answer;
    const struct driver *driver = &cush_loaded_driver;
    if (version < OLDEST_VERSION)
        answer.status = CUSHIM_LOOKUP_BAD_VERSION;
    else if (version > driver->own_version)
        answer.status = CUSHIM_LOOKUP_DRIVER_TOO_OLD;
    else if (version > driver->version)
        answer.status = CUSHIM_LOOKUP_LIMITED;
    else
        answer.status = cush_lookup_entry(function, version, kind, &answer.fn);
    answer.fn = cush_layer_tables_function(kind, answer.fn);
    return answer;
}

static CUresult lookup_code(enum cushim_lookup_status status)
{
    switch (status) {
    case CUSHIM_LOOKUP_FOUND:
        return CUDA_SUCCESS;
    case CUSHIM_LOOKUP_NO_DRIVER:
        return CUDA_ERROR_NO_DEVICE;
    case CUSHIM_LOOKUP_BAD_VERSION:
    case CUSHIM_LOOKUP_DRIVER_TOO_OLD:
    case CUSHIM_LOOKUP_LIMITED:
        return CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_NOT_FOUND;
    }
}

/* Writes "; cuStreamGetId was added in CUDA 12.0", or nothing if the function is not known. */
static void lookup_format_since(char *text, size_t size, const struct cushim_lookup_answer *answer)
{
    if (answer->function != NULL)
        snprintf(text, size, "; %s was added in CUDA %s", answer->function, cush_version_text(answer->since).text);
}

static CUSHIM_COLD CUresult fail_lookup(const char *function, int version, enum cushim_default_stream kind,
                                        const struct cushim_lookup_answer *answer)
{
    static const char lookup_name[] = "cushim_lookup";
    const struct driver *driver = &cush_loaded_driver;
    struct version_text asked = cush_version_text(version);
    struct version_text since = cush_version_text(answer->since);
    /* Without a driver, another thread may be writing its version. */
    struct version_text own = cush_version_text(answer->status != CUSHIM_LOOKUP_NO_DRIVER ? driver->own_version : 0);
    CUresult code = lookup_code(answer->status);
    char known[160] = "";
    char text[400];
    lookup_format_since(known, sizeof known, answer);
    switch (answer->status) {
    case CUSHIM_LOOKUP_NO_DRIVER:
        return cush_error_set(code, lookup_name, "No CUDA driver is loaded: %", cushim_diagnosis_get()->message);
    case CUSHIM_LOOKUP_BAD_VERSION:
        return cush_error_set(code, lookup_name, "The version is not a CUDA version; CUDA 12.3 is 12030.", NULL);
    case CUSHIM_LOOKUP_DRIVER_TOO_OLD:
        snprintf(text, sizeof text, "CUDA %s was requested, and this driver is CUDA %s%s.", asked.text, own.text,
                 known);
        break;
    case CUSHIM_LOOKUP_LIMITED:
        snprintf(text, sizeof text,
                 "CUDA %s was requested, and the version limit is CUDA %s; this driver is CUDA %s%s.", asked.text,
                 cush_version_text(driver->version).text, own.text, known);
        break;
    case CUSHIM_LOOKUP_SUFFIXED:
        snprintf(text, sizeof text, "%.100s is the name of an entry point, not of a function; look up %s with CUDA %s.",
                 function, answer->function, since.text);
        break;
    case CUSHIM_LOOKUP_TOO_NEW:
        if (answer->since <= version)
            snprintf(text, sizeof text,
                     "%s for per-thread default streams was added in CUDA %s, and CUDA %s was "
                     "requested.",
                     function, cush_version_text(FIRST_PER_THREAD_VERSION).text, asked.text);
        else
            snprintf(text, sizeof text, "%s was added in CUDA %s, and CUDA %s was requested.", function, since.text,
                     asked.text);
        break;
    case CUSHIM_LOOKUP_HIDDEN:
        snprintf(text, sizeof text, "%s is hidden by CUSHIM_HIDE or the option hide; it was added in CUDA %s.",
                 function, since.text);
        break;
    case CUSHIM_LOOKUP_LACKING:
        snprintf(text, sizeof text, "This driver (CUDA %s) lacks %s of CUDA %s%s%s.", own.text, function, asked.text,
                 kind == CUSHIM_DEFAULT_STREAM_PER_THREAD ? " for per-thread default streams" : "", known);
        break;
    default:
        if (LIST_IS_CUT)
            snprintf(
                text, sizeof text,
                "This copy of cushim was made without \"%.100s\", and does not find it in this driver (CUDA %s). Add "
                "the function to those of loader/amalgamation/amalgamate.py --slots.",
                function, own.text);
        else
            snprintf(text, sizeof text,
                     "Neither cushim nor this driver (CUDA %s) knows a function \"%.100s\" of CUDA %s.", own.text,
                     function, asked.text);
        break;
    }
    return cush_error_set_copy(code, lookup_name, text);
}

CUresult cushim_lookup(const char *function, int version, enum cushim_default_stream kind, cushim_fn *out_fn)
{
    if (function == NULL || out_fn == NULL || !cush_driver_is_kind(kind))
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, "cushim_lookup", bad_argument, NULL);
    struct cushim_lookup_answer answer = lookup_find(function, version, kind);
    if (answer.status != CUSHIM_LOOKUP_FOUND)
        return fail_lookup(function, version, kind, &answer);
    *out_fn = answer.fn;
    return CUDA_SUCCESS;
}

CUresult cushim_lookup_explain(const char *function, int version, enum cushim_default_stream kind,
                               struct cushim_lookup_answer *out_answer)
{
    if (function == NULL || out_answer == NULL || !cush_driver_is_kind(kind))
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, "cushim_lookup_explain", bad_argument, NULL);
    *out_answer = lookup_find(function, version, kind);
    return CUDA_SUCCESS;
}

static cushim_fn fail_symbol(CUresult code, const char *caller, const char *message)
{
    cush_error_set(code, caller, message, NULL);
    return NULL;
}

/* The list of a subset does not show whether the driver has others. */
static CUSHIM_COLD cushim_fn fail_unknown_symbol(const char *symbol, const char *caller)
{
    char text[240];
    if (!LIST_IS_CUT)
        return fail_symbol(CUDA_ERROR_NOT_FOUND, caller, "The driver does not have a function of this name.");
    snprintf(
        text, sizeof text,
        "This copy of cushim has %d slots, and none for \"%.100s\". Add the function to the list with which it was "
        "made (amalgamate.py --slots).",
        CUSHIM_SLOT_COUNT, symbol);
    cush_error_set_copy(CUDA_ERROR_NOT_FOUND, caller, text);
    return NULL;
}

/* What the loaded driver has for a name without a slot. `index` is ENTRY_COUNT if the list does not have the name. */
static cushim_fn symbol_of_driver(const char *symbol, size_t index, enum cushim_default_stream kind)
{
    if (index == ENTRY_COUNT)
        return cush_lookup_unlisted_symbol(symbol);
    return cush_resolve_allows(&cush_loaded_driver, index) ? cush_resolve_entry(&cush_loaded_driver, index, kind)
                                                           : NULL;
}

/* The function of a slot, or NULL with the reason. `must_work`: the null driver is not enough, and a layer is. */
static cushim_fn symbol_of_slot(enum cushim_slot slot, enum cushim_default_stream kind, bool must_work)
{
    bool has_driver = cush_load_has_driver();
    bool is_layered = must_work && cush_layer_tables_is_replaced(kind, slot);
    if (has_driver && cush_driver_origins[kind][slot].state == CUSHIM_STATE_MISSING && !is_layered) {
        cush_fail_missing(slot);
        return NULL;
    }
    if (!has_driver && must_work && !cush_null_driver_has(slot) && !is_layered) {
        cush_fail_null_driver(slot);
        return NULL;
    }
    return ((const union table *)cushim_table_get(kind))->slots[slot];
}

static cushim_fn symbol_find(const char *symbol, bool must_work, const char *caller)
{
    if (symbol == NULL)
        return fail_symbol(CUDA_ERROR_INVALID_VALUE, caller, "The symbol is NULL.");
    bool has_driver = cush_load_has_driver();
    enum cushim_default_stream kind = CUSHIM_DEFAULT_STREAM_LEGACY;
    enum cushim_slot slot = CUSHIM_SLOT_COUNT;
    size_t index = cush_symbols_find_symbol(symbol);
    if (index != ENTRY_COUNT) {
        slot = cush_symbols_slot_of(index);
        if (strcmp(symbol, cush_symbols_symbol(index)) != 0)
            kind = CUSHIM_DEFAULT_STREAM_PER_THREAD;
    }
    if (slot != CUSHIM_SLOT_COUNT)
        return symbol_of_slot(slot, kind, must_work);
    cushim_fn fn = has_driver ? symbol_of_driver(symbol, index, kind) : NULL;
    return fn != NULL ? fn : fail_unknown_symbol(symbol, caller);
}

cushim_fn cushim_symbol(const char *symbol)
{
    return symbol_find(symbol, false, "cushim_symbol");
}

cushim_fn cushim_symbol_if_available(const char *symbol)
{
    return symbol_find(symbol, true, "cushim_symbol_if_available");
}

cushim_fn cushim_function_if_available(const char *function, int version, enum cushim_default_stream kind)
{
    cushim_fn fn = NULL;
    if (function == NULL || !cush_driver_is_kind(kind))
        return fail_symbol(CUDA_ERROR_INVALID_VALUE, "cushim_function_if_available", bad_argument);
    size_t index = cush_lookup_newest_index(function, version, kind);
    if (index == ENTRY_COUNT || cush_symbols_slot_of(index) == CUSHIM_SLOT_COUNT)
        return cushim_lookup(function, version, kind, &fn) == CUDA_SUCCESS ? fn : NULL;
    return symbol_of_slot(cush_symbols_slot_of(index), kind, true);
}

const char *cushim_symbol_name(cushim_fn fn)
{
    if (!cush_load_has_succeeded())
        return NULL;
    return cush_os_library_symbol_name(cush_loaded_driver.library, fn);
}
