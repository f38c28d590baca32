/* SPDX-License-Identifier: MIT */
/* The variable of `cushim exec` with any content: a setting is the value of its last key, and no value has a
 * semicolon. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* setenv */
#endif
#include "fuzz.h"

#include <string.h>

#include "../../subprojects/cushim-tools/exec/exec.h"
#include "version.h"

/* Returns whether the variable has "key=value" between two semicolons. */
static bool has_setting(const char *text, const char *key, const char *value)
{
    size_t key_length = strlen(key), length = strlen(value);
    for (; text != NULL; text = strchr(text, ';')) {
        text += *text == ';';
        if (strncmp(text, key, key_length) == 0 && text[key_length] == '='
            && strcspn(text, ";") == key_length + 1 + length && memcmp(text + key_length + 1, value, length) == 0)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    char text[4096];
    setenv(EXEC_VARIABLE, fuzz_text(&bytes, text, sizeof text), 1);
    struct exec_settings settings = exec_settings_read();
    const struct {
        const char *key, *value;
    } all[] = {{"names", settings.names},
               {"driver", settings.driver},
               {"max-version", settings.max_version},
               {"hide", settings.hide},
               {"layers", settings.layers}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char start[32];
        snprintf(start, sizeof start, ";%s=", all[i].key);
        bool is_given = strncmp(text, start + 1, strlen(start + 1)) == 0 || strstr(text, start) != NULL;
        HOLDS(is_given == (all[i].value != NULL));
        HOLDS(all[i].value == NULL || has_setting(text, all[i].key, all[i].value));
    }
    int version = settings.max_version != NULL ? cush_version_parse(settings.max_version) : 0;
    HOLDS(version == 0 || version >= 1000);
    free(settings.copy);
    return 0;
}
