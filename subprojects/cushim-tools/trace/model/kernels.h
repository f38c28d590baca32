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
    } * bytes; /* by slot and direction: of copies, and of what allocations have returned */
};

/* Those of the grid and of a block, and the bytes of dynamic shared memory. */
enum { TRACE_LAUNCH_DIMENSIONS = 7 };

/* Finds the kernel and the dimensions of a launch. Returns false if the call is another one. */
bool trace_launch_find(const struct trace_slot *slot, const struct trace_call *call, uint64_t *out_function,
                       uint32_t *out_dimensions);

/* Counts a call after the model has read it. Returns false if there is not enough memory. */
bool trace_kernels_read(struct trace_kernels *kernels, const struct trace_model *model, const struct trace_call *call);

/* Prints the tables. */
void trace_kernels_print(struct trace_kernels *kernels, const struct trace_reader *reader);

void trace_kernels_free(struct trace_kernels *kernels);

#endif
