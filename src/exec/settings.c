/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* strdup, secure_getenv */
#endif
#include "settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Returns the value if `field` is "key=value". */
static char *value_of(char *field, const char *key)
{
    size_t length = strlen(key);
    return strncmp(field, key, length) == 0 && field[length] == '=' ? field + length + 1 : NULL;
}

struct exec_settings exec_settings_read(void)
{
    struct exec_settings settings = {NULL, NULL, NULL, NULL, NULL};
    const struct {
        const char *key;
        char **value;
    } known[] = {{"shim", &settings.shim},
                 {"driver", &settings.driver},
                 {"max-version", &settings.max_version},
                 {"hide", &settings.hide},
                 {"layers", &settings.layers}};
    const char *text = secure_getenv(EXEC_VARIABLE);
    char *copy = text != NULL ? strdup(text) : NULL;
    for (char *field = copy; field != NULL;) {
        char *end = strchr(field, ';');
        if (end != NULL)
            *end++ = '\0';
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            char *value = value_of(field, known[i].key);
            if (value != NULL)
                *known[i].value = value;
        }
        field = end;
    }
    return settings;
}
