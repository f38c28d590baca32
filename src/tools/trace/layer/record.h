/* SPDX-License-Identifier: MIT */
/* Writing records: the part of the layer that knows threads and the file, and no slots. */
#ifndef CUSHIM_TRACE_RECORD_H
#define CUSHIM_TRACE_RECORD_H

#include "../file/format.h"

/* Prepares this process for records into the file of CUSHIM_TRACE. Returns false if the variable is not set, or the
 * system lacks something. Can be called again. */
bool record_prepare(void);

/* What a thread needs to record a call: it is found once for each call. */
struct trace_thread {
    uint64_t *at, *end; /* the room in its chunk; behind it is room for what the driver says about a call */
    struct trace_chunk *chunk;
    uint32_t process; /* whose chunk it is */
    uint32_t log_length;
    char log[TRACE_TEXT_MOST]; /* what the driver has said since the last call began */
};

/*
 * Finds room for a record of at most `words` words, at `at` of the result. Returns NULL if calls are not recorded, and
 * counts the call. The caller writes the fields behind the head, calls record_call() with word 0 and the end of the
 * fields, makes the call, and calls record_return().
 */
struct trace_thread *record_begin(size_t words);
void record_call(struct trace_thread *own, uint64_t head, uint64_t *end);
void record_return(struct trace_thread *own, uint64_t *record, unsigned result);

/* Adds a line to what the driver says about the current call of this thread. */
void record_log(const char *line, size_t length);

/* wrappers.c: the text that describes the fields of each slot. Returns its length, and writes at most `size` bytes. */
size_t schema_write(char *text, size_t size);

/* wrappers.c: lets the driver explain errors. Called once in a process. */
void driver_log_register(void);

/* wrappers.c: the states of the slots, of the legacy table and then of the per-thread one, and how many these are. */
extern const uint8_t *const trace_states;
extern const uint32_t trace_slot_count;

#endif
