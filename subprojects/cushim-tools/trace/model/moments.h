/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TRACE_MOMENTS_H
#define CUSHIM_TRACE_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

/* A call, after it was read. */
struct trace_moment {
    uint64_t call; /* its number in the order of trace_read(), from 1; 0: no call */
    size_t process;
    long thread;
    unsigned slot, result;
    uint64_t begin, end; /* UINT64_MAX if it did not return */
    uint64_t site;       /* the address from which the program made it; 0: unknown */
    const char *python;  /* its Python frames, as of trace_python_lines(); or NULL */
    const char *log;     /* what the driver said about its failure, in lines; or NULL */
    const char *range;   /* the ranges of NVTX in which it was made: "step 3 > forward"; or NULL */
};

/* A number for the place where the call was made: calls from the same place have the same one. 0: unknown. */
uint64_t trace_place_of(const struct trace_moment *moment);

#endif
