/* SPDX-License-Identifier: MIT */
/* The parts of a report: report.c reads the options, and the others write what was found. */
#ifndef CUSHIM_TRACE_REPORT_H
#define CUSHIM_TRACE_REPORT_H

#include "../model/answers.h"
#include "../model/model.h"
#include "trace_options.h"
#include "text.h"

/* A text that is cut where the room ends. */
struct trace_line {
    char text[4096];
    size_t length;
};

/* Whether the options select a call. The model has read the calls up to this one. */
bool trace_selects(const struct trace_options *options, const struct trace_model *model, const struct trace_call *call);

/* Whether they select a range: by its process, thread and time. */
bool trace_selects_range(const struct trace_options *options, const struct trace_reader *reader,
                         const struct trace_range *range);

/* Reads the next call, and shows the progress. */
bool trace_next(struct trace_reader *reader, struct trace_call *call);

/* Allows to show the progress of a long report: as a line on stderr, if that is a terminal. */
void trace_progress_start(void);

/* The formats: each writes a trace to stdout. */
enum status trace_summary(struct trace_reader *reader, const struct trace_options *options);
enum status trace_write_json(struct trace_reader *reader, const struct trace_options *options);
enum status trace_write_json_calls(struct trace_reader *reader, const struct trace_options *options);
enum status trace_write_html(struct trace_reader *reader, const struct trace_options *options);

/* Says on stderr if there are more calls than viewers open. */
void trace_check_count(uint64_t calls);

/* Writes the trace with this path; or that in an open file, which messages call `path`. */
enum status trace_report(const char *path, const struct trace_options *options);
enum status trace_report_file(int file, const char *path, const struct trace_options *options);

/* Writes a call as a line of text; or as one of comma-separated values, behind a line with their names. */
void trace_print_csv_head(void);
void trace_print_csv(const struct trace_model *model, const struct trace_call *call);
void trace_print_call(const struct trace_model *model, const struct trace_call *call);

/* Writes "at" and a place for each of some lines, from a column on. */
void trace_print_lines(int column, const char *lines);

/* The same for the place of a call, below that call, if the place is not its caller. */
void trace_print_place(const struct trace_reader *reader, const struct trace_call *call, uint64_t site,
                       const char *python);

/* Writes why processes that run Python have no Python frames, if something prevents it. */
void trace_print_no_python(const struct trace_reader *reader);

/* An argument of a call. Begin with an index and a word of 0. */
struct trace_argument {
    size_t index, word; /* those of the next one */
    const char *name;
    bool is_behind;   /* the value is behind the pointer with this name */
    const char *text; /* the characters, if it is a string; not NULL-terminated */
    size_t text_length;
    struct trace_line value;
};
bool trace_next_argument(const struct trace_model *model, const struct trace_call *call,
                         struct trace_argument *argument);

#endif
