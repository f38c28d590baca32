/* SPDX-License-Identifier: MIT */
/* Reads a trace and writes the report that the options select. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../model/places.h"
#include "platform.h"
#include "report.h"

/* Makes stdout the file of -o. Returns NULL, or why it cannot be written. */
static const char *write_to(const char *path, const char *trace)
{
    struct stat ours, theirs;
    if (stat(path, &ours) == 0 && stat(trace, &theirs) == 0 && ours.st_dev == theirs.st_dev
        && ours.st_ino == theirs.st_ino)
        return "this file is the trace";
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool is_open = file >= 0 && dup2(file, STDOUT_FILENO) >= 0;
    const char *why = is_open ? NULL : strerror(errno);
    if (file >= 0)
        close(file);
    text_start();
    return why;
}

static enum status write_calls(struct trace_reader *reader, const struct trace_options *options)
{
    struct trace_model model;
    struct trace_call call;
    bool is_csv = options->format == TRACE_FORMAT_CSV, has_memory = trace_model_start(&model, reader);
    if (is_csv)
        trace_print_csv_head();
    while (has_memory && trace_next(reader, &call)) {
        has_memory = trace_model_read(&model, &call);
        if (has_memory && trace_selects(options, &model, &call))
            (is_csv ? trace_print_csv : trace_print_call)(&model, &call);
    }
    trace_model_free(&model);
    if (!has_memory)
        text_complain("trace: there is not enough memory");
    return has_memory ? STATUS_USABLE : STATUS_UNUSABLE;
}

static enum status report_write(struct trace_reader *reader, const char *why, const char *path,
                                const struct trace_options *options)
{
    enum status (*write)(struct trace_reader *, const struct trace_options *) =
        options->format == TRACE_FORMAT_JSON ? (options->calls ? trace_write_json_calls : trace_write_json)
        : options->calls || options->format == TRACE_FORMAT_CSV ? write_calls
        : options->format == TRACE_FORMAT_HTML                  ? trace_write_html
                                                                : trace_summary;
    enum status status = STATUS_UNUSABLE;
    const char *at = path;
    if (why == NULL && options->file != NULL) {
        at = options->file;
        why = write_to(at, path);
    }
    if (why != NULL) {
        text_complain("trace: %s: %s", at, why);
    } else {
        /* Only the summary is written at the end, so that the line of the progress does not disturb it. */
        if (write == trace_summary || !platform_on_terminal())
            trace_progress_start();
        status = write(reader, options);
    }
    if (status == STATUS_USABLE && (reader->has_failed || trace_places_have_failed())) {
        text_complain("trace: there is not enough memory");
        status = STATUS_UNUSABLE;
    }
    trace_places_free();
    trace_close(reader);
    return status;
}

static int compare_times(const struct stat *one, const struct stat *other)
{
    const struct timespec *a = &one->st_mtim, *b = &other->st_mtim;
    return a->tv_sec != b->tv_sec ? (a->tv_sec < b->tv_sec ? -1 : 1)
                                  : (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* The file in which a program that still runs is recorded: the newest one beside PATH with the name ".NAME." and six
 * characters. Characters of a pattern in the name are taken as they are. */
static bool find_running(const char *path, char *found, size_t size)
{
    char pattern[2 * PLATFORM_PATH_SIZE + 16];
    size_t length = 0;
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    struct stat newest = {.st_size = 0}, status;
    bool is_found = false;
    glob_t files;
    for (const char *at = path; *at != '\0' && length < sizeof pattern - 16; at++) {
        if (at == name)
            pattern[length++] = '.';
        if (strchr("*?[\\", *at) != NULL)
            pattern[length++] = '\\';
        pattern[length++] = *at;
    }
    snprintf(pattern + length, sizeof pattern - length, ".??????");
    if (glob(pattern, 0, NULL, &files) != 0)
        return false;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        if (stat(files.gl_pathv[i], &status) != 0 || (is_found && compare_times(&status, &newest) <= 0))
            continue;
        newest = status;
        is_found = snprintf(found, size, "%s", files.gl_pathv[i]) < (int)size;
    }
    globfree(&files);
    return is_found;
}

/* Whether a process that is recorded in a file still runs. */
static bool is_running(const char *path)
{
    static struct trace_reader reader;
    bool runs = false;
    if (trace_open(path, &reader) == NULL) {
        for (size_t i = 0; i < reader.process_count; i++)
            runs |= kill((pid_t)reader.processes[i].pid, 0) == 0 || errno == EPERM;
        runs &= reader.header->taken < TRACE_CLOSED;
    }
    trace_close(&reader);
    return runs;
}

enum status trace_report(const char *path, const struct trace_options *options)
{
    struct trace_reader reader;
    char running[PLATFORM_PATH_SIZE];
    bool is_missing = access(path, F_OK) != 0 && errno == ENOENT;
    if (find_running(path, running, sizeof running) && (is_missing || is_running(running))) {
        path = running;
        text_complain("trace: the program has not ended: these are its calls so far, in %s", running);
    }
    const char *why = trace_open(path, &reader);
    return report_write(&reader, why, path, options);
}

enum status trace_report_file(int file, const char *path, const struct trace_options *options)
{
    struct trace_reader reader;
    const char *why = trace_open_file(file, &reader);
    return report_write(&reader, why, path, options);
}
