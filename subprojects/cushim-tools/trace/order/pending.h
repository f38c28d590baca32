/* SPDX-License-Identifier: MIT */
/* The work that was submitted and for which no wait has succeeded: it can still run, wait, or be at fault. */
#ifndef CUSHIM_TRACE_PENDING_H
#define CUSHIM_TRACE_PENDING_H

#include "orders.h"

/* Begin with a zeroed struct. */
struct trace_pending {
    struct pending_process **processes;
    size_t count;
};

/* Follows work and waits, after a call that succeeded. Returns false if there is not enough memory. */
bool trace_pending_read(struct trace_pending *pending, const struct trace_model *model, const struct trace_call *call);

/* Describes the work of a process, each kind of work once, the last one first: "scale<float> in stream 1 (2 times),
 * cuLaunchHostFunc in stream 2". Of all its work, or of that which a clock has, and that was submitted before a
 * call with a number. Returns false if there is none. Writes whether a host function is a part of it. */
bool trace_pending_describe(const struct trace_pending *pending, const struct trace_model *model, size_t process,
                            const struct trace_clock *awaited, uint64_t before, char *text, size_t size,
                            bool *out_has_host_function);

/* Whether there is such work of a process that was not kept, because it was too much. */
bool trace_pending_has_forgotten(const struct trace_pending *pending, const struct trace_model *model, size_t process,
                                 const struct trace_clock *awaited, uint64_t before);

/* Whether a call gives work to a stream that can fail on the GPU, and a description of it. */
bool trace_pending_is_work(const struct trace_model *model, const struct trace_call *call);
void trace_pending_describe_call(const struct trace_model *model, const struct trace_call *call, char *text,
                                 size_t size);

/* The last wait of a process that succeeded; its call is 0 if there is none. */
struct trace_moment trace_pending_waited(const struct trace_pending *pending, size_t process);

void trace_pending_free(struct trace_pending *pending);

#endif
