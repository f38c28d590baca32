/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct cushim_dispatch_table *cu;
enum cushim_default_stream cu_kind;
int check_broken;

static const struct check *current;
static bool stands_on_polyfill;

void check_print(const char *name, const char *value, const char *note)
{
    printf("%s\t%s%s%s\n", name, value, note != NULL ? "\t" : "", note != NULL ? note : "");
    fflush(stdout);
}

static void answer(const char *key, const char *value, const char *expected)
{
    char name[192];
    char note[64];
    bool broken = expected != NULL && strcmp(value, expected) != 0;
    snprintf(name, sizeof name, "%s.%s", current->name, key);
    snprintf(note, sizeof note, "expected %s", broken ? expected : "");
    check_broken += broken && (CHECK_STRICT || !stands_on_polyfill);
    check_print(name, value, broken ? note : NULL);
}

void saw_number(const char *key, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    answer(key, text, NULL);
}

void rule_number(const char *key, long long value, long long expected)
{
    char text[32];
    char wanted[32];
    snprintf(text, sizeof text, "%lld", value);
    snprintf(wanted, sizeof wanted, "%lld", expected);
    answer(key, text, wanted);
}

CUresult saw(const char *key, CUresult result)
{
    saw_number(key, (long long)result);
    return result;
}

CUresult rule(const char *key, CUresult result, CUresult expected)
{
    rule_number(key, (long long)result, (long long)expected);
    return result;
}

void saw_fact(const char *key, bool value)
{
    answer(key, value ? "yes" : "no", NULL);
}

void rule_fact(const char *key, bool value)
{
    answer(key, value ? "yes" : "no", "yes");
}

void saw_text(const char *key, const char *text)
{
    answer(key, text, NULL);
}

void saw_words(const char *key, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    answer(key, text, NULL);
}

bool need(const char *what, CUresult result)
{
    if (result != CUDA_SUCCESS)
        rule(key_of("needs", what, NULL), result, CUDA_SUCCESS);
    return result == CUDA_SUCCESS;
}

static bool is_missing(enum cushim_slot slot, struct cushim_slot_info *out_info)
{
    return cushim_query_slot(slot, cu_kind, out_info) != CUDA_SUCCESS || out_info->state == CUSHIM_STATE_MISSING;
}

void lacks(const char *key, const char *why)
{
    char name[192];
    snprintf(name, sizeof name, "%s%s%s", current->name, key != NULL ? "." : "", key != NULL ? key : "");
    check_print(name, "not-applicable", why);
}

bool have(const char *key, enum cushim_slot slot)
{
    struct cushim_slot_info info;
    if (!is_missing(slot, &info))
        return true;
    lacks(key, info.name);
    return false;
}

const char *key_of(const char *first, const char *second, const char *third)
{
    static _Thread_local char keys[16][128];
    static _Thread_local unsigned turn;
    char *key = keys[turn++ % 16];
    snprintf(key, sizeof keys[0], "%s.%s%s%s", first, second, third != NULL ? "." : "", third != NULL ? third : "");
    return key;
}

bool check_is_applicable(const struct check *check)
{
    struct cushim_slot_info info;
    for (size_t i = 0; i < sizeof check->needs / sizeof check->needs[0] && check->needs[i] != 0; i++) {
        if (is_missing(check->needs[i], &info)) {
            check_print(check->name, "not-applicable", info.name);
            return false;
        }
    }
    return true;
}

void check_run(const struct check *check)
{
    struct cushim_slot_info info;
    current = check;
    stands_on_polyfill = false;
    for (size_t i = 0; i < sizeof check->needs / sizeof check->needs[0] && check->needs[i] != 0; i++)
        stands_on_polyfill |= !is_missing(check->needs[i], &info) && info.state == CUSHIM_STATE_POLYFILL;
    if (check_is_applicable(check))
        check->run();
}
