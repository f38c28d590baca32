/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "hide_symbol.h"
#include "os_thread.h"

static char hidden[1024]; /* ",cuStreamGetId,cuStreamGetId_ptsz," */

uint64_t environment_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0')
        return otherwise;
    char *end;
    uint64_t value = strtoull(text, &end, 0);
    return *end == '\0' ? value : otherwise;
}

/* "cuMemAlloc_v2:2=2,cuStreamCreate=999": the function, a colon and the number of the call unless every call fails, the
 * code. */
static void read_calls(const char *text)
{
    while (text != NULL && *text != '\0') {
        char symbol[80];
        size_t length = strcspn(text, ":=,");
        if (length < sizeof(symbol)) {
            memcpy(symbol, text, length);
            symbol[length] = '\0';
            char *at = (char *)text + length;
            unsigned nth = *at == ':' ? (unsigned)strtoul(at + 1, &at, 10) : 0;
            if (*at == '=')
                (void)fault_add(symbol, nth, (int)strtol(at + 1, NULL, 10));
        }
        text = strchr(text, ',');
        text = text == NULL ? NULL : text + 1;
    }
}

bool environment_hides(const char *symbol)
{
    size_t length = strlen(symbol);
    for (const char *at = hidden; (at = strstr(at, symbol)) != NULL; at++)
        if (at[-1] == ',' && at[length] == ',')
            return true;
    return false;
}

static void read_hidden(const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);
    if (length == 0 || length + 3 > sizeof(hidden))
        return;
    hidden[0] = ',';
    memcpy(hidden + 1, text, length);
    hidden[length + 1] = ',';
    for (const char *at = hidden + 1; *at != '\0'; at += strcspn(at, ",") + 1) {
        char symbol[80];
        size_t part = strcspn(at, ",");
        if (part == 0 || part >= sizeof(symbol))
            continue;
        memcpy(symbol, at, part);
        symbol[part] = '\0';
        (void)os_hide_symbol(symbol);
    }
}

#if defined(__GNUC__)
__attribute__((constructor)) static void read_environment(void);
#endif
static void read_environment(void)
{
    fault_set_delay(environment_number("SOFTCUDA_LATE_CALLBACKS", 0) * 1000000u);
    read_calls(getenv("SOFTCUDA_FAIL"));
    read_hidden(getenv("SOFTCUDA_HIDE"));
}
