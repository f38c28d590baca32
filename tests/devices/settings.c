/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct setting settings[] = {
#define SETTING(gpus, order, list, code, shown) {gpus, order, list, code, shown},
#include "settings.inc"
};
const size_t setting_count = sizeof settings / sizeof settings[0];

void setting_expand(const char *list, const char *const *uuids, char text[SETTING_SIZE])
{
    size_t used = 0;
    while (*list != '\0') {
        unsigned gpu, from, to;
        int length = 0;
        if (sscanf(list, "<%u:%u:%u%n", &gpu, &from, &to, &length) != 3) {
            text[used++] = *list++;
            continue;
        }
        int is_upper = list[length] == '^';
        for (unsigned i = from; i < to; i++)
            text[used++] = is_upper ? (char)toupper((unsigned char)uuids[gpu][i]) : uuids[gpu][i];
        list += length + is_upper + 1;
    }
    text[used] = '\0';
}

const char *setting_text(const struct setting *setting)
{
    static char text[2 * SETTING_SIZE];
    snprintf(text, sizeof text, "order %s, list %s%s%s, %d GPU%s", setting->order != NULL ? setting->order : "unset",
             setting->list != NULL ? "\"" : "", setting->list != NULL ? setting->list : "unset",
             setting->list != NULL ? "\"" : "", setting->gpus, setting->gpus == 1 ? "" : "s");
    return text;
}
