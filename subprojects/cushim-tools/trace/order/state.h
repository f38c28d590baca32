/* SPDX-License-Identifier: MIT */
/* The state of orders.c, streams.c, events.c, memory.c and recordings.c. */
#ifndef CUSHIM_TRACE_ORDER_STATE_H
#define CUSHIM_TRACE_ORDER_STATE_H

#include "orders.h"

enum { KEPT_RECORDS = 4, KEPT_WAITS = 8, KEPT_EARLY = 4 };

#define ORDER_NO_CONTEXT UINT32_MAX /* it is not known which one */

/* A record of an event. */
struct order_record {
    uint32_t stream, index; /* 0: none */
    unsigned event;         /* the number of the event */
    uint64_t begin;
};

struct order_event {
    unsigned references, number;
    struct trace_key place;
    struct trace_clock clock; /* that of its last record; within a capture, that of the capture */
    bool is_shared, is_recorded, is_of_capture;
    uint32_t *recording; /* the streams in which calls that have not returned record it */
    size_t recording_count;
    struct order_record records[KEPT_RECORDS]; /* the newest ones */
    uint32_t record_count;
    struct order_early { /* waits before the first record */
        uint32_t stream;
        uint64_t step;
        struct trace_moment moment;
    } * early;
    uint64_t early_count;
    struct trace_moment swapped[2]; /* a wait, and the record behind it; its call is 0 if there is none */
};

/* A wait of a stream for an event. */
struct order_wait {
    struct order_event *event;
    struct order_record record; /* which it waits for */
    uint64_t begin;
};

/* Lists of streams whose clocks have changed since they were last joined. */
enum order_list { FOR_LEGACY, FOR_HOST, FOR_KNOWN, ORDER_LISTS };

struct order_stream {
    uint32_t id, context;
    uint64_t handle; /* of a default stream: TRACE_LEGACY_STREAM, TRACE_PER_THREAD_STREAM */
    unsigned number; /* in its name; of a per-thread stream, its thread; 0: unknown */
    bool is_blocking, is_known, is_destroyed, is_compared, is_listed[ORDER_LISTS];
    uint32_t count;     /* of its works and its points of doubt */
    uint32_t version;   /* of `known` when the clock was last shortened */
    uint32_t seen;      /* the changes of legacy streams that its clock has */
    uint64_t last_work; /* its newest step that is work; 0: none */
    struct trace_clock clock;
    struct order_links { /* the newest ones of both; NULL: none */
        struct order_wait waits[KEPT_WAITS];
        struct order_record records[KEPT_RECORDS];
        uint32_t wait_count, record_count;
    } * links;
};

static inline bool order_is_legacy(const struct order_stream *stream)
{
    return stream->handle == TRACE_LEGACY_STREAM;
}

/* What a capture, a graph or an executable graph holds. */
struct order_recording {
    uint64_t capture; /* its number; 0: it is no capture */
    struct recorded_access {
        struct trace_span span;
        enum trace_access_kind kind;
    } * accesses;
    size_t access_count;
    uint64_t left_out;
    struct order_event **records, **waits;
    size_t record_count, wait_count;
    bool is_opaque, is_unordered;
    struct trace_clock clock; /* of an executable graph: its last launch */
    struct order_actor {      /* a stream within a capture */
        uint32_t stream, count;
        struct trace_clock clock;
    } * actors;
    size_t actor_count;
    struct trace_access_list compared;
};

/* The words of a copy of a batch: where it writes and reads, its bytes, and CUmemcpySrcAccessOrder. */
enum { BATCH_TARGET, BATCH_SOURCE, BATCH_SIZE, BATCH_ORDER, BATCH_WORDS };

/* A step, until the calls that began before its end have been read. */
struct order_step {
    struct trace_step step;
    uint32_t stream, index; /* 0: none */
    uint32_t context;
    struct order_event *events[2];
    struct trace_clock clock; /* of what a wait waits for, when it began */
    uint64_t *held;           /* the memories to which a kernel has pointers; of a batch, four words for each copy */
    size_t held_count;
};

struct order_handle {
    struct trace_key key;
    uint32_t stream;
    struct order_event *event;
    struct order_recording *recording;
};

struct order_process {
    struct trace_orders *orders;
    const struct trace_model *model;
    size_t number;
    uint64_t steps;
    uint64_t *contexts; /* the handles that were seen */
    uint32_t context_count;
    struct order_stream **streams; /* by their numbers from 1 on */
    uint32_t stream_count;
    uint32_t *legacy;                      /* the legacy streams */
    uint32_t legacy_count, legacy_changes; /* the changes of their clocks */
    struct order_ids {
        uint32_t *all, count, capacity;
    } lists[ORDER_LISTS];
    struct trace_table handles; /* of streams, events and graphs */
    struct trace_horizon known, host;
    bool is_doubtful;       /* a stream has been in doubt */
    bool can_record_unseen; /* any event can have been recorded in a way that is not followed */
    bool is_unknown;        /* so many streams have been that it is not known which of them still are */
    struct trace_blocks memories;
    uint64_t *shared; /* handles of allocations */
    size_t shared_count;
    struct order_recording **captures;
    size_t capture_count;
    struct order_step **open; /* a heap: the earliest end first */
    size_t open_count;
    struct order_stream no_stream; /* these are used when there is not enough memory */
    struct order_event no_event;
    struct order_recording no_recording;
    struct order_actor no_actor;
    struct order_handle no_handle;
};

