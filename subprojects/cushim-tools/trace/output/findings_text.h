/* SPDX-License-Identifier: MIT */
/* Findings as text. */
#ifndef CUSHIM_TRACE_FINDINGS_TEXT_H
#define CUSHIM_TRACE_FINDINGS_TEXT_H

#include "../finders/findings.h"

/* The failed calls of a function with a result. */
struct trace_failed {
    unsigned slot, result;
    uint64_t calls;
};

/* Prints what a report says first: that nothing was found, or how many failed calls have no reason. */
void trace_print_verdict(const struct trace_reader *reader, const struct trace_list *list,
                         const struct trace_failed *failures, size_t failure_count);

/* Prints the findings of a severity, at most so many of each kind. */
void trace_print_findings(const struct trace_reader *reader, const struct trace_list *list, int severity, size_t most);

/* Prints how many accesses were compared for races, unless there are none. */
void trace_print_comparison(const struct trace_orders *orders, const struct trace_reader *reader);

/* The end of a word for things of this number: "s" or "". */
const char *trace_plural(uint64_t count);

#endif
