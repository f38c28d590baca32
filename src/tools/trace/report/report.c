/* SPDX-License-Identifier: MIT */
/* Reads a trace and writes the report that the options select. */
#include "findings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static enum status write_calls(struct trace_reader *reader, const struct options *options)
{
    struct trace_findings findings = {.list = NULL};
    struct trace_call call;
    while (!findings.failed && trace_next(reader, &call)) {
        trace_findings_read(&findings, reader, &call);
        if (trace_selects(options, reader, &call, &findings))
            trace_print_call(reader, &call, &findings);
    }
    trace_findings_free(&findings);
    if (findings.failed)
        text_complain("trace: there is not enough memory");
    return findings.failed ? STATUS_UNUSABLE : STATUS_USABLE;
}

enum status trace_report(const char *path, const struct options *options)
{
    struct trace_reader reader;
    enum status (*write)(struct trace_reader *, const struct options *) = trace_summary;
    if (options->trace.calls)
        write = write_calls;
    else if (options->json || options->html)
        write = options->json ? trace_write_json : trace_write_html;
    enum status status = STATUS_UNUSABLE;
    const char *at = path, *why = trace_open(path, &reader);
    if (why == NULL && options->trace.file != NULL) {
        at = options->trace.file;
        why = write_to(at, path);
    }
    if (why != NULL) {
        text_complain("trace: %s: %s", at, why);
    } else {
        /* Only the summary is written at the end, so that the line of the progress does not disturb it. */
        if (write == trace_summary || !platform_on_terminal())
            trace_progress_start();
        status = write(&reader, options);
    }
    trace_close(&reader);
    return status;
}
