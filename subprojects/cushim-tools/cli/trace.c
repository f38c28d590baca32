/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../exec/settings.h"
#include "../trace/file/reader.h"
#include "../trace/output/report.h"
#include "../doctor/program/program.h"
#include "../trace/file/recording.h"
#include "../exec/launch.h"
#include "platform.h"

static const char default_file[] = "cushim.trace";

/* The library that NVTX loads into a program. */
#define NVTX_VARIABLE "NVTX_INJECTION64_PATH"

/* The program and its arguments, for the head of the report. */
static void join_arguments(char *const *arguments, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; arguments[i] != NULL && length < size - 1; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? " " : "", arguments[i]);
}

/* The trace layer also records the ranges of NVTX, unless another tool does. */
static void record_ranges(const char *layer)
{
    const char *other = getenv(NVTX_VARIABLE);
    if (other != NULL)
        text_complain("trace: " NVTX_VARIABLE " is set (%s), so the ranges of NVTX are not recorded", other);
    else
        (void)setenv(NVTX_VARIABLE, layer, 0);
}

/* Prints the summary to stderr: stdout is the program's. A limit of the size of files must not end this program. */
static void print_summary(const struct recording *recording, bool is_written)
{
    const struct trace_options summary = {.file = NULL};
    const char *path = is_written ? recording->path : recording->hidden;
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    fflush(stdout);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return;
    text_start();
    (void)trace_report_file(recording->file, recording->path, &summary);
    if (is_written || platform_exists(path)) {
        text_print(TONE_PLAIN,
                   "The calls are in %s. To show those that failed: cushim trace report %s --calls --errors", path,
                   path);
        fputc('\n', stdout);
    }
    fflush(stdout);
    signal(SIGXFSZ, before);
}

static bool has_calls(const struct recording *recording)
{
    struct trace_reader reader;
    bool found = trace_open_file(recording->file, &reader) != NULL || reader.calls > 0;
    trace_close(&reader);
    return found;
}

/* Gives the file its name, and reports it if that is not the requested one. Returns false if it has none. */
static bool finish(struct recording *recording)
{
    char requested[PLATFORM_PATH_SIZE];
    memcpy(requested, recording->path, sizeof requested);
    const char *why = recording_finish(recording);
    if (why != NULL)
        text_complain("trace: cannot write %s: %s", requested, why);
    else if (strcmp(requested, recording->path) != 0)
        text_complain("trace: another file was written to %s meanwhile; the trace is %s", requested, recording->path);
    return why == NULL;
}

static enum status record(const struct options *options)
{
    struct options with_layer = *options;
    static struct recording recording;
    char layer[PLATFORM_PATH_SIZE], command[TRACE_COMMAND_SIZE];
    const char *path = options->trace.file != NULL ? options->trace.file : default_file;
    uint64_t size = options->recording.size != 0 ? options->recording.size : (uint64_t)TRACE_DEFAULT_MEBIBYTES << 20;
    struct program_run run;
    bool has_started, uses_gpu;
    if (getenv(EXEC_VARIABLE) != NULL)
        return text_refuse("trace: this process already runs under cushim trace or cushim exec");
    if (!trace_layer_find(layer, sizeof layer)) {
        text_complain("trace: the trace layer was not found beside this program");
        return STATUS_UNUSABLE;
    }
    if (!program_run_start(&run, &with_layer))
        return STATUS_UNUSABLE;
    join_arguments(options->program, command, sizeof command);
    const char *why = recording_start(&recording, path, size, !options->recording.keeps_first,
                                      options->recording.wants_stacks, options->recording.wants_arguments, command);
    if (why != NULL) {
        text_complain("trace: cannot write %s: %s", path, why);
        return STATUS_UNUSABLE;
    }
    record_ranges(layer);
    run.trace = recording.file;
    /* On top of the other layers. The list has room for it. */
    with_layer.names[with_layer.name_count++] = layer;
    int ended = program_run_wait(&run, &with_layer, &has_started);
    if (ended == -1)
        text_complain("trace: cannot start a process: %s", strerror(errno));
    if (!has_started) {
        recording_discard(&recording);
        return ended == -1 ? STATUS_UNUSABLE : (enum status)supervise_end(ended);
    }
    bool is_written = finish(&recording);
    print_summary(&recording, is_written);
    if (!has_calls(&recording))
        (void)program_explain(options, &run, &uses_gpu);
    fflush(stdout);
    return (enum status)supervise_end(ended);
}

/* Whether --stream names a stream: "3", "0x55d2a0", "legacy" or "per-thread". */
static bool is_stream(const char *text)
{
    bool is_hexadecimal = strncmp(text, "0x", 2) == 0;
    const char *digits = is_hexadecimal ? text + 2 : text;
    size_t length = strspn(digits, is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789");
    return (length > 0 && digits[length] == '\0') || strcmp(text, "legacy") == 0 || strcmp(text, "per-thread") == 0;
}

/* Whether an option is given that is for the report alone, or for the recording alone. */
static bool has_option_of_report(const struct trace_options *trace)
{
    return trace->calls || trace->findings || trace->errors || trace->function != NULL || trace->caller != NULL
           || trace->stream != NULL || trace->process != 0 || trace->thread != 0 || trace->from != 0 || trace->to != 0;
}

static bool has_option_of_recording(const struct options *options)
{
    return options->recording.size != 0 || options->recording.keeps_first || options->recording.wants_stacks
           || options->recording.wants_arguments || options->name_count > 0 || options->load.path != NULL
           || options->load.root != NULL || options->load.max_version != 0 || options->load.hide != NULL;
}

enum status command_trace(const struct options *options)
{
    enum { MIN_SIZE = TRACE_CHUNKS_AT + TRACE_CHUNK_SIZE };
    bool reports = options->argument_count > 0 && strcmp(options->arguments[0], "report") == 0;
    bool has_format = options->json || options->html || options->csv;
    struct trace_options report = options->trace;
    if (has_format)
        report.format = options->json ? TRACE_FORMAT_JSON : options->csv ? TRACE_FORMAT_CSV : TRACE_FORMAT_HTML;
    if ((options->trace.calls && options->html) || options->trace.findings + (options->trace.calls || has_format) > 1)
        return text_refuse("trace: --findings excludes --calls and --format, and --calls excludes --format=html");
    if (options->trace.stream != NULL && !is_stream(options->trace.stream))
        return text_refuse("--stream: \"%s\" is not a stream such as 3, 0x55d2a0, legacy or per-thread",
                           options->trace.stream);
    if (options->recording.size != 0 && options->recording.size < MIN_SIZE)
        return text_refuse("--size: the smallest size is %dK", MIN_SIZE >> 10);
    if (options->program != NULL && has_option_of_report(&options->trace))
        return text_refuse("trace: --calls, --findings and the filters are options of cushim trace report");
    if (reports && has_option_of_recording(options))
        return text_refuse("trace: the options for the recording and for the driver are options of cushim trace -- "
                           "PROGRAM, and not of cushim trace report");
    if (options->program != NULL && options->program[0] != NULL && options->argument_count == 0 && !has_format)
        return record(options);
    if (options->program == NULL && reports && options->argument_count == 2)
        return trace_report(options->arguments[1], &report);
    if (options->program == NULL && options->argument_count > 0 && !reports)
        return text_refuse("trace: a program follows \"--\": cushim trace -- %s", options->arguments[0]);
    return text_refuse("trace: use: cushim trace [-o FILE] -- PROGRAM ARGUMENTS, or: cushim trace report FILE");
}
