/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finder.h"

/* Passes a number with its unit: "0x7f00", "13.2 ms". */
static const char *number_pass(const char *at)
{
    static const char *const units[] = {" ns", " us", " ms", " s"};
    bool is_hexadecimal = at[0] == '0' && at[1] == 'x';
    at += is_hexadecimal ? 2 + strspn(at + 2, "0123456789abcdef") : strspn(at, "0123456789.");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i]);
        if (strncmp(at, units[i], length) == 0 && !isalnum((unsigned char)at[length]))
            return at + length;
    }
    return at;
}

static bool is_equal_but_for_numbers(const char *one, const char *other)
{
    while (*one != '\0' && *other != '\0') {
        if (isdigit((unsigned char)*one) && isdigit((unsigned char)*other)) {
            one = number_pass(one);
            other = number_pass(other);
        } else if (*one++ != *other++) {
            return false;
        }
    }
    return *one == *other;
}

/* Returns the finding that another one repeats, or NULL. Captures are lost one by one. */
static struct trace_finding *repeated_find(const struct trace_list *list, const struct trace_finding *finding)
{
    bool can_repeat = finding->call != 0 && finding->kind != TRACE_FINDING_CAPTURE;
    for (size_t i = 0; can_repeat && i < list->count; i++) {
        struct trace_finding *one = &list->all[i];
        if (one->kind == finding->kind && one->site == finding->site && one->python == finding->python
            && one->process == finding->process && one->call != finding->call && one->slot == finding->slot
            && is_equal_but_for_numbers(one->text, finding->text))
            return one;
    }
    return NULL;
}

/* Returns false if there is not enough memory. */
static bool repeat_add(struct trace_finding *repeated, const struct trace_finding *finding)
{
    uint64_t index = repeated->count++ - 1;
    repeated->last = finding->begin;
    if (index >= TRACE_MAX_FINDINGS)
        return true;
    if ((index & (index + 1)) == 0) { /* 0, 1, 3, 7, ...: a power of two less one */
        struct trace_repeat *grown = realloc(repeated->repeats, 2 * (size_t)(index + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        repeated->repeats = grown;
    }
    repeated->repeats[index] = (struct trace_repeat){finding->begin, finding->thread};
    return true;
}

/* The list takes the text. Returns false if there is not enough memory. */
static bool finding_add(struct trace_list *list, const struct trace_finding *finding)
{
    struct trace_finding *repeated = repeated_find(list, finding), *grown;
    bool is_left_out = repeated == NULL && list->found[finding->kind]++ >= TRACE_MAX_FINDINGS;
    if (repeated != NULL || is_left_out) {
        free(finding->text);
        return is_left_out || repeat_add(repeated, finding); /* analyzer: the list is freed with its repeats */
    }
    if ((grown = realloc(list->all, (list->count + 1) * sizeof *grown)) == NULL) {
        free(finding->text);
        return false;
    }
    list->all = grown;
    grown[list->count++] = *finding;
    return true;
}

bool trace_list_add(struct trace_list *list, enum trace_finding_kind kind, const struct trace_moment *moment,
                    const char *format, ...)
{
    va_list arguments;
    struct trace_finding finding = {.kind = kind, .count = 1};
    if (moment != NULL) {
        finding.call = moment->call;
        finding.process = moment->process;
        finding.thread = moment->thread;
        finding.begin = finding.last = moment->begin;
        finding.site = moment->site;
        finding.python = moment->python;
        finding.log = moment->log;
        finding.range = moment->range;
        finding.slot = moment->slot;
        finding.result = moment->result;
    }
    va_start(arguments, format);
    bool is_made = vasprintf(&finding.text, format, arguments) >= 0;
    va_end(arguments);
    return is_made && finding_add(list, &finding);
}
