/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <errno.h>
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
