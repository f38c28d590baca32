/* SPDX-License-Identifier: MIT */
/* What functions are to streams and captures, by the list in roles.inc. */
#ifndef CUSHIM_TRACE_ROLES_H
#define CUSHIM_TRACE_ROLES_H

#include "../file/reader.h"

struct trace_role {
    enum trace_role_kind {
        TRACE_OTHER,
        TRACE_WORK, /* work for a stream */
        TRACE_BEGIN_CAPTURE,
        TRACE_END_CAPTURE,
        TRACE_CAPTURE_STATUS,
        TRACE_EXCHANGE_MODE,
        TRACE_RECORD_EVENT,
        TRACE_WAIT_EVENT,
        TRACE_ELAPSED_TIME,
        TRACE_DESTROY_STREAM,
        TRACE_QUERY_STREAM, /* whether its work is complete: a success is one of a wait */
        TRACE_QUERY_EVENT,
        TRACE_SYNCHRONIZE_STREAM,
        TRACE_SYNCHRONIZE_EVENT,
        TRACE_SYNCHRONIZE_CONTEXT,
        TRACE_SYNCHRONOUS, /* a copy that waits for all streams, for example */
    } kind;
    bool is_of_stream_alone;  /* in a stream that is not capturing, it invalidates no capture */
    bool no_mode_permits;     /* it invalidates every capture */
    int stream, event, value; /* the indices of these arguments; value: a mode, a status or flags. -1: none */
};

/* Finds the role of a function. */
struct trace_role trace_role_find(const struct trace_slot *slot);

/* The capture status that a call has written; CU_STREAM_CAPTURE_STATUS_NONE also if it has not. */
uint64_t trace_capture_status(const struct trace_role *role, const struct trace_call *call);

#endif
