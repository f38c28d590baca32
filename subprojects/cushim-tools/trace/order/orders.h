/* SPDX-License-Identifier: MIT */
/*
 * Which work is ordered before which: by streams, events, graphs, captures and what the host waits for. Of two calls
 * that overlap, each counts as before the other one, so an order that is missing here is missing in the program.
 *
 * Two horizons say what is complete. `known` has only what a wait has shown; `host` also has what the host can know in
 * another way, such as by a host function or by polling memory.
 */
#ifndef CUSHIM_TRACE_ORDERS_H
#define CUSHIM_TRACE_ORDERS_H

#include "accesses.h"
#include "steps.h"

/* Two accesses without an order, or one behind the free of its memory, the free of host memory that is
 * in use, or a kernel with a pointer to memory that another stream allocates or frees. */
struct trace_conflict {
    enum trace_conflict_kind {
        TRACE_RACE,
        TRACE_RACE_IN_GRAPH,
        TRACE_USE_AFTER_FREE,
        TRACE_HOST_FREE,
        TRACE_HELD
    } kind;
    struct trace_access first, second; /* the second one has no stream if it is the free of host memory */
    struct trace_text first_stream, second_stream;
    enum trace_memory_kind memory;
    bool is_ordered; /* behind the free */
    uint64_t base;   /* the address of the memory */

    /* What stands in place of the wait, of an event: when that call began. */
    enum trace_missing {
        TRACE_NO_RECORD,
        TRACE_NO_WAIT,          /* the event was recorded behind the first call, and the second stream does not wait */
        TRACE_WAIT_TOO_EARLY,   /* before that record */
        TRACE_RECORD_TOO_EARLY, /* before the first call */
        TRACE_RECORDED_AGAIN    /* before the wait */
    } missing;
    unsigned event; /* its number; 0: unknown */
    uint64_t time;
};

/* A wait for an event that waits for nothing. */
struct trace_early_wait {
    unsigned event;
    struct trace_key place; /* where the event was created */
    uint64_t count;
    struct trace_moment wait, record; /* the record comes behind the wait; its call is 0 if there is none */
};

/* The events that were created at a place. */
struct trace_event_place {
    struct trace_key key;
    bool is_recorded, is_awaited;
};

/* Begin with a zeroed struct. */
struct trace_orders {
    struct trace_step_slot *slots;
    struct order_process **processes;
    size_t process_count;
    bool has_failed;             /* there was not enough memory */
    uint64_t compared, left_out; /* accesses */
    uint64_t streams;            /* that have accesses which were compared */

    /* The newest call: the work that it is, by the number of its stream and its own (0: none); the clock of the work
     * that it waits for, unless that is all work. */
    uint32_t stream, index;
    struct trace_clock awaited;
    bool awaits_all;

    struct trace_conflict *conflicts; /* that the newest call has shown or, then, the end of the trace */
    size_t conflict_count;
    struct trace_early_wait *early; /* complete after trace_orders_end() */
    size_t early_count;
    struct trace_table places;
};

/* Reads a call, after the model. trace_orders_end() follows the last one. */
void trace_orders_read(struct trace_orders *orders, const struct trace_model *model, const struct trace_call *call);
void trace_orders_end(struct trace_orders *orders, const struct trace_model *model);
void trace_orders_free(struct trace_orders *orders);

/* Whether a wait has shown that work is complete. */
bool trace_orders_is_complete(const struct trace_orders *orders, size_t process, uint32_t stream, uint32_t index);

#endif
