/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "finder.h"

bool trace_list_add(struct trace_list *list, enum trace_finding_kind kind, const struct trace_moment *moment,
                    const char *format, ...)
{
    va_list arguments;
    struct trace_finding finding = {.kind = kind}, *grown;
    if (list->found[kind]++ >= TRACE_MAX_FINDINGS)
        return true;
    if (moment != NULL) {
        finding.call = moment->call;
        finding.process = moment->process;
        finding.thread = moment->thread;
        finding.begin = moment->begin;
        finding.site = moment->site;
        finding.python = moment->python;
        finding.log = moment->log;
        finding.range = moment->range;
    }
    va_start(arguments, format);
    bool is_made = vasprintf(&finding.text, format, arguments) >= 0;
    va_end(arguments);
    grown = is_made ? realloc(list->all, (list->count + 1) * sizeof *grown) : NULL;
    if (grown == NULL) {
        if (is_made)
            free(finding.text);
        return false;
    }
    list->all = grown;
    grown[list->count++] = finding;
    return true;
}
