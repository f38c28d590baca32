/* SPDX-License-Identifier: MIT */
/* Writing records. Knows of slots only what it is given. */
#ifndef CUSHIM_TRACE_RECORD_H
#define CUSHIM_TRACE_RECORD_H

#include "threads.h"

/*
 * Finds room for a record of at most `words` words, at `at` of the result. Returns NULL if calls are not recorded, or
 * if a signal handler interrupts this thread while it records another call, and counts the call. The wrapper, which
 * returns to the address `caller`, writes the fields behind the head, calls record_call() with word 0 and the end of
 * the fields, makes the call, and calls record_return(). record_call_with_place() also records where the call is made,
 * and record_call_with_sample() the Python frames of the first calls of a process.
 */
struct trace_thread *record_begin(size_t words, const void *caller);
void record_call(struct trace_thread *own, uint64_t head, uint64_t *end);
void record_call_with_place(struct trace_thread *own, uint64_t head, uint64_t *end);
void record_call_with_sample(struct trace_thread *own, uint64_t head, uint64_t *end);
void record_return(struct trace_thread *own, uint64_t *record, unsigned result);

/* Records what happens to a range: the words of a TRACE_RANGE. Counts it if there is no room, or if a signal handler
 * interrupts this thread while it records something else. */
void record_range(const uint64_t *words, size_t count);

/* Records a kernel that a call returned in an array. Its name stays as it is recorded. */
void record_kernel(unsigned slot, uint64_t whole, uint64_t handle, const char *name);

/* Records what the kernel of a launch gets, or the arrays of a batch of copies: the words of a TRACE_ARGUMENTS, without
 * when the call began. The record is that of the newest call. */
void record_arguments(struct trace_thread *own, const uint64_t *record, uint64_t *words, size_t count);

/* Adds a line to what the driver says about the current call of this thread. */
void record_log(const char *line, size_t length);

#endif
