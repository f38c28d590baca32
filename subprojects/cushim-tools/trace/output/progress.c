/* SPDX-License-Identifier: MIT */
/* Reading calls with a line on the terminal that shows how far a long report is. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
    bool is_allowed, is_shown;
    uint64_t next; /* when the line is written again */
} progress;

static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void trace_progress_start(void)
{
    progress.is_allowed = isatty(STDERR_FILENO) != 0;
    progress.next = milliseconds() + 200;
}

static void progress_show(const struct trace_reader *reader)
{
    uint64_t now = milliseconds();
    if (now < progress.next)
        return;
    progress.next = now + 100;
    progress.is_shown = true;
    uint64_t whole = reader->calls > reader->calls_read ? reader->calls : reader->calls_read;
    fprintf(stderr, "\rcushim: trace: %3" PRIu64 " %% of %" PRIu64 " calls", reader->calls_read * 100 / whole, whole);
    fflush(stderr);
}

bool trace_next(struct trace_reader *reader, struct trace_call *call)
{
    bool has_call = trace_read(reader, call);
    if (progress.is_allowed && has_call && reader->calls_read % 16384 == 0)
        progress_show(reader);
    if (progress.is_shown && !has_call) {
        fputs("\r\033[K", stderr);
        progress.is_shown = false;
    }
    return has_call;
}

void trace_check_count(uint64_t calls)
{
    enum { MAX_CALLS = 2000000 };
    if (calls > MAX_CALLS)
        text_complain("trace: %" PRIu64 " calls are more than most viewers open; "
                      "--from and --to, --function, --thread or --errors select some",
                      calls);
}
