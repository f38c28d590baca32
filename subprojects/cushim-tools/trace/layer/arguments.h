/* SPDX-License-Identifier: MIT */
/* What the kernel of a launch gets. */
#ifndef CUSHIM_TRACE_ARGUMENTS_H
#define CUSHIM_TRACE_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "cushim/abi/cuda_abi.h"

struct cushim_dispatch_table;

struct arguments_launch {
    uint64_t function;
    void *const *parameters; /* pointers to the arguments; or NULL */
    void *const *extra;      /* a list with a buffer; or NULL */
};

/* Writes the arguments of a launch: for each its size and its bytes, in words. Asks the driver for the sizes, once for
 * each function. Returns the number of words; 0: the kernel has none, or they are not known. */
size_t arguments_read(const struct cushim_dispatch_table *next, const struct arguments_launch *launch, uint64_t *words,
                      size_t room);

/* A call of cuMemcpyBatchAsync that has succeeded. */
struct arguments_batch {
    const CUdeviceptr *targets, *sources;
    const size_t *sizes;
    size_t count;
    const CUmemcpyAttributes *attributes;
    const size_t *first_of; /* the first copy to which each of them belongs */
    size_t attribute_count;
};

/* Writes four arrays of it, each as an argument: where the copies write, where they read, how many bytes, and in which
 * order they read (CUmemcpySrcAccessOrder). Returns the number of words. */
size_t arguments_read_batch(const struct arguments_batch *batch, uint64_t *words, size_t room);

/* Functions end: their handles can mean others later. */
void arguments_forget(void);

#endif
