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

static void put_into_words(void)
{
    if (last.needed_version > last.driver_version) {
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
