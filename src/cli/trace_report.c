/* SPDX-License-Identifier: MIT */
#include "trace_findings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the text means the stream of a call or one that the call has created: "3", "0x55d2a0", "legacy". */
static bool has_stream(const char *text, const struct trace_reader *reader, const struct trace_call *call,
                       const struct trace_findings *findings)
{
    const struct trace_slot *slot = &reader->slots[call->slot];
    const uint64_t *at = call->fields, *end = call->fields + call->words;
    for (size_t i = 0, words; i < slot->field_count; i++, at += words) {
        const struct trace_slot_field *field = &slot->fields[i];
        words = trace_field_words(field, at, (size_t)(end - at));
        if (words == 0)
            return false;
        const uint64_t *value = trace_field_value(field, at, call->returned && call->result == CUDA_SUCCESS);
        if (field->value.stream == 0 || value == NULL || field->kind == TRACE_POINTER
            || field->value.stream > TRACE_WORDS_OF(field->size))
            continue;
        uint64_t handle = value[field->value.stream - 1], stream = trace_stream_number(findings, call, handle);
        struct trace_text name = trace_stream_name(findings, call->process, stream);
        if (strncmp(text, "0x", 2) == 0 ? strtoull(text, NULL, 16) == handle
            : strcmp(text, "per-thread") == 0
                ? stream >> 63 != 0
                : strncmp(name.text, "stream ", 7) == 0 && strcmp(name.text + 7, text) == 0)
            return true;
        if (strcmp(text, "legacy") == 0 && stream == TRACE_LEGACY_STREAM)
            return true;
    }
    return false;
}

bool trace_selects(const struct options *options, const struct trace_reader *reader, const struct trace_call *call,
                   const struct trace_findings *findings)
{
    const char *function = options->trace.function;
    return (function == NULL || strstr(reader->slots[call->slot].function, function) != NULL)
           && (options->trace.thread == 0 || options->trace.thread == (uint64_t)call->thread)
           && (options->trace.stream == NULL || has_stream(options->trace.stream, reader, call, findings))
           && (!options->trace.errors || trace_has_failed(call) || !call->returned)
           && call->begin >= options->trace.from && (options->trace.to == 0 || call->begin <= options->trace.to);
}

bool trace_has_failed(const struct trace_call *call)
{
    return call->returned && call->result != CUDA_SUCCESS && call->result != CUDA_ERROR_NOT_READY;
}

void trace_check_count(uint64_t calls)
{
    enum { MOST_CALLS = 2000000 };
    if (calls > MOST_CALLS)
        text_complain("trace: %" PRIu64 " calls are more than most viewers open; "
                      "--from and --to, --function, --thread or --errors select some",
                      calls);
}

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
