/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include "common/atomic.h"
#include "os.h"

_Static_assert(sizeof(union table) == sizeof(struct cushim_dispatch_table), "a table is nothing but its slots");

union table cush_driver_tables[CUSHIM_DEFAULT_STREAM_COUNT];
struct slot_origin cush_driver_origins[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
struct driver cush_loaded_driver;

bool cush_resolve_allows(const struct driver *driver, size_t index)
{
    return !(driver->limited && cush_symbols_entry(index).since > driver->version)
           && !cush_hidden_set_has(&driver->hidden, index);
}

/* Calls cuGetProcAddress once. */
static cushim_fn proc_address_query(const struct driver *driver, const char *function, int version, bool per_thread)
{
    union {
        void *object;
        cushim_fn function;
    } answer = {NULL};
    cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    if (per_thread && version < FIRST_PER_THREAD_VERSION)
        version = FIRST_PER_THREAD_VERSION;
    if (version > driver->own_version)
        return NULL; /* always CUDA_ERROR_INVALID_VALUE */
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (driver->proc_address.v2 != NULL) {
        /* From 12.0 on, "not found" is success with NULL and a status. A driver may leave the status unchanged. */
        CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
        result = driver->proc_address.v2(function, &answer.object, version, flags, &status);
        if (status != CU_GET_PROC_ADDRESS_SUCCESS)
            return NULL;
    } else if (driver->proc_address.v1 != NULL) {
        result = driver->proc_address.v1(function, &answer.object, version, flags);
    }
    return result == CUDA_SUCCESS ? answer.function : NULL;
}

/*
 * Some interposers have a cuGetProcAddress that returns one ABI version for every requested version; a program would
 * then call through a wrong type. If it has no per-thread variants, a program would work on the wrong stream. Both are
 * detected with requests whose result is known: an exported entry point must have its own address, and two ABI versions
 * of a function, or the two variants of one, must have two addresses.
 */
static bool proc_address_agrees(const struct driver *driver, cushim_fn answer, const char *symbol, cushim_fn other)
{
    cushim_fn exported = cush_os_library_symbol(driver->library, symbol);
    return answer == NULL || ((exported == NULL || answer == exported) && answer != other);
}

static bool proc_address_can_be_trusted(const struct driver *driver)
{
    cushim_fn older = NULL;
    for (size_t index = 0; index < ENTRY_COUNT; index++) {
        struct cushim_entry_point entry = cush_symbols_entry(index);
        if (entry.since > CUSHIM_LIST_COMPARED_VERSION || cush_symbols_is_elsewhere(index))
            continue; /* no driver was asked for this version, or no driver here has it */
        if (index == 0 || !cush_symbols_same_function(index, index - 1))
            older = NULL;
        cushim_fn answer = proc_address_query(driver, entry.function, entry.since, false);
        if (!proc_address_agrees(driver, answer, entry.symbol, older))
            return false;
        if (entry.per_thread_ending[0] != '\0'
            && !proc_address_agrees(driver, proc_address_query(driver, entry.function, entry.since, true),
                                    cush_symbols_variant(index).text, answer))
            return false;
        older = answer;
    }
    return true;
}

bool cush_resolve_has_proc_address(struct driver *driver)
{
    int trusted = CUSHIM_LOAD_ACQUIRE(&driver->proc_address.is_trusted);
    if (trusted == 0) {
        /* Several threads may check at the same time; they get the same result. */
        bool has_one = driver->proc_address.v1 != NULL || driver->proc_address.v2 != NULL;
        trusted = has_one && proc_address_can_be_trusted(driver) ? 1 : -1;
        CUSHIM_STORE_RELEASE(&driver->proc_address.is_trusted, trusted);
    }
    return trusted > 0;
}

static cushim_fn proc_address_ask(struct driver *driver, const char *function, int version, bool per_thread)
{
    return cush_resolve_has_proc_address(driver) ? proc_address_query(driver, function, version, per_thread) : NULL;
}

cushim_fn cush_resolve_by_proc_address(struct driver *driver, const char *function, int version,
                                       enum cushim_default_stream kind)
{
    return proc_address_ask(driver, function, version, kind == CUSHIM_DEFAULT_STREAM_PER_THREAD);
}

cushim_fn cush_resolve_entry(struct driver *driver, size_t index, enum cushim_default_stream kind)
{
    struct cushim_entry_point entry = cush_symbols_entry(index);
    bool per_thread = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD;
    bool has_variant = per_thread && entry.per_thread_ending[0] != '\0';
    if (cush_symbols_is_elsewhere(index) || (per_thread && cush_symbols_lacks_variant(index)))
        return NULL;
    if (entry.since > driver->own_version || (has_variant && driver->version < FIRST_PER_THREAD_VERSION))
        return NULL;
    cushim_fn exported =
        cush_os_library_symbol(driver->library, has_variant ? cush_symbols_variant(index).text : entry.symbol);
    if (exported != NULL)
        return exported;
    /* cuGetProcAddress of a driver that lacks this ABI version may return an older one, for the same CUDA version. */
    cushim_fn answer = proc_address_ask(driver, entry.function, entry.since, has_variant);
    bool has_older = index > 0 && cush_symbols_same_function(index, index - 1);
    return has_older && answer == cush_resolve_entry(driver, index - 1, kind) ? NULL : answer;
}
