/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct cushim_dispatch_table *cu;
enum cushim_default_stream cu_kind;
struct check *check_list;
int check_broken;

static const struct check *current;
static bool uses_polyfill;

/* A driver's answers can depend on earlier calls: on the H200, those of the subjects info and memory do. So these files
 * run in the order in which the answers were recorded, and all others before them, by their names. */
static size_t order_of_file(const char *path)
{
    static const char *const files[] = {"error",      "create",  "query",   "property",   "event",     "wait",
                                        "callback",   "memory",  "managed", "value",      "attribute", "context",
                                        "no_context", "capture", "join",    "mode",       "info",      "dependency",
                                        "tograph",    "graph",   "edge",    "userobject", "kernel",    "green",
                                        "fault",      "null",    "outlive", "invalidate", "order"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char start[64];
        snprintf(start, sizeof start, "conformance/%s", files[i]);
        if (strstr(path, start) != NULL)
            return i + 1;
    }
    return 0;
}

static bool runs_after(const struct check *check, const struct check *other)
{
    int names = strcmp(check->file, other->file);
    if (check->order != other->order)
        return check->order > other->order;
    return names != 0 ? names > 0 : check->line > other->line;
}

void check_register(struct check *check)
{
    struct check **place = &check_list;
    check->order = order_of_file(check->file);
    while (*place != NULL && !runs_after(*place, check))
        place = &(*place)->next;
    check->next = *place;
    *place = check;
}

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
    check_broken += broken && (CHECK_STRICT || !uses_polyfill);
    check_print(name, value, broken ? note : expected != NULL && !CHECK_STRICT ? "as expected" : NULL);
}

void observe_number(const char *key, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    answer(key, text, NULL);
}

void expect_number(const char *key, long long value, long long expected)
{
    char text[32];
    char wanted[32];
    snprintf(text, sizeof text, "%lld", value);
    snprintf(wanted, sizeof wanted, "%lld", expected);
    answer(key, text, wanted);
}

CUresult observe(const char *key, CUresult result)
{
    observe_number(key, (long long)result);
    return result;
}

CUresult expect(const char *key, CUresult result, CUresult expected)
{
    expect_number(key, (long long)result, (long long)expected);
    return result;
}

void observe_bool(const char *key, bool value)
{
    answer(key, value ? "yes" : "no", NULL);
}

void expect_true(const char *key, bool value)
{
    answer(key, value ? "yes" : "no", "yes");
}

void observe_text(const char *key, const char *text)
{
    answer(key, text, NULL);
}

void expect_text(const char *key, const char *text, const char *expected)
{
    answer(key, text, expected);
}

void observe_format(const char *key, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    answer(key, text, NULL);
}

bool require(const char *what, CUresult result)
{
    if (result != CUDA_SUCCESS)
        expect(key_of("needs", what, NULL), result, CUDA_SUCCESS);
    return result == CUDA_SUCCESS;
}

static bool is_missing(enum cushim_slot slot, struct cushim_slot_info *out_info)
{
    return cushim_slot_get_info(slot, cu_kind, out_info) != CUDA_SUCCESS || out_info->state == CUSHIM_STATE_MISSING;
}

void not_applicable(const char *key, const char *why)
{
    char name[192];
    snprintf(name, sizeof name, "%s%s%s", current->name, key != NULL ? "." : "", key != NULL ? key : "");
    check_print(name, "not-applicable", why);
}

bool require_slot(const char *key, enum cushim_slot slot)
{
    struct cushim_slot_info info;
    if (!is_missing(slot, &info))
        return true;
    not_applicable(key, info.name);
    return false;
}

const char *key_format(const char *format, ...)
{
    static _Thread_local char keys[16][128];
    static _Thread_local unsigned next;
    char *key = keys[next++ % 16];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(key, sizeof keys[0], format, arguments);
    va_end(arguments);
    return key;
}

const char *key_of(const char *first, const char *second, const char *third)
{
    return key_format("%s.%s%s%s", first, second, third != NULL ? "." : "", third != NULL ? third : "");
}

bool check_is_applicable(const struct check *check)
{
    struct cushim_slot_info info;
    for (size_t i = 0; i < sizeof check->needs / sizeof check->needs[0] && check->needs[i] != 0; i++) {
        bool wants_missing = i == 0 && (check->flags & CHECK_ON_OLD) != 0;
        if (is_missing(check->needs[i], &info) != wants_missing) {
            check_print(check->name, "not-applicable", wants_missing ? "the driver is newer" : info.name);
            return false;
        }
    }
    return true;
}

void check_run(const struct check *check)
{
    struct cushim_slot_info info;
    current = check;
    uses_polyfill = false;
    for (size_t i = 0; i < sizeof check->needs / sizeof check->needs[0] && check->needs[i] != 0; i++)
        uses_polyfill |= !is_missing(check->needs[i], &info) && info.state == CUSHIM_STATE_POLYFILL;
    if (check_is_applicable(check))
        check->run();
}
