/* SPDX-License-Identifier: MIT */
/* What a program did, in memory that its parent reads when it has failed, crashed or hangs. */
#ifndef RANDOM_TRACE_H
#define RANDOM_TRACE_H

#include "random.h"

enum { TRACE_ENTRIES = 1024, FAILED = 1, SKIPPED = 77 };

struct trace_entry {
    unsigned order;
    unsigned operation;
    unsigned number;
    unsigned depth;
    int result; /* -1: it did not return, or has no result */
    const char *name;
    char text[80];
};

/* Each thread writes its own entries, so that tracing does not order the threads. */
struct trace {
    atomic_uint order;
    atomic_bool has_failed;
    char failure[256];
    unsigned failed_operation;
    unsigned counts[MAX_THREADS];  /* entries; starts anew for each program */
    unsigned numbers[MAX_THREADS]; /* operations, all levels */
    unsigned expectations;
    struct trace_entry entries[MAX_THREADS][TRACE_ENTRIES];
};

extern struct trace *trace;

/* Opens the entry of an operation; gives the one that was open, for trace_end(). */
struct trace_entry *trace_begin(const char *name);
void trace_end(struct trace_entry *before);

/* Writes the last `most` entries of all threads, in their order. */
void trace_print(unsigned most);

#endif
