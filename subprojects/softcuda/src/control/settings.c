/* SPDX-License-Identifier: MIT */
/* The settings: environment variables, which are read once, when the library is loaded. What is not understood is named
 * on the standard error stream, and cuInit fails. */
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "os_thread.h"

/* 1 GiB in a 32-bit process, which has 4 GiB of addresses at most. */
#define DEFAULT_MEMORY ((uint64_t)(sizeof(size_t) > 4 ? 4 : 1) << 30)
_Static_assert(DEFAULT_MEMORY <= SIZE_MAX, "the default memory fits into a size_t");

enum { MAX_DELAY = 3600000 };

#define PREFIX "SOFTCUDA_"

struct setting {
    const char *name;
    bool (*read)(struct setting *setting, const char *text); /* false: refused */
    const char *allowed, *example;
    uint64_t limit;
    uint64_t number;
    const char *text;
};

static bool setting_read_number(struct setting *setting, const char *text);
static bool setting_read_size(struct setting *setting, const char *text);
static bool setting_read_faults(struct setting *setting, const char *text);
static bool setting_read_features(struct setting *setting, const char *text);
static bool setting_read_functions(struct setting *setting, const char *text);
static bool setting_read_file(struct setting *setting, const char *text);

#define SOFT_TYPE(type, allowed) static const char type##_allowed[] = allowed;
#include "settings.inc"

enum {
#define SOFT_SETTING(name, type, limit, initial, example, otherwise, meaning) SETTING_##name,
#include "settings.inc"
    SETTING_COUNT
};

static struct setting settings[] = {
#define SOFT_SETTING(name, type, limit, initial, example, otherwise, meaning)                                          \
    {PREFIX #name, setting_read_##type, type##_allowed, example, limit, initial, NULL},
#include "settings.inc"
};

static bool is_refused;

bool settings_are_refused(void)
{
    return is_refused;
}

static bool setting_refuse(const struct setting *setting, const char *text)
{
    control_refuse(setting->name, "\"%s\" is not %s, such as \"%s\"", text, setting->allowed, setting->example);
    return false;
}

/* ---- One reader for each type ---- */

static bool setting_read_number(struct setting *setting, const char *text)
{
    if (number_read(text, setting->limit, &setting->number))
        return true;
    control_refuse(setting->name, "\"%s\" is not a number from 0 to %llu", text, (unsigned long long)setting->limit);
    return false;
}

static bool setting_read_size(struct setting *setting, const char *text)
{
    static const char units[] = "KMGT";
    uint64_t number;
    const char *end = digits_read(text, &number);
    const char *unit = end == NULL || *end == '\0' ? NULL : strchr(units, *end);
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    if (end == NULL || end[unit != NULL] != '\0')
        return setting_refuse(setting, text);
    if (number > setting->limit >> shift) {
        control_refuse(setting->name, "\"%s\" is more than this process can address", text);
        return false;
    }
    setting->number = number << shift;
    return true;
}

static bool setting_read_faults(struct setting *setting, const char *text)
{
    char item[MAX_ITEM];
    while (list_next(&text, item)) {
        char *result = strchr(item, '='), *nth = strchr(item, ':');
        uint64_t number = 0;
        int code;
        if (result == NULL || (nth != NULL && nth > result))
            return setting_refuse(setting, item);
        *result++ = '\0';
        if (nth != NULL)
            *nth++ = '\0';
        if (nth != NULL && (!number_read(nth, UINT32_MAX, &number) || number == 0)) {
            control_refuse(setting->name, "\"%s\" is not the number of a call, such as 1 for the first one", nth);
            return false;
        }
        if (!result_read(setting->name, result, &code)
            || fault_add(setting->name, item, (unsigned)number, code) != CUDA_SUCCESS)
            return false;
    }
    return true;
}

static bool setting_read_features(struct setting *setting, const char *text)
{
    char item[MAX_ITEM];
    while (list_next(&text, item))
        if (!deny_add(setting->name, item))
            return false;
    return true;
}

static bool setting_read_functions(struct setting *setting, const char *text)
{
    char item[MAX_ITEM];
    struct name_range range;
    while (list_next(&text, item)) {
        if (!name_find(setting->name, item, &range))
            return false;
        name_hide(range);
    }
    return true;
}

static bool setting_read_file(struct setting *setting, const char *text)
{
    FILE *file = fopen(text, "a");
    if (file == NULL) {
        control_refuse(setting->name, "\"%s\" cannot be written: %s", text, strerror(errno));
        return false;
    }
    fclose(file);
    setting->text = text;
    return true;
}

/* ---- All settings ---- */

static struct setting *setting_find(const char *name, size_t length)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (strlen(settings[i].name) == length && strncmp(settings[i].name, name, length) == 0)
            return &settings[i];
    return NULL;
}

static void setting_refuse_name(const char *name, size_t length)
{
    char wrong[MAX_ITEM];
    snprintf(wrong, sizeof wrong, "%.*s", (int)length, name);
    struct nearest nearest = {.text = wrong};
    for (size_t i = 0; i < SETTING_COUNT; i++)
        nearest_try(&nearest, settings[i].name);
    nearest_refuse(&nearest, "environment", "softcuda has no such setting");
}

SOFT_CONSTRUCTOR static void settings_read(void);
static void settings_read(void)
{
    for (char **variable = os_environment(); *variable != NULL; variable++) {
        size_t length = strcspn(*variable, "=");
        if (strncmp(*variable, PREFIX, strlen(PREFIX)) != 0 || (*variable)[length] == '\0')
            continue;
        struct setting *setting = setting_find(*variable, length);
        const char *text = *variable + length + 1;
        if (setting == NULL)
            setting_refuse_name(*variable, length);
        if (setting == NULL || (*text != '\0' && !setting->read(setting, text)))
            is_refused = true;
    }
    fault_set_delay(settings[SETTING_LATE_CALLBACKS].number * 1000000u);
}

int device_count_of_machine(void)
{
    return (int)settings[SETTING_DEVICES].number;
}

size_t device_memory(void)
{
    return (size_t)settings[SETTING_MEMORY].number;
}

bool device_has_value_ops(void)
{
    return settings[SETTING_VALUE_OPS].number != 0;
}

bool kernels_may_be_empty(void)
{
    return settings[SETTING_EMPTY_KERNELS].number != 0;
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
    const char *path = settings[SETTING_REFUSED].text;
    FILE *file = path == NULL ? NULL : fopen(path, "a");
    if (file == NULL)
        return;
    fprintf(file, "%s\n", symbol);
    fclose(file);
}