/* The functions set `has_failed` if there is not enough memory, and return the process's empty objects. */
void order_fail_unless(struct order_process *process, bool has_memory);

/* ---- streams.c ---- */

/* The number of a context; ORDER_NO_CONTEXT if it is not known which one it is. */
uint32_t order_context_of(struct order_process *process, uint64_t handle);
struct order_stream *order_stream_of(struct order_process *process, const struct trace_step *step, uint32_t context);
void order_stream_create(struct order_process *process, const struct order_step *step);

/* The clock of a stream has changed. */
void order_changed(struct order_process *process, struct order_stream *stream);

/* What is complete, and what the default streams order, precedes what comes now. */
void order_arrive(struct order_process *process, struct order_stream *stream);

/* The host can know that what precedes the next work of the stream is complete. */
void order_host_join(struct order_process *process, const struct trace_clock *clock);

/* The same for all work of a stream, after a wait; also for that of the legacy stream, if it precedes new work
 * there. */
void order_host_join_stream(struct order_process *process, struct order_stream *stream);

/* A wait has shown that it is complete. */
void order_known_join(struct order_process *process, const struct trace_clock *clock);

/* The same for all streams of a context, or of all; and a wait has shown it, if `is_known`. */
void order_host_join_all(struct order_process *process, uint32_t context, bool is_known);

/* From now on, the stream can wait for anything, until the host knows that this is over. */
void order_doubt(struct order_process *process, struct order_stream *stream);
bool order_is_doubted(const struct order_process *process, const struct order_stream *stream);

struct trace_text order_stream_name(const struct order_process *process, const struct order_stream *stream);

/* ---- orders.c ---- */

/* The clock of a step: that of its stream or, in a capture, that of its stream there. */
struct trace_clock *order_clock_of(struct order_process *process, const struct order_step *step);

struct order_handle *order_handle_of(struct order_process *process, uint32_t kind, uint64_t handle);
enum { ORDER_STREAM = 1, ORDER_LEGACY_STREAM, ORDER_PER_THREAD_STREAM, ORDER_EVENT, ORDER_GRAPH, ORDER_EXECUTABLE };

/* Returns the stream with a number from 1 on. */
static inline struct order_stream *order_stream_at(struct order_process *process, uint32_t number)
{
    return number != 0 ? process->streams[number - 1] : &process->no_stream;
}

/* ---- events.c ---- */

struct order_event *order_event_of(struct order_process *process, uint64_t handle);
void order_event_unref(struct order_process *process, struct order_event *event);
void order_event_create(struct order_process *process, const struct trace_step *step);
void order_event_destroy(struct order_process *process, uint64_t handle);
void order_event_add_record(struct order_process *process, struct order_event *event, struct order_stream *stream,
                            uint64_t begin);
void order_record_begin(struct order_process *process, struct order_step *step);
void order_record_end(struct order_process *process, struct order_step *step);
void order_wait_end(struct order_process *process, struct order_step *step);
void order_context_event(struct order_process *process, struct order_step *step);
void order_event_set_recorded(struct order_process *process, struct order_event *event);
void order_event_set_awaited(struct order_process *process, struct order_event *event);

/* Whether it is not known what a wait for the event waits for. */
bool order_event_is_doubted(const struct order_process *process, const struct order_event *event);
void order_await_event(struct order_process *process, struct order_step *step, struct order_event *event);

/* What stands in place of the wait that would order an access before one of another stream. */
void order_find_missing(struct order_process *process, struct trace_conflict *conflict);

/* ---- recordings.c ---- */

/* The recording of a capture, which begins with its first work. */
struct order_recording *order_capture_of(struct order_process *process, uint64_t number);

/* The capture, if it has not ended; or NULL. */
struct order_recording *order_capture_find(const struct order_process *process, uint64_t number);
struct order_actor *order_actor_of(struct order_process *process, struct order_recording *recording, uint32_t stream);
void order_capture_end(struct order_process *process, const struct order_step *step);
void order_graph_follow(struct order_process *process, const struct order_step *step);

/* Returns false if it is not known what the graph holds: it can be anything. */
bool order_graph_launch(struct order_process *process, struct order_step *step);
void order_recording_add_event(struct order_process *process, struct order_event ***list, size_t *count,
                               struct order_event *event);
void order_recording_add(struct order_process *process, struct order_recording *recording,
                         const struct trace_span *span, enum trace_access_kind kind);
void order_recording_clear(struct order_process *process, struct order_recording *recording);
void order_recording_free(struct order_process *process, struct order_recording *recording);

/* ---- memory.c ---- */

/* Compares an access of a step with earlier ones. */
void order_access(struct order_process *process, const struct order_step *step, const struct trace_span *span,
                  enum trace_access_kind kind);
void order_copy(struct order_process *process, struct order_step *step);
void order_memset(struct order_process *process, struct order_step *step);
void order_allocate_async(struct order_process *process, struct order_step *step);
void order_free_async(struct order_process *process, struct order_step *step);
void order_hold(struct order_process *process, struct order_step *step);
void order_memory_follow(struct order_process *process, const struct order_step *step);

#endif
