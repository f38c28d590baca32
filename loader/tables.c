/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include "atomic.h"
#include "error.h"
#include "error_names.h"
#include "polyfills.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */

#if defined(__GNUC__) || defined(__clang__)
#    pragma GCC diagnostic ignored "-Wunused-parameter"
#elif defined(_MSC_VER)
#    pragma warning(disable : 4100) /* an unused parameter */
#endif

#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static CUresult CUDAAPI absent_##function##_##abi params                                                           \
    {                                                                                                                  \
        return cush_fail_absent(CUSHIM_SLOT_##function##_##abi);                                                       \
    }
#include "cushim/entry_points.h"

/* A null result pointer is CUDA_ERROR_INVALID_VALUE, as in a driver. */
static CUresult absent_give_zero(int *out_number)
{
    if (out_number == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out_number = 0;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI absent_no_version(int *driverVersion)
{
    return absent_give_zero(driverVersion);
}

static CUresult CUDAAPI absent_no_devices(int *count)
{
    return absent_give_zero(count);
}

static CUresult CUDAAPI absent_error_name(CUresult error, const char **pStr)
{
    return get_error_name(error, pStr);
}

static CUresult CUDAAPI absent_error_text(CUresult error, const char **pStr)
{
    return get_error_string(error, pStr);
}

const char *cush_absent_describe(CUresult code)
{
    const struct error_name *error = error_name_find(code);
    return error != NULL ? error->words : NULL;
}

/* The named slots come after the list and replace its entries; those functions are then unused. */
#if defined(__clang__)
#    pragma clang diagnostic ignored "-Winitializer-overrides"
#elif defined(__GNUC__)
#    pragma GCC diagnostic ignored "-Woverride-init"
#endif

const struct cushim_dispatch_table cush_absent_table = {
#define CUSHIM_ENTRY(function, abi, since, params, args) .function##_##abi = absent_##function##_##abi,
#include "cushim/entry_points.h"
    .DriverGetVersion_v1 = absent_no_version,
    .DeviceGetCount_v1 = absent_no_devices,
    .GetErrorName_v1 = absent_error_name,
    .GetErrorString_v1 = absent_error_text,
};

#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static CUresult CUDAAPI missing_##function##_##abi params                                                          \
    {                                                                                                                  \
        return cush_fail_missing(CUSHIM_SLOT_##function##_##abi);                                                      \
    }
#include "cushim/entry_points.h"

const struct cushim_dispatch_table cush_missing_table = {
#define CUSHIM_ENTRY(function, abi, since, params, args) missing_##function##_##abi,
#include "cushim/entry_points.h"
};

static void table_set_native(enum cushim_default_stream kind, int slot, cushim_fn fn)
{
    if (fn == NULL)
        return;
    cush_driver_tables[kind].slots[slot] = fn;
    cush_driver_origins[kind][slot].state = CUSHIM_STATE_NATIVE;
}

static void table_clear(enum cushim_default_stream kind)
{
    cush_driver_tables[kind].named = cush_missing_table;
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++)
        cush_driver_origins[kind][slot] = (struct slot_origin){CUSHIM_STATE_MISSING, 0};
}

void cush_table_fill(const struct driver *driver)
{
    cush_loaded_driver = *driver;
    table_clear(CUSHIM_DEFAULT_STREAM_LEGACY);
    table_clear(CUSHIM_DEFAULT_STREAM_PER_THREAD);
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        size_t row = cush_symbols_row_of((enum cushim_slot)slot);
        if (!cush_resolve_allows(driver, row))
            continue;
        cushim_fn legacy = cush_resolve_row(&cush_loaded_driver, row, CUSHIM_DEFAULT_STREAM_LEGACY);
        table_set_native(CUSHIM_DEFAULT_STREAM_LEGACY, slot, legacy);
        cushim_fn per_thread = legacy;
        if (cush_symbols_has_form(row))
            per_thread = cush_resolve_row(&cush_loaded_driver, row, CUSHIM_DEFAULT_STREAM_PER_THREAD);
        table_set_native(CUSHIM_DEFAULT_STREAM_PER_THREAD, slot, per_thread);
    }
    for (int kind = 0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++) {
        cush_adapted_install((enum cushim_default_stream)kind);
        cush_polyfills_install((enum cushim_default_stream)kind);
    }
}
