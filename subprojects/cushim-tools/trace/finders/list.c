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
            && one->other.site == finding->other.site && one->other.python == finding->other.python
            && is_equal_but_for_numbers(one->text, finding->text))
            return one;
    }
    return NULL;
}

/* Returns false if there is not enough memory. */
static bool repeat_add(struct trace_finding *repeated, uint64_t begin, long thread)
{
    uint64_t index = repeated->count++ - 1;
    repeated->last = begin;
    if (index >= TRACE_MAX_FINDINGS)
        return true;
    if ((index & (index + 1)) == 0) { /* 0, 1, 3, 7, ...: a power of two less one */
        struct trace_repeat *grown = realloc(repeated->repeats, 2 * (size_t)(index + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        repeated->repeats = grown;
    }
    repeated->repeats[index] = (struct trace_repeat){begin, thread};
    return true;
}

bool trace_list_repeat(struct trace_list *list, size_t index, const struct trace_moment *moment)
{
    return repeat_add(&list->all[index], moment->begin, moment->thread);
}

/* The list takes the text. Returns false if there is not enough memory. */
static bool finding_add(struct trace_list *list, const struct trace_finding *finding)
{
    struct trace_finding *repeated = repeated_find(list, finding), *grown;
    bool is_left_out = repeated == NULL && list->found[finding->kind]++ >= TRACE_MAX_FINDINGS;
    if (repeated != NULL || is_left_out) {
        free(finding->text);
        return is_left_out
               || repeat_add(repeated, finding->begin, /* analyzer: the list is freed with its repeats */
                             finding->thread);
    }
    if ((grown = realloc(list->all, (list->count + 1) * sizeof *grown)) == NULL) {
        free(finding->text);
        return false;
    }
    list->all = grown;
    grown[list->count++] = *finding;
    return true;
}

CUSHIM_PRINTF(5, 0)
static bool text_add(struct trace_list *list, enum trace_finding_kind kind, const struct trace_moment *moment,
                     const struct trace_moment *other, const char *format, va_list arguments)
{
    struct trace_finding finding = {.kind = kind, .count = 1};
    if (vasprintf(&finding.text, format, arguments) < 0)
        return false;
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
    if (other != NULL)
        finding.other = *other;
    return finding_add(list, &finding);
}

bool trace_list_add(struct trace_list *list, enum trace_finding_kind kind, const struct trace_moment *moment,
                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool is_added = text_add(list, kind, moment, NULL, format, arguments);
    va_end(arguments);
    return is_added;
}

bool trace_list_add_pair(struct trace_list *list, enum trace_finding_kind kind, const struct trace_moment *moment,
                         const struct trace_moment *other, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool is_added = text_add(list, kind, moment, other, format, arguments);
    va_end(arguments);
    return is_added;
}

bool trace_list_move(struct trace_list *list, struct trace_list *from)
{
    struct trace_finding *grown = realloc(list->all, (list->count + from->count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    list->all = grown;
    for (size_t i = 0; i < from->count; i++)
        grown[list->count++] = from->all[i];
    for (int kind = 0; kind < TRACE_FINDING_KINDS; kind++)
        list->found[kind] += from->found[kind];
    list->not_examined += from->not_examined;
    free(from->all);
    *from = (struct trace_list){.all = NULL};
    return true;
}

void trace_list_free(struct trace_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->all[i].text);
        free(list->all[i].repeats);
    }
    free(list->all);
    *list = (struct trace_list){.all = NULL};
}
