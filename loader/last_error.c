/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <stdio.h>

#include "common/atomic.h"
#include "driver.h"
#include "load.h"
#include "polyfills.h"
#include "tables.h"
#include "version.h"

static CUSH_THREAD_LOCAL char own_message[512], driver_message[512];
static CUSH_THREAD_LOCAL struct cushim_error last_error;

#define VERSION(version) cush_version_text(version).text

/* The symbol of the first later entry point of the function that has a per-thread variant. */
static const char *find_later_variant(size_t index)
{
    do
        index++;
    while (cush_symbols_entry(index).per_thread_ending[0] == '\0');
    return cush_symbols_symbol(index);
}

void cush_last_error_format_missing(enum cushim_slot slot, char *text, size_t size)
{
    const struct driver *driver = &cush_loaded_driver;
    size_t index = cush_symbols_index(slot);
    struct cushim_entry_point entry = cush_symbols_entry(index);
    bool is_hidden = cush_hidden_set_has(&driver->hidden, index);
    /* The legacy table has it. Therefore the slot of the per-thread table was called. */
    bool is_per_thread = cush_driver_origins[CUSHIM_DEFAULT_STREAM_LEGACY][slot].state != CUSHIM_STATE_MISSING;
    bool lacks_variant = is_per_thread && cush_symbols_lacks_variant(index);
    int usable_since = cush_polyfills_since(slot); /* a later driver lacks what the polyfill calls, or hides it */
    int needed = is_per_thread && !lacks_variant  ? FIRST_PER_THREAD_VERSION
                 : usable_since > driver->version ? usable_since
                                                  : entry.since;
    const char *purpose = is_per_thread ? " for per-thread default streams" : "";
    char limit[48] = "";
    if (needed <= driver->own_version)
        snprintf(limit, sizeof limit, "the version limit is CUDA %s, and ", VERSION(driver->version));
    if (cush_symbols_is_elsewhere(index))
        snprintf(text, size, "Only drivers for Windows have %s.", entry.symbol);
    else if (needed > driver->version)
        snprintf(text, size, "%s needs CUDA %s%s; %sthis driver is CUDA %s.", entry.symbol, VERSION(needed), purpose,
                 limit, VERSION(driver->own_version));
    else if (is_hidden)
        snprintf(text, size, "%s is hidden by CUSHIM_HIDE or the option hide.", entry.symbol);
    else if (lacks_variant)
        snprintf(text, size, "%s (CUDA %s) does not support per-thread default streams; use %s.", entry.symbol,
                 VERSION(entry.since), find_later_variant(index));
    else if (is_per_thread)
        snprintf(text, size, "This driver lacks the per-thread variant of %s.", entry.symbol);
    else
        snprintf(text, size, "This driver (CUDA %s) lacks %s, which was added in CUDA %s.",
                 VERSION(driver->own_version), entry.symbol, VERSION(entry.since));
}

/* Whether the slots of both tables point into the driver. If so, the call bypassed cushim, which recorded nothing. */
static bool loaded_slot_is_native(enum cushim_slot slot)
{
    return cush_load_has_succeeded()
           && cush_driver_origins[CUSHIM_DEFAULT_STREAM_LEGACY][slot].state == CUSHIM_STATE_NATIVE
           && cush_driver_origins[CUSHIM_DEFAULT_STREAM_PER_THREAD][slot].state == CUSHIM_STATE_NATIVE;
}

/* Writes the driver's own text for a code of the driver. Slots that could load a driver or record a failure are not
 * called. */
static CUSHIM_COLD void last_error_format_code(const struct error_detail *last)
{
    const char *name = NULL;
    const char *text = NULL;
    bool has_names = loaded_slot_is_native(CUSHIM_SLOT_GetErrorName_v1) && cush_loaded_driver.error_text != NULL;
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    const char *description = has_names ? NULL : cush_null_driver_describe(last->code);
    if (description != NULL)
        snprintf(own_message, sizeof own_message, "%s returned %s.", last->function, description);
    else if (has_names && table->GetErrorName_v1(last->code, &name) == CUDA_SUCCESS && name != NULL
             && cush_loaded_driver.error_text(last->code, &text) == CUDA_SUCCESS && text != NULL)
        snprintf(own_message, sizeof own_message, "%s returned %s: %s.", last->function, name, text);
    else
        snprintf(own_message, sizeof own_message, "%s returned error %d.", last->function, (int)last->code);
}

static CUSHIM_COLD void last_error_format_message(const struct error_detail *last)
{
    const char *rest = last->message;
    size_t used = 0;
    for (; *rest != '\0' && used + 1 < sizeof own_message; rest++) {
        if (*rest == '%' && last->detail != NULL) {
            int length = snprintf(own_message + used, sizeof own_message - used, "%s", last->detail);
            used = used + (size_t)length < sizeof own_message ? used + (size_t)length : sizeof own_message - 1;
        } else {
            own_message[used++] = *rest;
        }
    }
    own_message[used] = '\0';
}

CUSHIM_COLD const struct cushim_error *cushim_error_last(void)
{
    const struct error_detail *last = cush_error_get();
    if (last->is_missing)
        cush_last_error_format_missing(last->slot, own_message, sizeof own_message);
    else if (last->message != NULL)
        last_error_format_message(last);
    else if (last->code != CUDA_SUCCESS)
        last_error_format_code(last);
    else
        own_message[0] = '\0';
    last_error.code = last->code;
    last_error.function = last->function != NULL ? last->function : "";
    last_error.message = own_message;
    if (last->driver_message != NULL)
        snprintf(driver_message, sizeof driver_message, "%s", last->driver_message);
    last_error.driver_message = last->driver_message != NULL ? driver_message : NULL;
    return &last_error;
}

CUSHIM_COLD CUresult cushim_error_set_driver(CUresult code, enum cushim_slot slot)
{
    if (code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY || (unsigned)slot >= CUSHIM_SLOT_COUNT)
        return code;
    const struct error_detail *last = cush_error_get();
    const char *symbol = cush_symbols_symbol(cush_symbols_index(slot));
    const char *log = cush_driver_log_take(code, slot);
    bool is_of_cushim = last->code == code && last->function == symbol && (last->is_missing || last->message != NULL);
    if (loaded_slot_is_native(slot) || !is_of_cushim) {
        cush_error_set(code, symbol, NULL, NULL);
        cush_error_add_driver_message(log);
    }
    return code;
}

/* The current table is not asked before a load, because asking it would load the driver. */
const char *cushim_error_string(CUresult code)
{
    const char *text = cush_null_driver_describe(code);
    if (text != NULL)
        return text;
    if (cush_load_has_succeeded() && cushim_table_legacy()->GetErrorString_v1(code, &text) == CUDA_SUCCESS
        && text != NULL)
        return text;
    return "an error code that neither this version of cushim nor the driver knows";
}
