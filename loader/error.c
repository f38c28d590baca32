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
} last;

static _Thread_local char words[512];
static _Thread_local struct cushim_error answer;

CUresult cushim_priv_error_record(CUresult code, const char *function, const char *message, const char *detail)
{
    last.code = code;
    last.function = function;
    last.message = message;
    last.detail = detail;
    last.needed_version = 0;
    return code;
}

CUresult cushim_priv_error_missing(enum cushim_slot slot)
{
    struct cushim_entry_point row = cushim_priv_symbols_row(cushim_priv_symbols_row_of(slot));
    cushim_priv_error_record(CUDA_ERROR_NOT_SUPPORTED, row.symbol, NULL, NULL);
    last.needed_version = row.since;
    last.driver_version = cushim_driver_version();
    return last.code;
}

CUresult cushim_priv_error_absent(enum cushim_slot slot)
{
    return cushim_priv_error_record(CUDA_ERROR_NO_DEVICE,
                                    cushim_priv_symbols_row(cushim_priv_symbols_row_of(slot)).symbol,
                                    "There is no CUDA driver: %", cushim_diagnosis()->message);
}

CUresult cushim_report(CUresult code, const char *function, const char *message)
{
    return cushim_priv_error_record(code, function != NULL ? function : "", message, NULL);
}

CUresult cushim_report_call(CUresult code, enum cushim_slot slot)
{
    if (code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY || (unsigned)slot >= CUSHIM_SLOT_COUNT)
        return code;
    const char *symbol = cushim_priv_symbols_row(cushim_priv_symbols_row_of(slot)).symbol;
    if (last.code != code || last.function != symbol)
        cushim_priv_error_record(code, symbol, NULL, NULL);
    return code;
}

/* What a driver's own code says, in the driver's words. */
static void put_code_into_words(void)
{
    const char *name = NULL;
    const char *text = NULL;
    const struct cushim_table *table = cushim_table();
    if (table->GetErrorName_v1(last.code, &name) != CUDA_SUCCESS || name == NULL
        || table->GetErrorString_v1(last.code, &text) != CUDA_SUCCESS || text == NULL)
        snprintf(words, sizeof words, "%s returned the error %d.", last.function, (int)last.code);
    else
        snprintf(words, sizeof words, "%s returned %s: %s.", last.function, name, text);
}

static void put_into_words(void)
{
    if (last.needed_version == 0 && last.message == NULL && last.code != CUDA_SUCCESS) {
        put_code_into_words();
    } else if (last.needed_version > last.driver_version) {
        snprintf(words, sizeof words, "%s needs CUDA %d.%d; this driver is CUDA %d.%d.", last.function,
                 last.needed_version / 1000, last.needed_version % 1000 / 10, last.driver_version / 1000,
                 last.driver_version % 1000 / 10);
    } else if (last.needed_version != 0) {
        snprintf(words, sizeof words, "%s is hidden by the mask, or this driver lacks it against its version.",
                 last.function);
    } else {
        const char *rest = last.message != NULL ? last.message : "";
        size_t used = 0;
        for (; *rest != '\0' && used + 1 < sizeof words; rest++) {
            if (*rest == '%' && last.detail != NULL) {
                int length = snprintf(words + used, sizeof words - used, "%s", last.detail);
                used = used + (size_t)length < sizeof words ? used + (size_t)length : sizeof words - 1;
            } else {
                words[used++] = *rest;
            }
        }
        words[used] = '\0';
    }
}

const struct cushim_error *cushim_last_error(void)
{
    put_into_words();
    answer.code = last.code;
    answer.function = last.function != NULL ? last.function : "";
    answer.message = words;
    return &answer;
}
