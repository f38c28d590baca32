/* SPDX-License-Identifier: MIT */
#include "last_error.h"

#include <stdio.h>

#include "absent.h"
#include "driver.h"
#include "error.h"
#include "layered.h"

static _Thread_local char message[512];
static _Thread_local struct cushim_error last_error;

/* The major and minor number of a version, for printf. */
#define MAJOR_MINOR(version) (version) / 1000, (version) % 1000 / 10

/* The legacy table has it. Therefore the slot of the per-thread table was called. */
static bool is_missing_per_thread_alone(size_t row)
{
    enum cushim_slot slot = cush_symbols_slot_of(row);
    return slot != CUSHIM_SLOT_COUNT
           && cush_driver_origins[CUSHIM_DEFAULT_STREAM_LEGACY][slot].state != CUSHIM_STATE_MISSING;
}

static void put_missing_form_into_words(size_t row, char *text, size_t size)
{
    const struct driver *driver = &cush_loaded_driver;
    const char *symbol = cush_symbols_row(row).symbol;
    if (cush_symbols_lacks_form(row))
        snprintf(text, size, "%s has no form for per-thread default streams; a later version of it has one.", symbol);
    else if (driver->own_version < FIRST_PER_THREAD_VERSION)
        snprintf(text, size, "%s needs CUDA %d.%d for per-thread default streams; this driver is CUDA %d.%d.", symbol,
                 MAJOR_MINOR(FIRST_PER_THREAD_VERSION), MAJOR_MINOR(driver->own_version));
    else if (driver->version < FIRST_PER_THREAD_VERSION)
        snprintf(text, size,
                 "%s needs CUDA %d.%d for per-thread default streams; the version limit is CUDA %d.%d, and this driver "
                 "is CUDA %d.%d.",
                 symbol, MAJOR_MINOR(FIRST_PER_THREAD_VERSION), MAJOR_MINOR(driver->version),
                 MAJOR_MINOR(driver->own_version));
    else
        snprintf(text, size, "This driver lacks the form of %s for per-thread default streams.", symbol);
}

void cush_last_error_format_missing(size_t row, char *text, size_t size)
{
    const struct driver *driver = &cush_loaded_driver;
    struct cushim_entry_point entry = cush_symbols_row(row);
    if (cush_symbols_is_elsewhere(row))
        snprintf(text, size, "Only drivers for Windows have %s.", entry.symbol);
    else if (entry.since > driver->own_version)
        snprintf(text, size, "%s needs CUDA %d.%d; this driver is CUDA %d.%d.", entry.symbol, MAJOR_MINOR(entry.since),
                 MAJOR_MINOR(driver->own_version));
    else if (entry.since > driver->version)
        snprintf(text, size, "%s needs CUDA %d.%d; the version limit is CUDA %d.%d, and this driver is CUDA %d.%d.",
                 entry.symbol, MAJOR_MINOR(entry.since), MAJOR_MINOR(driver->version),
                 MAJOR_MINOR(driver->own_version));
    else if (cush_hidden_set_has(&driver->hidden, row))
        snprintf(text, size, "%s is hidden by CUSHIM_HIDE or the option hide.", entry.symbol);
    else if (is_missing_per_thread_alone(row))
        put_missing_form_into_words(row, text, size);
    else
        snprintf(text, size, "This driver (CUDA %d.%d) lacks %s, which was added in CUDA %d.%d.",
                 MAJOR_MINOR(driver->own_version), entry.symbol, MAJOR_MINOR(entry.since));
}

/* Writes the driver's text for a code of the driver. */
static void last_error_format_code(const struct error_detail *last)
{
    const char *name = NULL;
    const char *text = NULL;
    const struct cushim_dispatch_table *table = cushim_table_legacy();
    if (table->GetErrorName_v1(last->code, &name) != CUDA_SUCCESS || name == NULL
        || table->GetErrorString_v1(last->code, &text) != CUDA_SUCCESS || text == NULL)
        snprintf(message, sizeof message, "%s returned error %d.", last->function, (int)last->code);
    else
        snprintf(message, sizeof message, "%s returned %s: %s.", last->function, name, text);
}

static void last_error_format_message(const struct error_detail *last)
{
    const char *rest = last->message;
    size_t used = 0;
    for (; *rest != '\0' && used + 1 < sizeof message; rest++) {
        if (*rest == '%' && last->detail != NULL) {
            int length = snprintf(message + used, sizeof message - used, "%s", last->detail);
            used = used + (size_t)length < sizeof message ? used + (size_t)length : sizeof message - 1;
        } else {
            message[used++] = *rest;
        }
    }
    message[used] = '\0';
}

const struct cushim_error *cushim_last_error(void)
{
    const struct error_detail *last = cush_error_get();
    if (last->is_missing)
        cush_last_error_format_missing(cush_symbols_row_of(last->slot), message, sizeof message);
    else if (last->message != NULL)
        last_error_format_message(last);
    else if (last->code != CUDA_SUCCESS)
        last_error_format_code(last);
    else
        message[0] = '\0';
    last_error.code = last->code;
    last_error.function = last->function != NULL ? last->function : "";
    last_error.message = message;
    return &last_error;
}

/* Whether the slots of both tables point into the driver. Then cushim has recorded no failure of the call. */
static bool loaded_slot_is_native(enum cushim_slot slot)
{
    return cush_layered_has_driver()
           && cush_driver_origins[CUSHIM_DEFAULT_STREAM_LEGACY][slot].state == CUSHIM_STATE_NATIVE
           && cush_driver_origins[CUSHIM_DEFAULT_STREAM_PER_THREAD][slot].state == CUSHIM_STATE_NATIVE;
}

CUresult cushim_set_driver_error(CUresult code, enum cushim_slot slot)
{
    if (code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY || (unsigned)slot >= CUSHIM_SLOT_COUNT)
        return code;
    const struct error_detail *last = cush_error_get();
    const char *symbol = cush_symbols_row(cush_symbols_row_of(slot)).symbol;
    if (loaded_slot_is_native(slot) || last->code != code || last->function != symbol)
        cush_error_set(code, symbol, NULL, NULL);
    return code;
}

/* The current table is not asked before a load, because asking it would load the driver. */
const char *cushim_describe(CUresult code)
{
    const char *text = cush_absent_describe(code);
    if (text != NULL)
        return text;
    if (cush_layered_has_driver() && cushim_table_legacy()->GetErrorString_v1(code, &text) == CUDA_SUCCESS
        && text != NULL)
        return text;
    return "an error code that neither this version of cushim nor the driver knows";
}
