/* SPDX-License-Identifier: MIT */
#include "export_names.h"

#include <stddef.h>
#include <string.h>

#define SOFT_EXPORT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_BEFORE_INIT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_WITHOUT_LOCK(slot, id, symbol, per_thread, params, args)
#define SOFT_REFUSE(id, symbol)
#define SOFT_FORM(id, symbol) symbol,
#define SOFT_NO_FORM
#define SOFT_ROW(driver_function, since, form, per_thread_form) form per_thread_form

static const char *const names[] = {
#include "exports.inc"
};

const char *export_name_find(const char *symbol)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], symbol) == 0)
            return names[i];
    return NULL;
}
