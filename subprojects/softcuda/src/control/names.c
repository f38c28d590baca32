/* SPDX-License-Identifier: MIT */
/* The names in settings and in calls of the control interface: functions of any driver, and results. */
#include "control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_names.h"
#include "hide_symbol.h"

#define SOFT_EXPORT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_BEFORE_INIT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_WITHOUT_LOCK(slot, id, symbol, per_thread, params, args)
#define SOFT_REFUSE(id, symbol)
#define SOFT_VARIANT(id, symbol)
#define SOFT_NO_VARIANT
#define SOFT_ROW(driver_function, since, variant, per_thread_variant)
#define SOFT_NAME(driver_function, version, symbol) {driver_function, version, symbol},

/* The exported names of all drivers, those of one function together and by version. */
static const struct name {
    const char *function; /* "cuMemAlloc" */
    int version;          /* 1 for the oldest, whose exported name has no suffix */
    const char *symbol;
} names[] = {
#include "softcuda_exports.inc"
};

enum { NAMES = sizeof names / sizeof names[0] };

#define RESULT_PREFIX "CUDA_ERROR_"

/* ---- Functions ---- */

/* Whether a name has the suffix of a per-thread variant, which only a whole exported name has. */
static bool is_per_thread(const char *text)
{
    size_t length = strlen(text);
    return length > 5 && (strcmp(text + length - 5, "_ptsz") == 0 || strcmp(text + length - 5, "_ptds") == 0);
}

static bool name_is_meant(const struct name *name, const char *text)
{
    char version[MAX_ITEM];
    if (is_per_thread(text))
        return strcmp(name->symbol, text) == 0;
    snprintf(version, sizeof version, "%s_v%d", name->function, name->version);
    return strcmp(name->function, text) == 0 || strcmp(version, text) == 0;
}

bool name_find(const char *where, const char *text, struct name_range *out_range)
{
    struct name_range range = {0, 0};
    for (size_t i = 0; i < NAMES; i++) {
        if (!name_is_meant(&names[i], text))
            continue;
        if (range.count++ == 0)
            range.first = i;
    }
    *out_range = range;
    if (range.count > 0)
        return true;
    struct nearest nearest = {.text = text};
    for (size_t i = 0; i < NAMES; i++) {
        nearest_try(&nearest, names[i].function);
        nearest_try(&nearest, names[i].symbol);
    }
    nearest_refuse(&nearest, where, "no driver has a function of this name");
    return false;
}

struct name_range name_all(void)
{
    return (struct name_range){0, NAMES};
}

bool name_is_in(struct name_range range, const char *symbol)
{
    for (size_t i = range.first; i < range.first + range.count; i++)
        if (strcmp(names[i].symbol, symbol) == 0)
            return true;
    return false;
}

/* Written when the library is loaded. */
static bool is_hidden[NAMES], any_hidden;

void name_hide(struct name_range range)
{
    for (size_t i = range.first; i < range.first + range.count; i++) {
        is_hidden[i] = any_hidden = true;
        (void)os_hide_symbol(names[i].symbol); /* this driver may lack it */
    }
}

bool symbol_is_hidden(const char *symbol)
{
    for (size_t i = 0; i < NAMES && any_hidden; i++)
        if (is_hidden[i] && strcmp(names[i].symbol, symbol) == 0)
            return true;
    return false;
}

/* ---- Results ---- */

bool result_read(const char *where, const char *text, int *out_code)
{
    uint64_t number = 0;
    const char *word = strncmp(text, RESULT_PREFIX, strlen(RESULT_PREFIX)) == 0 ? text + strlen(RESULT_PREFIX) : text;
    if (number_read(text, INT32_MAX, &number)) {
        *out_code = (int)number;
        return true;
    }
    struct nearest nearest = {.text = text};
    for (size_t i = 0; i < sizeof error_names / sizeof error_names[0]; i++) {
        const char *name = error_text(error_names[i].name);
        bool is_error = strncmp(name, RESULT_PREFIX, strlen(RESULT_PREFIX)) == 0;
        if (strcmp(name, text) == 0 || (is_error && strcmp(name + strlen(RESULT_PREFIX), word) == 0)) {
            *out_code = error_names[i].code;
            return true;
        }
        nearest_try(&nearest, name);
        if (is_error)
            nearest_try(&nearest, name + strlen(RESULT_PREFIX));
    }
    nearest_refuse(&nearest, where, "this is neither a number nor the name of a result");
    return false;
}

CUresult result_name(CUresult code, const char **out_name)
{
    return get_error_name(code, out_name);
}

CUresult result_sentence(CUresult code, const char **out_sentence)
{
    return get_error_string(code, out_sentence);
}
