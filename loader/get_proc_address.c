/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include <string.h>

#include "driver.h"
#include "os.h"

/* An adapted slot must answer here, too, or a look-up would bypass the version limit, the hidden functions or the
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

/* A function without a row is newer than cushim, or not documented. */
static cushim_fn lookup_unknown(const char *function, int version, enum cushim_default_stream kind)
{
    if (cush_resolve_has_proc_address(&cush_loaded_driver))
        return cush_resolve_by_proc_address(&cush_loaded_driver, function, version, kind);
    /* A driver too old to be asked has no versions of its functions, so a version limit hides what it cannot date. */
    if (cush_loaded_driver.limited || cush_symbols_find_symbol(function) != ROW_COUNT)
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

/* The version from which on a driver finds a row for a kind. Per-thread forms exist from CUDA 7.0 on. */
static int row_since(size_t row, enum cushim_default_stream kind)
{
    int since = cush_symbols_row(row).since;
    bool needs_form = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD && cush_symbols_has_form(row);
    return needs_form && since < FIRST_PER_THREAD_VERSION ? FIRST_PER_THREAD_VERSION : since;
}

/* The newest row of a function that a version has; ROW_COUNT if it has none. */
static size_t newest_row(size_t first, int version, enum cushim_default_stream kind)
{
    size_t newest = ROW_COUNT;
    for (size_t row = first; cush_symbols_same_function(first, row) && row_since(row, kind) <= version; row++)
        newest = row;
    return newest;
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
    if (cush_loaded_driver.limited || (first != ROW_COUNT && hides_function(first)))
        return NULL;
    return exported_symbol(symbol);
}

static CUresult CUDAAPI adapted_DriverGetVersion(int *driverVersion)
{
    if (driverVersion == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = cush_loaded_driver.version;
    return CUDA_SUCCESS;
}

/*
 * The common part of both signatures, with the rules that were observed with drivers 470 to 580. A negative version
 * finds the newest entry points. So does, before CUDA 13.0, a version above that of the driver; then it is an error.
 * (Drivers for CUDA 12.6 to 12.9 were not observed.) Without a flag, `kind` counts.
 */
static CUresult adapted_get_proc_address(enum cushim_default_stream kind, const char *symbol, void **pfn, int version,
                                         cuuint64_t flags, cushim_fn *out_fn, enum cushim_lookup_status *out_result)
{
    enum { FIRST_STRICT_VERSION = 13000 };
    const cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    int newest = cush_loaded_driver.version;
    if (symbol == NULL || pfn == NULL) /* driver 580 crashes */
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & ~known) != 0 || (version > newest && newest >= FIRST_STRICT_VERSION))
        return CUDA_ERROR_INVALID_VALUE;
    if (version < 0 || version > newest)
        version = newest;
    if (flags != 0)
        kind = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0 ? CUSHIM_DEFAULT_STREAM_PER_THREAD
                                                                            : CUSHIM_DEFAULT_STREAM_LEGACY;
    *out_result = cush_lookup_entry(symbol, version, kind, out_fn);
    /* For a driver, a function that it lacks is unknown, not too new for the requested version. */
    if (*out_result == CUSHIM_LOOKUP_TOO_NEW && !cush_lookup_has_function(symbol, kind))
        *out_result = CUSHIM_LOOKUP_UNKNOWN;
    return CUDA_SUCCESS;
}

static CUresult adapted_get_proc_address_v1(enum cushim_default_stream kind, const char *symbol, void **pfn,
                                            int cudaVersion, cuuint64_t flags)
{
    enum cushim_lookup_status found;
    cushim_fn fn;
    CUresult result = adapted_get_proc_address(kind, symbol, pfn, cudaVersion, flags, &fn, &found);
    if (result != CUDA_SUCCESS)
        return result;
    if (found != CUSHIM_LOOKUP_FOUND)
        return CUDA_ERROR_NOT_FOUND; /* *pfn is left as it was */
    memcpy(pfn, &fn, sizeof fn);
    return CUDA_SUCCESS;
}

static CUresult adapted_get_proc_address_v2(enum cushim_default_stream kind, const char *symbol, void **pfn,
                                            int cudaVersion, cuuint64_t flags,
                                            CUdriverProcAddressQueryResult *symbolStatus)
{
    enum cushim_lookup_status found;
    cushim_fn fn;
    CUresult result = adapted_get_proc_address(kind, symbol, pfn, cudaVersion, flags, &fn, &found);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(pfn, &fn, sizeof fn); /* not found is success with NULL */
    if (symbolStatus != NULL) {
        *symbolStatus = found == CUSHIM_LOOKUP_FOUND     ? CU_GET_PROC_ADDRESS_SUCCESS
                        : found == CUSHIM_LOOKUP_TOO_NEW ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                         : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return CUDA_SUCCESS;
}

/* The slots of one kind. */
#define ADAPTED(name, kind)                                                                                            \
    static CUresult CUDAAPI adapted_##name##_GetProcAddress_v1(const char *symbol, void **pfn, int cudaVersion,        \
                                                               cuuint64_t flags)                                       \
    {                                                                                                                  \
        return adapted_get_proc_address_v1(kind, symbol, pfn, cudaVersion, flags);                                     \
    }                                                                                                                  \
    static CUresult CUDAAPI adapted_##name##_GetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,        \
                                                               cuuint64_t flags,                                       \
                                                               CUdriverProcAddressQueryResult *symbolStatus)           \
    {                                                                                                                  \
        return adapted_get_proc_address_v2(kind, symbol, pfn, cudaVersion, flags, symbolStatus);                       \
    }
ADAPTED(legacy, CUSHIM_DEFAULT_STREAM_LEGACY)
ADAPTED(per_thread, CUSHIM_DEFAULT_STREAM_PER_THREAD)

/* Marks a slot as adapted, if the driver has it. */
static bool adapted_install_slot(enum cushim_default_stream kind, enum cushim_slot slot)
{
    struct slot_origin *origin = &cush_driver_origins[kind][slot];
    if (origin->state != CUSHIM_STATE_NATIVE)
        return false;
    origin->state = CUSHIM_STATE_ADAPTED;
    return true;
}

void cush_adapted_install(enum cushim_default_stream kind)
{
    struct cushim_dispatch_table *table = &cush_driver_tables[kind].named;
    bool per_thread = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD;
    if (cush_loaded_driver.limited && adapted_install_slot(kind, CUSHIM_SLOT_DriverGetVersion_v1))
        table->DriverGetVersion_v1 = adapted_DriverGetVersion;
    if (!cush_loaded_driver.limited && cush_hidden_set_is_empty(&cush_loaded_driver.hidden) && !per_thread)
        return;
    if (adapted_install_slot(kind, CUSHIM_SLOT_GetProcAddress_v1))
        table->GetProcAddress_v1 = per_thread ? adapted_per_thread_GetProcAddress_v1 : adapted_legacy_GetProcAddress_v1;
    if (adapted_install_slot(kind, CUSHIM_SLOT_GetProcAddress_v2))
        table->GetProcAddress_v2 = per_thread ? adapted_per_thread_GetProcAddress_v2 : adapted_legacy_GetProcAddress_v2;
}
