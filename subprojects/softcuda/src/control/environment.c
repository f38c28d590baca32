/* SPDX-License-Identifier: MIT */
/* The environment variables of softcuda. */
#include "control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "hide_symbol.h"

static char hidden[4096]; /* ",cuStreamGetId,cuStreamGetId_ptsz," */

/* The number in an environment variable, or `otherwise`. */
static uint64_t environment_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0')
        return otherwise;
    char *end;
    uint64_t value = strtoull(text, &end, 0);
    return *end == '\0' ? value : otherwise;
}

int device_count_of_machine(void)
{
    uint64_t count = environment_number("SOFTCUDA_DEVICES", 1);
    return count > MAX_DEVICES ? MAX_DEVICES : (int)count;
}

/* 1 GiB in a 32-bit process, which has 4 GiB of addresses at most. */
#define DEFAULT_MEMORY ((uint64_t)(sizeof(size_t) > 4 ? 4 : 1) << 30)
_Static_assert(DEFAULT_MEMORY <= SIZE_MAX, "the default memory fits into a size_t");

size_t device_memory(void)
{
    uint64_t size = environment_number("SOFTCUDA_MEMORY", DEFAULT_MEMORY);
    return size > SIZE_MAX ? SIZE_MAX : (size_t)size;
}

bool device_has_value_ops(void)
{
    return environment_number("SOFTCUDA_VALUE_OPS", 0) != 0;
}

bool kernels_may_be_empty(void)
{
    return environment_number("SOFTCUDA_EMPTY_KERNELS", 0) != 0;
}

void kernels_warn_empty(void)
{
    static bool is_said;
    if (!is_said)
        fputs("softcuda: SOFTCUDA_EMPTY_KERNELS is set: kernels do nothing, so results are not computed.\n", stderr);
    is_said = true;
}

void refusal_record(const char *symbol)
{
    const char *path = getenv("SOFTCUDA_REFUSED");
    FILE *file = path == NULL || *path == '\0' ? NULL : fopen(path, "a");
    if (file == NULL)
        return;
    fprintf(file, "%s\n", symbol);
    fclose(file);
}

/* "cuMemAlloc_v2:2=2,cuStreamCreate=999": the function, a colon and the number of the call unless every call fails, the
 * code. */
static void read_calls(const char *text)
{
    while (text != NULL && *text != '\0') {
        char symbol[80];
        size_t length = strcspn(text, ":=,");
        if (length < sizeof symbol) {
            memcpy(symbol, text, length);
            symbol[length] = '\0';
            char *end = NULL;
            unsigned nth = text[length] == ':' ? (unsigned)strtoul(text + length + 1, &end, 10) : 0;
            const char *at = end != NULL ? end : text + length;
            if (*at == '=')
                (void)fault_add(symbol, nth, (int)strtol(at + 1, NULL, 10));
        }
        text = strchr(text, ',');
        text = text == NULL ? NULL : text + 1;
    }
}

bool symbol_is_hidden(const char *symbol)
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
    if (length == 0 || length + 3 > sizeof hidden)
        return;
    hidden[0] = ',';
    memcpy(hidden + 1, text, length);
    hidden[length + 1] = ',';
    for (const char *at = hidden + 1; *at != '\0'; at += strcspn(at, ",") + 1) {
        char symbol[80];
        size_t part = strcspn(at, ",");
        if (part == 0 || part >= sizeof symbol)
            continue;
        memcpy(symbol, at, part);
        symbol[part] = '\0';
        (void)os_hide_symbol(symbol);
    }
}

SOFT_CONSTRUCTOR static void read_environment(void);
static void read_environment(void)
{
    fault_set_delay(environment_number("SOFTCUDA_LATE_CALLBACKS", 0) * 1000000u);
    read_calls(getenv("SOFTCUDA_FAIL"));
    const char *own = getenv("SOFTCUDA_HIDE");
    char names[sizeof hidden] = "";
    if (own != NULL)
        snprintf(names, sizeof names, "%s", own);
    deny_read(getenv("SOFTCUDA_DENY"), names, sizeof names);
    read_hidden(names);
}
