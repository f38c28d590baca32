/* SPDX-License-Identifier: MIT */
/* The captures of a trace: which streams and events belong to them, and what shows that they are active. */
#ifndef CUSHIM_TRACE_CAPTURING_H
#define CUSHIM_TRACE_CAPTURING_H

#include "moments.h"
#include "roles.h"
#include "table.h"

struct trace_stream_capture {
    uint64_t number; /* from 1 */
    uint64_t stream; /* on which it began */
    unsigned mode;
    enum trace_capture_state { TRACE_CAPTURE_ACTIVE, TRACE_CAPTURE_LOST, TRACE_CAPTURE_ENDED } state;
    struct trace_moment began;
    uint64_t active;          /* start time of the last call that saw the capture active */
    struct trace_moment lost; /* the first call that shows that it was invalidated; its call is 0 if there is none */
    struct trace_moment ended;
    bool is_blocking; /* whether it can have blocking streams */
};

/* Begin with a zeroed struct. */
struct trace_capturing {
    struct trace_table members; /* streams, events, threads */
    struct trace_stream_capture *list;
    size_t count;
    uint64_t began; /* the number of captures */
};

/* A call for trace_capturing_read(). */
struct trace_capturing_call {
    const struct trace_call *call;
    const struct trace_role *role;
    struct trace_moment moment;
    uint64_t stream;                        /* by trace_stream_of(); 0: none */
    uint64_t created_stream, renewed_event; /* an event that it has created or destroyed; 0: none */
};

/* Returns false if there is not enough memory. Captures that a call ends stay in the list until the next call. */
bool trace_capturing_read(struct trace_capturing *capturing, const struct trace_capturing_call *read);
void trace_capturing_free(struct trace_capturing *capturing);

/* Return the number of the capture to which a stream belongs, or that recorded an event, or 0. An event keeps the
 * number of a capture that has ended. */
uint64_t trace_capture_of_stream(const struct trace_capturing *capturing, size_t process, uint64_t stream);
uint64_t trace_capture_of_event(const struct trace_capturing *capturing, size_t process, uint64_t event);

/* Whether a stream was created with CU_STREAM_NON_BLOCKING. */
bool trace_stream_is_non_blocking(const struct trace_capturing *capturing, size_t process, uint64_t stream);

/* The capture mode of a thread. */
unsigned trace_capture_thread_mode(const struct trace_capturing *capturing, size_t process, long thread);

#endif
