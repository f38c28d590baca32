/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <stdio.h>

#include "symbols.h"

/* What the last failure on this thread was; the words are made in cushim_last_error(). */
static _Thread_local struct {
    CUresult code;
    const char *function;
    const char *message;
    const char *detail;
    int needed_version; /* 0: not a matter of versions */
    int driver_version;
    bool lacks_form;
} last_error;

static _Thread_local char last_error_words[512];
static _Thread_local struct cushim_error last_error_answer;

CUresult cush_error_set(CUresult code, const char *function, const char *message, const char *detail)
{
    last_error.code = code;
    last_error.function = function;
    last_error.message = message;
    last_error.detail = detail;
    last_error.needed_version = 0;
    return code;
}

CUresult cush_fail_missing(enum cushim_slot slot)
{
    size_t index = cush_symbols_row_of(slot);
    struct cushim_entry_point row = cush_symbols_row(index);
    cush_error_set(CUDA_ERROR_NOT_SUPPORTED, row.symbol, NULL, NULL);
    last_error.needed_version = row.since;
    last_error.lacks_form = cush_symbols_lacks_form(index);
    last_error.driver_version = cushim_driver_version();
    return last_error.code;
}

CUresult cush_fail_absent(enum cushim_slot slot)
{
    return cush_error_set(CUDA_ERROR_NO_DEVICE, cush_symbols_row(cush_symbols_row_of(slot)).symbol,
                          "There is no CUDA driver: %", cushim_get_diagnosis()->message);
}

CUresult cushim_set_error(CUresult code, const char *function, const char *message)
{
    return cush_error_set(code, function != NULL ? function : "", message, NULL);
}

CUresult cushim_set_driver_error(CUresult code, enum cushim_slot slot)
{
    if (code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY || (unsigned)slot >= CUSHIM_SLOT_COUNT)
        return code;
    const char *symbol = cush_symbols_row(cush_symbols_row_of(slot)).symbol;
    if (last_error.code != code || last_error.function != symbol)
        cush_error_set(code, symbol, NULL, NULL);
    return code;
}

/* What a driver's own code says, in the driver's words. */
static void error_put_code_into_words(void)
{
    const char *name = NULL;
    const char *text = NULL;
    const struct cushim_dispatch_table *table = cushim_table();
    if (table->GetErrorName_v1(last_error.code, &name) != CUDA_SUCCESS || name == NULL
        || table->GetErrorString_v1(last_error.code, &text) != CUDA_SUCCESS || text == NULL)
        snprintf(last_error_words, sizeof last_error_words, "%s returned the error %d.", last_error.function,
                 (int)last_error.code);
    else
        snprintf(last_error_words, sizeof last_error_words, "%s returned %s: %s.", last_error.function, name, text);
}

static void error_put_into_words(void)
{
    if (last_error.needed_version == 0 && last_error.message == NULL && last_error.code != CUDA_SUCCESS) {
        error_put_code_into_words();
    } else if (last_error.needed_version > last_error.driver_version) {
        snprintf(last_error_words, sizeof last_error_words, "%s needs CUDA %d.%d; this driver is CUDA %d.%d.",
                 last_error.function, last_error.needed_version / 1000, last_error.needed_version % 1000 / 10,
                 last_error.driver_version / 1000, last_error.driver_version % 1000 / 10);
    } else if (last_error.needed_version != 0 && last_error.lacks_form) {
        snprintf(last_error_words, sizeof last_error_words,
                 "%s has no form for per-thread default streams, or is hidden.", last_error.function);
    } else if (last_error.needed_version != 0) {
        snprintf(last_error_words, sizeof last_error_words,
                 "%s is hidden, or this driver lacks it against its version.", last_error.function);
    } else {
        const char *rest = last_error.message != NULL ? last_error.message : "";
        size_t used = 0;
        for (; *rest != '\0' && used + 1 < sizeof last_error_words; rest++) {
            if (*rest == '%' && last_error.detail != NULL) {
                int length = snprintf(last_error_words + used, sizeof last_error_words - used, "%s", last_error.detail);
                used = used + (size_t)length < sizeof last_error_words ? used + (size_t)length
                                                                       : sizeof last_error_words - 1;
            } else {
                last_error_words[used++] = *rest;
            }
        }
        last_error_words[used] = '\0';
    }
}

const struct cushim_error *cushim_last_error(void)
{
    error_put_into_words();
    last_error_answer.code = last_error.code;
    last_error_answer.function = last_error.function != NULL ? last_error.function : "";
    last_error_answer.message = last_error_words;
    return &last_error_answer;
}
