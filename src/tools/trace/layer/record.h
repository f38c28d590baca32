/* SPDX-License-Identifier: MIT */
/* Writing records: the part of the layer that knows threads and the file, and of slots only what it is given. */
#ifndef CUSHIM_TRACE_RECORD_H
#define CUSHIM_TRACE_RECORD_H

#include <signal.h>

#include "chunks.h"
#include "modules.h"

/* Prepares this process for records into the file of CUSHIM_TRACE. Returns false if the variable is not set, or the
 * system lacks something. Can be called again, also by several threads. The layer has a schema, always the same one,
 * which must stay; NVTX has none. */
bool record_prepare(const struct trace_schema *schema);

/* What a thread needs to record a call: it is found once for each call. */
struct trace_thread {
    uint64_t *at, *end; /* the room in its chunk; behind it is room for what the driver says about a call */
    struct trace_chunk *chunk;
    uint64_t start, size;                   /* the part of the process that has made the last call */
    uint64_t blocked;                       /* the signals that were blocked at its first call */
    uint64_t has_module[MODULES_MOST / 64]; /* the parts of the process that the chunk has */
    bool wants_stacks;
    uint32_t process;              /* whose chunk it is */
    volatile sig_atomic_t is_busy; /* while it writes: a signal handler must not write in between */
    uint32_t log_length;
    char log[TRACE_TEXT_MAX]; /* what the driver has said since the last call began */
};

/*
 * Finds room for a record of at most `words` words, at `at` of the result. Returns NULL if calls are not recorded, or
 * if a signal handler interrupts this thread while it records another call, and counts the call. The wrapper, which
 * returns to the address `caller`, writes the fields behind the head, calls record_call() with word 0 and the end of
 * the fields, makes the call, and calls record_return().
 */
struct trace_thread *record_begin(size_t words, const void *caller);
void record_call(struct trace_thread *own, uint64_t head, uint64_t *end);
void record_return(struct trace_thread *own, uint64_t *record, unsigned result);

/* Records what happens to a range: the words of a TRACE_RANGE. Counts it if there is no room, or if a signal handler
 * interrupts this thread while it records something else. */
void record_range(const uint64_t *words, size_t count);

/* Adds a line to what the driver says about the current call of this thread. */
void record_log(const char *line, size_t length);

#endif
