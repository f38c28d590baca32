/* SPDX-License-Identifier: MIT */
/* Reasons why calls failed, each a sentence without the call and its result. The text stays empty without a reason. */
#ifndef CUSHIM_TRACE_REASONS_H
#define CUSHIM_TRACE_REASONS_H

#include "../model/model.h"

struct trace_reason {
    char text[1024];
};

enum { TRACE_MAX_HANDLES = 64 };
struct trace_handles {
    uint64_t list[TRACE_MAX_HANDLES];
    size_t count;
};

/* What is known of a process. */
struct trace_failing_process {
    /* Addresses that a captured allocation has returned; the graphs that allocate, also as executable ones; those of
     * them that were launched. */
    struct trace_handles graph_memory, with_memory, launched;
    bool captures_memory;  /* a capture that has not ended has such an allocation */
    bool has_other_memory; /* it has device memory of which the file does not show the size */
    bool has_initialized;  /* a call of cuInit has succeeded */
    bool is_refused;       /* one has returned CUDA_ERROR_NOT_INITIALIZED */
};

/* "0.3 ms before, by thread 7, in cuStreamDestroy_v2" */
struct trace_time {
    char text[192];
};
struct trace_time trace_time_before(const struct trace_reader *reader, const struct trace_moment *moment,
                                    const struct trace_call *call);

/* memory_reasons.c: memory at an address of the call that was freed, that is too small, or that nobody has allocated;
 * and too little memory. */
void trace_memory_describe(const struct trace_failing_process *process, const struct trace_model *model,
                           const struct trace_call *call, struct trace_reason *reason);

/* graph_memory.c: notes a call that succeeded, and describes one that failed: memory that a graph allocates is there
 * from a launch on until it is freed. */
void trace_graph_memory_note(struct trace_failing_process *process, const struct trace_model *model,
                             const struct trace_call *call);
void trace_graph_memory_describe(const struct trace_failing_process *process, const struct trace_model *model,
                                 const struct trace_call *call, struct trace_reason *reason);

/* Whether a call that succeeded has returned memory of which the file does not show the size. */
bool trace_returns_other_memory(const struct trace_model *model, const struct trace_call *call);

/* meanings.c: what a result of a function means by itself. The processes can be NULL: nothing is known of them. */
void trace_meaning_describe(const struct trace_failing_process *own, const struct trace_failing_process *parent,
                            const struct trace_model *model, const struct trace_call *call,
                            struct trace_reason *reason);
const char *trace_meaning_of(const char *function, unsigned result);

#endif
