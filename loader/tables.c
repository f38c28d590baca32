/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include "common/atomic.h"
#include "error.h"
#include "lists/error_names.h"
#include "os.h"
#include "polyfills.h"

#include "cushim/abi/egl.h" /* a frame is passed by value */

#if defined(__GNUC__) || defined(__clang__)
#    pragma GCC diagnostic ignored "-Wunused-parameter"
#elif defined(_MSC_VER)
#    pragma warning(disable : 4100) /* an unused parameter */
#endif

static bool tables_are_filled; /* the driver tables, perhaps by a load that then fails; guarded by the load lock */
static bool driver_is_loaded;

void cush_table_set_loaded(bool is_loaded)
{
    tables_are_filled = is_loaded;
    CUSHIM_STORE_RELEASE(&driver_is_loaded, is_loaded);
}

/* Whether the driver tables can be asked. A layer that is being installed already calls their slots. */
static bool tables_are_known(void)
{
    return CUSHIM_LOAD_ACQUIRE(&driver_is_loaded) || (cush_os_load_lock_is_mine() && tables_are_filled);
}

static bool table_lacks_slot(enum cushim_slot slot)
{
    return cush_driver_origins[CUSHIM_DEFAULT_STREAM_LEGACY][slot].state == CUSHIM_STATE_MISSING
           || cush_driver_origins[CUSHIM_DEFAULT_STREAM_PER_THREAD][slot].state == CUSHIM_STATE_MISSING;
}

/* The null driver and the driver tables have the same failing functions. A program can keep the null driver while a
 * driver is loaded, so that the slot need not be missing. */
static CUSHIM_COLD CUresult table_fail_slot(enum cushim_slot slot)
{
    return tables_are_known() && table_lacks_slot(slot) ? cush_fail_missing(slot) : cush_fail_null_driver(slot);
}

#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static CUSHIM_COLD CUresult CUDAAPI failing_##function##_##abi params                                              \
    {                                                                                                                  \
        return table_fail_slot(CUSHIM_SLOT_##function##_##abi);                                                        \
    }
#include "cushim/entry_points.h"

/* Not a constant table: that would be an address for each slot, which the dynamic loader adjusts in every process. */
static CUSHIM_COLD cushim_fn table_failing_function(int slot)
{
    switch (slot) {
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    case CUSHIM_SLOT_##function##_##abi:                                                                               \
        return (cushim_fn)failing_##function##_##abi;
#include "cushim/entry_points.h"
    default:
        return NULL;
    }
}

static CUSHIM_COLD void table_fill_failing(union table *table)
{
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++)
        table->slots[slot] = table_failing_function(slot);
}

/* A null result pointer is CUDA_ERROR_INVALID_VALUE, as in a driver. */
static CUresult null_driver_give_zero(int *out_number)
{
    if (out_number == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out_number = 0;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI null_driver_no_version(int *driverVersion)
{
    return null_driver_give_zero(driverVersion);
}

static CUresult CUDAAPI null_driver_no_devices(int *count)
{
    return null_driver_give_zero(count);
}

static CUresult CUDAAPI null_driver_error_name(CUresult error, const char **pStr)
{
    return get_error_name(error, pStr);
}

/* A program that does not know cushim prints this text. A diagnosis is never freed. */
static CUresult CUDAAPI null_driver_error_text(CUresult error, const char **pStr)
{
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    CUresult result = get_error_string(error, pStr);
    if (result == CUDA_SUCCESS && error == CUDA_ERROR_NO_DEVICE && diagnosis->code != CUDA_SUCCESS)
        *pStr = diagnosis->message;
    return result;
}

const char *cush_null_driver_describe(CUresult code)
{
    const struct error_name *error = error_name_find(code);
    return error != NULL ? error_text(error->message) : NULL;
}

const struct cushim_dispatch_table *cush_null_driver_table(void)
{
    static union table table;
    if (table.named.Init_v1 == NULL) {
        table_fill_failing(&table);
        table.named.DriverGetVersion_v1 = null_driver_no_version;
        table.named.DeviceGetCount_v1 = null_driver_no_devices;
        table.named.GetErrorName_v1 = null_driver_error_name;
        table.named.GetErrorString_v1 = null_driver_error_text;
    }
    return &table.named;
}

bool cush_null_driver_has(enum cushim_slot slot)
{
    return slot == CUSHIM_SLOT_DriverGetVersion_v1 || slot == CUSHIM_SLOT_DeviceGetCount_v1
           || slot == CUSHIM_SLOT_GetErrorName_v1 || slot == CUSHIM_SLOT_GetErrorString_v1;
}

static void table_set_native(enum cushim_default_stream kind, int slot, cushim_fn fn)
{
    if (fn == NULL)
        return;
    cush_driver_tables[kind].slots[slot] = fn;
    cush_driver_origins[kind][slot].state = CUSHIM_STATE_NATIVE;
}

static void table_clear(enum cushim_default_stream kind)
{
    table_fill_failing(&cush_driver_tables[kind]);
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++)
        cush_driver_origins[kind][slot] = (struct slot_origin){CUSHIM_STATE_MISSING, 0};
}

void cush_table_fill(const struct driver *driver)
{
    cush_loaded_driver = *driver;
    table_clear(CUSHIM_DEFAULT_STREAM_LEGACY);
    table_clear(CUSHIM_DEFAULT_STREAM_PER_THREAD);
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        size_t index = cush_symbols_index((enum cushim_slot)slot);
        if (!cush_resolve_allows(driver, index))
            continue;
        cushim_fn legacy = cush_resolve_entry(&cush_loaded_driver, index, CUSHIM_DEFAULT_STREAM_LEGACY);
        table_set_native(CUSHIM_DEFAULT_STREAM_LEGACY, slot, legacy);
        cushim_fn per_thread = legacy;
        if (cush_symbols_has_variant(index))
            per_thread = cush_resolve_entry(&cush_loaded_driver, index, CUSHIM_DEFAULT_STREAM_PER_THREAD);
        table_set_native(CUSHIM_DEFAULT_STREAM_PER_THREAD, slot, per_thread);
    }
    for (int kind = 0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++) {
        cush_adapted_install((enum cushim_default_stream)kind);
        cush_polyfills_install((enum cushim_default_stream)kind);
    }
    tables_are_filled = true;
}
