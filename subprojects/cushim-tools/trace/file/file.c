/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../../common/quiet_text.h"

static uint64_t clock_read(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* One of these clocks counts the time that the machine sleeps, and the other one does not. */
static uint64_t slept_read(void)
{
#if defined(CLOCK_BOOTTIME)
    uint64_t awake = clock_read(CLOCK_MONOTONIC), all = clock_read(CLOCK_BOOTTIME);
    return all > awake ? all - awake : 0;
#else
    return 0;
#endif
}

void trace_file_note_sleep(int file)
{
    enum { MIN_SLEEP = 1000000000 }; /* nanoseconds: the clocks are read one after the other */
    uint64_t before, slept = slept_read();
    if (pread(file, &before, sizeof before, offsetof(struct trace_header, slept)) != (ssize_t)sizeof before
        || slept < before + MIN_SLEEP)
        return;
    slept -= before;
    (void)!pwrite(file, &slept, sizeof slept, offsetof(struct trace_header, slept_meanwhile));
}

bool trace_file_make(int file, uint64_t size, bool keeps_newest, bool wants_stacks, bool wants_arguments,
                     const char *command)
{
    struct rlimit limit;
    /* A file that is longer than the process may write ends the process with SIGXFSZ. */
    bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size;
    if (is_limited)
        size = limit.rlim_cur;
    uint64_t chunks = size > TRACE_CHUNKS_AT ? (size - TRACE_CHUNKS_AT) / TRACE_CHUNK_SIZE : 0;
    struct trace_header header = {
        .magic = TRACE_MAGIC,
        .version = TRACE_VERSION,
        .chunk_count = chunks,
        .keeps_newest = keeps_newest,
        .wants_stacks = wants_stacks,
        .wants_arguments = wants_arguments,
        .clock = clock_read(CLOCK_MONOTONIC),
        .real_clock = clock_read(CLOCK_REALTIME),
        .slept = slept_read(),
        .limit = is_limited ? TRACE_LIMIT_RESOURCE : TRACE_LIMIT_OPTION,
    };
    strncpy(header.command, command, sizeof header.command - 1);
    if (chunks == 0) {
        errno = EFBIG;
        return false;
    }
    return quiet_resize(file, (off_t)(TRACE_CHUNKS_AT + chunks * TRACE_CHUNK_SIZE))
           && pwrite(file, &header, sizeof header, 0) == (ssize_t)sizeof header;
}
