/* SPDX-License-Identifier: MIT */
/* What a call is to the order of work and to memory: a step. */
#ifndef CUSHIM_TRACE_STEPS_H
#define CUSHIM_TRACE_STEPS_H

#include "../model/copies.h"
#include "../model/model.h"

enum trace_step_kind {
    TRACE_STEP_NONE,
    TRACE_STEP_WORK, /* the other works are COPY and the first ones of steps.inc */
    TRACE_STEP_COPY,
#define TRACE_STEP(kind, parameters) TRACE_STEP_##kind,
#include "steps.inc"
    TRACE_STEP_RECORD,
    TRACE_STEP_WAIT,
    TRACE_STEP_SYNCHRONIZE_STREAM,
    TRACE_STEP_SYNCHRONIZE_EVENT,
    TRACE_STEP_SYNCHRONIZE_CONTEXT,
    TRACE_STEP_CREATE_STREAM,
    TRACE_STEP_DESTROY_STREAM,
    TRACE_STEP_CREATE_EVENT,
    TRACE_STEP_DESTROY_EVENT
};

static inline bool trace_step_is_work(enum trace_step_kind kind)
{
    return kind >= TRACE_STEP_WORK && kind <= TRACE_STEP_SIGNAL;
}

/* A call that succeeded, that has not returned, or that ended a capture. */
struct trace_step {
    enum trace_step_kind kind;
    struct trace_moment moment;
    uint64_t stream;   /* its handle, TRACE_LEGACY_STREAM or TRACE_PER_THREAD_STREAM */
    uint64_t context;  /* current; 0: unknown */
    uint64_t capture;  /* the number of the capture to which the stream belongs, or that the call ends; 0: none */
    uint64_t of_event; /* the number of the capture that recorded the event */
    uint64_t handle;   /* that of its parameter in steps.inc, or of the stream or event of its role */
    uint64_t other;    /* a second event, graph or handle */
    uint64_t size;     /* of memory */
    unsigned number;   /* of the stream or event that it creates, as in its name; 0: unknown */
    uint32_t flags;
    bool has_returned, has_failed;        /* failed: it ended a capture without a graph */
    bool is_async;                        /* it has a parameter that is a stream */
    bool is_foreign;                      /* its event is of another process, or its stream of a green context */
    bool is_of_executable;                /* the handle is an executable graph, if it can be another one, too */
    bool is_between_contexts, is_to_host; /* a copy */
    bool can_record_unseen;               /* now or later, an event that is not followed */
    bool is_device[2];                    /* whether the parameter for an end of a copy can only be device memory */
    struct trace_span ends[2];            /* what it reads and writes; the high end is 0 if that is not known */
};

/* What a function is, found once for each slot. */
struct trace_step_slot {
    bool is_known, is_foreign, is_of_executable, can_record_unseen;
    enum trace_step_kind kind;
    int handle, other, size, height, pitch; /* indices of words; -1: none */
    unsigned unit;                          /* of the size, in bytes */
};

/* Finds the step that a call is, after the model has read it. Returns false if it is none. */
bool trace_step_find(struct trace_step_slot *slots, const struct trace_model *model, const struct trace_call *call,
                     struct trace_step *out_step);

#endif
