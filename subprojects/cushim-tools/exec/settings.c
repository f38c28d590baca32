/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* strdup, strsep, secure_getenv */
#endif
#include "settings.h"

#include <stdlib.h>
#include <string.h>

struct exec_settings exec_settings_read(void)
{
    struct exec_settings settings = {.copy = NULL};
    const struct {
        const char *key;
        char **value;
    } known[] = {{"names", &settings.names},   {"driver", &settings.driver},
                 {"chosen", &settings.chosen}, {"max-version", &settings.max_version},
                 {"hide", &settings.hide},     {"layers", &settings.layers},
                 {"notes", &settings.notes},   {"images", &settings.images},
                 {"quiet", &settings.quiet}};
    const char *text = secure_getenv(EXEC_VARIABLE);
    char *rest = settings.copy = text != NULL ? strdup(text) : NULL;
    for (char *value; (value = strsep(&rest, ";")) != NULL;) {
        const char *key = strsep(&value, "=");
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (value != NULL && strcmp(key, known[i].key) == 0)
                *known[i].value = value;
        }
    }
    return settings;
}
