/* SPDX-License-Identifier: MIT */
/* By which rule of the driver a call may have invalidated a capture. */
#ifndef CUSHIM_TRACE_CAPTURE_RULES_H
#define CUSHIM_TRACE_CAPTURE_RULES_H

#include <stdbool.h>

/* What is known of a call that failed and of a capture. */
enum {
    /* of the call */
    TRACE_CALL_BEGINS = 1,       /* begins a capture */
    TRACE_CALL_ASKS = 2,         /* asks for the status of a capture */
    TRACE_CALL_WAITS = 4,        /* makes a stream wait for an event */
    TRACE_CALL_ELAPSED = 8,      /* asks for the time between two events */
    TRACE_CALL_ALWAYS = 16,      /* a function that invalidates every capture */
    TRACE_CALL_ALONE = 32,       /* a function that in another stream invalidates no capture */
    TRACE_EVENT_CAPTURED = 64,   /* a capture, which can have ended, recorded its event */
    TRACE_STREAM_CAPTURED = 128, /* its stream belongs to a capture */
    TRACE_OF_CALL = 255,
    /* of the call and the capture */
    TRACE_ON_IT = 256,        /* its stream belongs to this capture */
    TRACE_EVENT_OF_IT = 512,  /* this capture recorded its event */
    TRACE_OWN_THREAD = 1024,  /* its thread began this capture */
    TRACE_RELAXED = 2048,     /* the mode of the capture or of the thread is relaxed */
    TRACE_BOTH_GLOBAL = 4096, /* both are global */
    TRACE_BLOCKING = 8192     /* this capture can have blocking streams */
};

/* Whether a call with this result can have invalidated any capture. `facts` are those of the call. */
bool trace_capture_rule_exists(unsigned result, unsigned facts);

/* A rule that a call broke, and what to do instead. */
struct trace_rule {
    const char *broken, *advice;
};

/* Returns the rule by which the call may have invalidated the capture, or NULL. */
const struct trace_rule *trace_capture_rule(unsigned result, unsigned facts);

#endif
