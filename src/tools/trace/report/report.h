/* SPDX-License-Identifier: MIT */
/* The parts of `cushim trace`: trace.c records, report.c reads, and the others write what was found. */
#ifndef CUSHIM_CLI_TRACE_H
#define CUSHIM_CLI_TRACE_H

#include "../file/reader.h"
#include "cli.h"

/* A text that is cut where the room ends. */
struct trace_line {
    char text[2048];
    size_t length;
};

struct trace_findings;

/* Whether the options select a call. `findings`, which can be NULL, has read the calls up to this one. */
bool trace_selects(const struct options *options, const struct trace_reader *reader, const struct trace_call *call,
                   const struct trace_findings *findings);

/* Whether a call returned an error. CUDA_ERROR_NOT_READY is not one. */
bool trace_has_failed(const struct trace_call *call);

/* Reads the next call, and shows the progress. */
bool trace_next(struct trace_reader *reader, struct trace_call *call);

/* Allows to show the progress of a long report: as a line on stderr, if that is a terminal. */
void trace_progress_start(void);

/* The formats: each writes a trace to stdout. */
enum status trace_summary(struct trace_reader *reader, const struct options *options);
enum status trace_write_json(struct trace_reader *reader, const struct options *options);
enum status trace_write_html(struct trace_reader *reader, const struct options *options);

/* Says on stderr if there are more calls than viewers open. */
void trace_check_count(uint64_t calls);

/* Writes the trace with this path. */
enum status trace_report(const char *path, const struct options *options);

/* Writes a call as a line of text, with the names that the findings, which can be NULL, have for objects. */
void trace_print_call(const struct trace_reader *reader, const struct trace_call *call,
                      const struct trace_findings *findings);

/* An argument of a call. Begin with a zeroed struct, apart from `findings`. */
struct trace_argument {
    const struct trace_findings *findings; /* for the names of objects, or NULL */
    size_t index, word;                    /* those of the next one */
    const char *name;
    bool is_behind;   /* the value is behind the pointer with this name */
    const char *text; /* the characters, if it is a string; not NULL-terminated */
    size_t text_length;
    struct trace_line value;
};
bool trace_next_argument(const struct trace_reader *reader, const struct trace_call *call,
                         struct trace_argument *argument);

#endif
