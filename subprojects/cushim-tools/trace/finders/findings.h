/* SPDX-License-Identifier: MIT */
/* What a report concludes from the calls of a trace, by all finders. */
#ifndef CUSHIM_TRACE_FINDINGS_H
#define CUSHIM_TRACE_FINDINGS_H

#include "finder.h"
#include "../order/orders.h"

/* By kind. */
extern const struct trace_finding_row {
    const char *title;
    enum { NOTE, BAD } severity;
} trace_finding_rows[TRACE_FINDING_KINDS];

/* The functions return false if there is not enough memory. Begin with trace_findings_start(), and end with
 * trace_findings_free(), also after a failure. */
struct trace_findings {
    struct trace_model model;
    struct trace_orders orders;
    struct trace_list list; /* after trace_findings_end(): by kind, and then by importance or time */
    void *states[TRACE_FINDING_KINDS];
};
bool trace_findings_start(struct trace_findings *findings, struct trace_reader *reader);

/* Reads a call: all calls of the trace, in the order of trace_read(). */
bool trace_findings_read(struct trace_findings *findings, const struct trace_call *call);

/* Completes the list, after the last call. */
bool trace_findings_end(struct trace_findings *findings);

void trace_findings_free(struct trace_findings *findings);

#endif
