/* SPDX-License-Identifier: MIT */
#include "findings_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../model/places.h"
#include "report.h"

enum { INDENT = 33 }; /* of a finding, behind its time, process and thread */

const char *trace_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Where and in which ranges the call was made, and what the driver said about it. */
static void print_details(const struct trace_reader *reader, const struct trace_finding *finding)
{
    char said[1024];
    size_t length;
    trace_print_lines(INDENT, trace_place_lines(reader, finding->process, finding->site, finding->python));
    if (finding->range != NULL) {
        printf("%*sin range ", INDENT, "");
        text_paragraph(TONE_FAINT, INDENT, finding->range);
    }
    for (const char *line = finding->log; line != NULL && *line != '\0'; line += length + (line[length] != '\0')) {
        length = strcspn(line, "\n");
        snprintf(said, sizeof said, "driver: %.*s", (int)length, line);
        printf("%*s", INDENT, "");
        text_paragraph(TONE_PLAIN, INDENT, said);
    }
}

/* The other one of two calls, and where it was made. */
static void print_other(const struct trace_reader *reader, const struct trace_moment *other)
{
    char text[256];
    if (other->call == 0)
        return;
    snprintf(text, sizeof text, "the other call: %s at %.9f s, thread %ld", reader->slots[other->slot].function,
             (double)other->begin / 1e9, other->thread);
    printf("%*s", INDENT, "");
    text_paragraph(TONE_PLAIN, INDENT, text);
    trace_print_lines(INDENT, trace_place_lines(reader, other->process, other->site, other->python));
}

/* Behind the numbers of a finding; on a terminal, the lines end at its width. */
static void put_sentence(enum tone tone, const char *text, const char *rest)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "%s%s", text, rest);
    text_paragraph(tone, INDENT, whole);
}

/* A title and a line for each finding of a kind. */
static void print_kind(const struct trace_reader *reader, const struct trace_list *list, enum trace_finding_kind kind,
                       size_t most)
{
    uint64_t found = list->found[kind];
    size_t shown = 0;
    char times[80];
    if (found > 0)
        printf("\n%s:\n%15s %7s %7s\n", trace_finding_rows[kind].title, "seconds", "process", "thread");
    for (size_t i = 0; i < list->count && shown < most; i++) {
        const struct trace_finding *finding = &list->all[i];
        if (finding->kind != kind)
            continue;
        printf("%5" PRIu64 ".%09" PRIu64 " %7ld %7ld  ", finding->begin / 1000000000, finding->begin % 1000000000,
               reader->processes[finding->process].pid, finding->thread);
        if (finding->count > 1)
            snprintf(times, sizeof times, " (%" PRIu64 " times, the last one at %.6f s)", finding->count,
                     (double)finding->last / 1e9);
        put_sentence(trace_finding_rows[kind].severity == BAD ? TONE_BAD : TONE_PLAIN, finding->text,
                     finding->count > 1 ? times : "");
        print_details(reader, finding);
        print_other(reader, &finding->other);
        shown++;
    }
    if (found > shown)
        printf("and %" PRIu64 " more\n", found - shown);
}

void trace_print_findings(const struct trace_reader *reader, const struct trace_list *list, int severity, size_t most)
{
    for (int kind = 0; kind < TRACE_FINDING_KINDS; kind++) {
        if ((int)trace_finding_rows[kind].severity == severity)
            print_kind(reader, list, (enum trace_finding_kind)kind, most);
    }
}

/* The failed calls that no finding explains. */
static uint64_t count_unexplained(const struct trace_list *list, const struct trace_failed *failures,
                                  size_t failure_count)
{
    uint64_t count = 0;
    for (size_t i = 0; i < failure_count; i++) {
        const struct trace_failed *failure = &failures[i];
        uint64_t explained = 0;
        for (size_t k = 0; k < list->count; k++) {
            const struct trace_finding *finding = &list->all[k];
            if (trace_finding_rows[finding->kind].severity == BAD && finding->slot == failure->slot
                && finding->result == failure->result)
                explained += finding->count;
        }
        bool is_of_kind = (trace_is_sticky(failure->result) && list->found[TRACE_FINDING_STICKY] > 0)
                          || (trace_is_of_capture(failure->result)
                              && list->found[TRACE_FINDING_CAPTURE] + list->found[TRACE_FINDING_UNJOINED] > 0);
        count += is_of_kind || explained >= failure->calls ? 0 : failure->calls - explained;
    }
    return count;
}

/* Waits are not mistakes. */
void trace_print_verdict(const struct trace_reader *reader, const struct trace_list *list,
                         const struct trace_failed *failures, size_t failure_count)
{
    uint64_t unexplained = count_unexplained(list, failures, failure_count), found = 0;
    uint64_t not_examined = list->not_examined < unexplained ? list->not_examined : unexplained;
    unexplained -= not_examined;
    for (int kind = 0; kind < TRACE_FINDING_KINDS; kind++)
        found += kind != TRACE_FINDING_WAIT ? list->found[kind] : 0;
    if (unexplained > 0)
        printf("No reason was found for %" PRIu64 " failed call%s: --calls --errors shows each failed call.\n",
               unexplained, trace_plural(unexplained));
    if (not_examined > 0)
        printf("%" PRIu64 " failed call%s not examined, because %d before %s had a reason: --calls --errors shows each "
               "failed call.\n",
               not_examined, not_examined == 1 ? " was" : "s were", TRACE_MAX_REASONS,
               not_examined == 1 ? "it" : "them");
    if (unexplained + not_examined + found > 0)
        return;
    if (reader->calls == 0)
        puts("No call was recorded.");
    else
        printf("Nothing was found%s.\n", trace_is_whole(reader) ? "" : " in the calls that the file has");
}

void trace_print_comparison(const struct trace_orders *orders, const struct trace_reader *reader)
{
    if (orders->compared == 0 || !trace_is_whole(reader))
        return;
    printf("%" PRIu64 " access%s in %" PRIu64 " stream%s compared", orders->compared, orders->compared == 1 ? "" : "es",
           orders->streams, trace_plural(orders->streams));
    if (orders->left_out > 0)
        printf(", %" PRIu64 " left out", orders->left_out);
    puts("; kernels and host code are not looked at");
}
