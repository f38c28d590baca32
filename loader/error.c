/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <stdio.h>

#include "common/atomic.h"
#include "symbols.h"

static CUSH_THREAD_LOCAL struct error_detail thread_error;
static CUSH_THREAD_LOCAL char message_copy[512], function_copy[64];

const struct error_detail *cush_error_get(void)
{
    return &thread_error;
}

CUresult cush_error_set(CUresult code, const char *function, const char *message, const char *detail)
{
    thread_error = (struct error_detail){.code = code, .function = function, .message = message, .detail = detail};
    return code;
}

void cush_error_add_driver_message(const char *driver_message)
{
    thread_error.driver_message = driver_message;
}

CUresult cush_error_set_copy(CUresult code, const char *function, const char *message)
{
    snprintf(message_copy, sizeof message_copy, "%.*s", (int)sizeof message_copy - 1, message);
    return cush_error_set(code, function, "%", message_copy);
}

static const char *error_symbol(enum cushim_slot slot)
{
    return cush_symbols_symbol(cush_symbols_index(slot));
}

CUresult cush_fail_missing(enum cushim_slot slot)
{
    cush_error_set(CUDA_ERROR_NOT_SUPPORTED, error_symbol(slot), NULL, NULL);
    thread_error.is_missing = true;
    thread_error.slot = slot;
    return thread_error.code;
}

CUresult cush_fail_polyfill(enum cushim_slot slot, const char *why)
{
    return cush_error_set(CUDA_ERROR_NOT_SUPPORTED, error_symbol(slot), why, NULL);
}

CUresult cush_fail_null_driver(enum cushim_slot slot)
{
    return cush_error_set(CUDA_ERROR_NO_DEVICE, error_symbol(slot), "No CUDA driver is loaded: %",
                          cushim_diagnosis_get()->message);
}

CUresult cushim_error_set(CUresult code, const char *function, const char *message)
{
    snprintf(function_copy, sizeof function_copy, "%s", function != NULL ? function : "");
    if (message == NULL)
        return cush_error_set(code, function_copy, NULL, NULL);
    return cush_error_set_copy(code, function_copy, message);
}
