/* SPDX-License-Identifier: MIT */
/* The ranges and marks of NVTX: which are open on a thread, and all of them for the reports that show them. */
#ifndef CUSHIM_TRACE_RANGES_H
#define CUSHIM_TRACE_RANGES_H

#include "../file/reader.h"
#include "texts.h"

enum { TRACE_MAX_RANGES = 1000000 };

struct trace_range {
    size_t process;
    long thread;   /* on which it began */
    unsigned lane; /* two ranges that began on a thread and overlap have different ones, from 0 */
    bool is_mark;
    uint64_t begin, end; /* UINT64_MAX if it did not end */
    const char *name;
};

/* Begin with a zeroed struct. */
struct trace_ranges {
    bool keeps_all;          /* set it before the first call for `all`; otherwise, that stays empty */
    bool has_failed;         /* there was not enough memory */
    struct trace_range *all; /* in the order in which they began, at most TRACE_MAX_RANGES */
    size_t count;
    uint64_t left_out;
    struct trace_table threads;
    struct trace_texts names;
};

/* For trace_reader.range_read, with the ranges as its user. */
void trace_range_read(void *ranges, const struct trace_range_note *note);

/* The ranges that are open on a thread, from the outer one on: "step 3 > forward"; or NULL. */
const char *trace_range_path(const struct trace_ranges *ranges, size_t process, long thread);

void trace_ranges_free(struct trace_ranges *ranges);

#endif
