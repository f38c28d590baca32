/* SPDX-License-Identifier: MIT */
/* What is found in a trace, by all who find. */
#include "findings.h"

#include <stdlib.h>

/* Those of a kind stay in their order. */
static void findings_sort(struct trace_findings *findings)
{
    struct trace_finding *sorted = calloc(findings->count + 1, sizeof *sorted);
    size_t count = 0;
    if (sorted == NULL) {
        findings->failed = true;
        return;
    }
    for (int kind = 0; kind < TRACE_FINDING_KINDS; kind++) {
        for (size_t i = 0; i < findings->count; i++) {
            if ((int)findings->list[i].kind == kind)
                sorted[count++] = findings->list[i];
        }
    }
    free(findings->list);
    findings->list = sorted;
}

void trace_findings_read(struct trace_findings *findings, const struct trace_reader *reader,
                         const struct trace_call *call)
{
    const struct trace_role *role = findings->failed ? NULL : trace_role_of(findings, reader, call->slot);
    if (role == NULL)
        return;
    findings->calls++;
    trace_objects_read(findings, reader, call);
    trace_captures_read(findings, reader, call, role);
    trace_waits_read(findings, reader, call, role);
}

void trace_findings_end(struct trace_findings *findings, const struct trace_reader *reader)
{
    if (findings->calls == 0 || findings->failed)
        return;
    trace_objects_end(findings, reader);
    trace_captures_end(findings, reader);
    trace_waits_end(findings, reader);
    findings_sort(findings);
}

void trace_findings_free(struct trace_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free(findings->list[i].text);
    free(findings->list);
    free(findings->roles);
    trace_objects_free(findings);
    trace_captures_free(findings);
    trace_waits_free(findings);
}
