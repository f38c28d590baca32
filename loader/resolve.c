/* SPDX-License-Identifier: MIT */
#include "resolve.h"

#include "os_library.h"

bool cush_resolve_allows(const struct driver *driver, size_t row)
{
    return !(driver->limited && cush_symbols_row(row).since > driver->version)
           && !cush_hidden_set_has(&driver->hidden, row);
}

/* One question to cuGetProcAddress. Its answers are not believed further than they can be checked. */
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
        /* From 12.0 on, "not found" is success with NULL, and the status tells. A driver may leave the status alone. */
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
 * A cuGetProcAddress that returns one ABI whatever version is asked for (some interposers do) would make a program call
 * through a wrong type; one that knows no per-thread forms, work on the wrong stream. Both are found out by asking what
 * is known: an exported entry point must be answered with its own address, and two ABIs of a function, or two forms of
 * one, with two addresses.
 */
static bool proc_address_agrees(const struct driver *driver, cushim_fn answer, const char *symbol, cushim_fn other)
{
    cushim_fn exported = cush_os_library_symbol(driver->library, symbol);
    return answer == NULL || ((exported == NULL || answer == exported) && answer != other);
}

static bool proc_address_is_honest(const struct driver *driver)
{
    cushim_fn older = NULL;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        struct cushim_entry_point entry = cush_symbols_row(row);
        if (entry.since > CUSHIM_LIST_COMPARED_VERSION)
            continue; /* its version is not established */
        if (row == 0 || !cush_symbols_same_function(row, row - 1))
            older = NULL;
        cushim_fn answer = proc_address_query(driver, entry.function, entry.since, false);
        if (!proc_address_agrees(driver, answer, entry.symbol, older))
            return false;
        if (entry.per_thread_symbol[0] != '\0'
            && !proc_address_agrees(driver, proc_address_query(driver, entry.function, entry.since, true),
                                    entry.per_thread_symbol, answer))
            return false;
        older = answer;
    }
    return true;
}

bool cush_resolve_has_proc_address(struct driver *driver)
{
    int honest = CUSHIM_LOAD_ACQUIRE(&driver->proc_address.is_honest);
    if (honest == 0) {
        /* Two threads may both find out; they find the same. */
        bool has_one = driver->proc_address.v1 != NULL || driver->proc_address.v2 != NULL;
        honest = has_one && proc_address_is_honest(driver) ? 1 : -1;
        CUSHIM_STORE_RELEASE(&driver->proc_address.is_honest, honest);
    }
    return honest > 0;
}

cushim_fn cush_resolve_by_proc_address(struct driver *driver, const char *function, int version, bool per_thread)
{
    return cush_resolve_has_proc_address(driver) ? proc_address_query(driver, function, version, per_thread) : NULL;
}

cushim_fn cush_resolve_row(struct driver *driver, size_t row, bool per_thread)
{
    struct cushim_entry_point entry = cush_symbols_row(row);
    if (per_thread && cush_symbols_lacks_form(row))
        return NULL;
    if (entry.since > driver->own_version)
        return NULL;
    bool has_form = per_thread && entry.per_thread_symbol[0] != '\0';
    cushim_fn exported = cush_os_library_symbol(driver->library, has_form ? entry.per_thread_symbol : entry.symbol);
    if (exported != NULL)
        return exported;
    return cush_resolve_by_proc_address(driver, entry.function, entry.since, has_form);
}
