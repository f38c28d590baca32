/* SPDX-License-Identifier: MIT */
/* The launches of a trace by kernel, and its copies by function. */
#ifndef CUSHIM_TRACE_KERNELS_H
#define CUSHIM_TRACE_KERNELS_H

#include "model.h"

/* Begin with a zeroed struct. */
struct trace_kernels {
    struct trace_launches *launches;
    size_t launch_count;
    struct trace_bytes {
        uint64_t calls, bytes;
    } * bytes; /* by slot: of copies, and of what allocations have returned */
};

/* Counts a call after the model has read it. Returns false if there is not enough memory. */
bool trace_kernels_read(struct trace_kernels *kernels, const struct trace_model *model, const struct trace_call *call);

/* Prints the tables. */
void trace_kernels_print(struct trace_kernels *kernels, const struct trace_reader *reader);

void trace_kernels_free(struct trace_kernels *kernels);

#endif
