/* SPDX-License-Identifier: MIT */
/*
 * engine.h - the engine: threads, contexts, streams and their queues, events and captures. block.h has its memory,
 * work.h the work of streams, graph.h graphs.
 *
 * These are one knot: a context owns streams, a stream executes work, work can be a graph, a graph can be made by a
 * capture, and a capture consists of streams. So the files of this directory use each other, and share these headers.
 * They know nothing of the calls of the driver. Everything runs under the one lock (os_lock).
 */
#ifndef SOFT_ENGINE_H
#define SOFT_ENGINE_H

#include "soft.h"

#include "block.h"
#include "compiler.h"
#include "control.h"
#include "graph.h"
#include "work.h"

struct capture;
struct context;
struct event;
struct op;
struct stream;

/* ---- Threads that call the driver ---- */

struct thread {
    uint64_t id;
    bool per_thread; /* the meaning of stream 0 in the current call */
    struct context **stack;
    size_t depth, capacity;
    CUstreamCaptureMode capture_mode;
    char explanation[96];   /* why the current call fails, for the log, or "" */
    bool logging;           /* it calls the functions that are registered for the log */
    struct stream *streams; /* this thread's default streams, one for each context */
    struct op *running;     /* the operation that this thread executes, if it is a worker */
    struct thread *next, **link;
};

/* The calling thread's data; NULL if out of memory. */
struct thread *thread_self(void);

/* Sets the explanation of a call that fails. */
SOFT_PRINTF(1, 2)
void thread_explain(const char *format, ...);

/* ---- Contexts ---- */

/*
 * Primary contexts, one for each device, become active again after a reset; ordinary ones do not. Green ones have their
 * own streams and share everything else with the primary one.
 */
struct context {
    struct object object;
    int device;
    bool primary;
    bool alive;
    unsigned retained; /* of a primary context */
    unsigned attached; /* calls of cuCtxAttach without one of cuCtxDetach */
    unsigned flags;
    uint64_t id;
    uint64_t generation;                 /* changes when all objects of the context are destroyed */
    uint64_t ended_at;                   /* how many contexts had been created when it ended */
    struct context *parent;              /* of a green context: the primary one, a reference */
    struct green *green;                 /* the CUgreenCtx handle; NULL for ordinary contexts */
    struct context *greens, *next_green; /* of the primary context */
    struct stream *streams;
    struct stream *legacy;
    size_t blocking_captures; /* of streams that synchronise with the legacy stream */
    size_t limits[16];
    CUfunc_cache cache;
    CUsharedconfig shared;
};

/* Creates a published, inactive context with one reference; NULL if out of memory. */
struct context *context_new(int device, bool primary);
/* Creates the objects of an active context; false if out of memory. */
bool context_start(struct context *context);
/* Waits for its work, then destroys all its objects. Handles of its streams and events stay known, and return 709. */
void context_stop(struct context *context);

/* The context that owns its memory and events: the primary one for a green context, else itself. */
struct context *context_primary(struct context *context);

/* The calling thread's current context, usable or not; NULL if it has none. */
struct context *context_current(void);

/* Whether a host function or a callback makes this call. It may query its stream, but not the current context. */
bool context_in_callback(void);

/* Returns 0, 709 if the context was destroyed or reset since that generation, or its sticky error. */
CUresult context_state(const struct context *context, uint64_t generation);

/* Whether another context was created since that generation of the context ended. */
bool context_has_successor(const struct context *context, uint64_t generation);

/* Explains an error: there is no context where one is needed. Returns the error. */
CUresult context_is_null(CUresult result);

/* The current context. Fails if there is none (201), and with its sticky error. */
CUresult context_need(struct context **out_context);

/* The context of a handle; NULL means the current one. Fails if it is invalid (201), and with its sticky error. */
CUresult context_find(CUcontext handle, struct context **out_context);

/* Waits for all work that was submitted to the context and to its green contexts. Releases the lock meanwhile. */
void context_drain(struct context *context);

/* ---- Streams ---- */

enum stream_role { STREAM_CREATED, STREAM_LEGACY, STREAM_PER_THREAD };

struct stream {
    struct object object;
    enum stream_role role;
    struct context *context; /* a reference */
    uint64_t generation;     /* that of the context when the stream was created */
    uint64_t id;
    unsigned flags;
    int priority;
    struct stream *next, **link; /* in the context */
    struct stream *next_of_thread;

    /* The queue, which owns its operations. `last` is the newest one, kept after its completion. */
    struct op *head, *tail, *last;
    size_t work_count; /* operations in the queue that need a worker */
    bool scheduled;    /* a worker has it, or will have it */
    struct stream *next_ready, *next_pending;
    bool is_pending;

    /* Capture: the capture of the stream, and the dependencies of its next node. */
    struct capture *capture; /* a reference */
    struct node_set dependencies;
    struct stream *next_captured;

    CUlaunchAttributeValue window, domain_map;
    CUsynchronizationPolicy policy;
    CUlaunchMemSyncDomain domain;
};

enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 };

int stream_clamp_priority(int priority);

/*
 * The stream of a handle: 0 and the special handles need a current context (201); others must be valid (400) and their
 * context must exist (709). With the context's sticky error, also returns the stream.
 */
CUresult stream_find(CUstream handle, struct stream **out_stream);

/* The stream that 0 means in this call, in the current context. */
CUresult stream_default(struct stream **out_stream);

/* Whether it synchronises with the legacy stream. */
bool stream_is_blocking(const struct stream *stream);

/* Creates a stream of the context with one reference, the caller's; not published. NULL if out of memory. */
struct stream *stream_new(struct context *context, enum stream_role role, unsigned flags, int priority);

/* Creates a published stream for the caller; fails with 2 if out of memory. */
CUresult stream_create(struct context *context, unsigned flags, int priority, CUstream *out_stream);

/* Drops the default streams of a thread that ends. */
void stream_end_thread(struct thread *thread);

/* Whether all submitted work is complete; for a worker, the stream of its own callback is idle. */
bool stream_is_idle(const struct stream *stream);

/* Waits for all submitted work. Releases the lock meanwhile; a worker does not wait for its own callback. */
void stream_wait(struct stream *stream);

/* ---- Queues: the operations in streams, their order, and the threads that execute them ---- */

/* One edge of the order: `op` waits for the operation whose list contains the link. */
struct link {
    struct op *op;
    struct link *next;
};

struct op {
    unsigned references;
    bool done;
    bool started;
    unsigned waits;        /* the number of operations it still waits for, without those before it in its queue */
    unsigned waiters;      /* the number of waiting threads */
    uint64_t time;         /* of its completion */
    struct op *next;       /* in the queue */
    struct stream *stream; /* a reference, until it is complete */
    struct work *work;     /* a reference, until it is complete */
    struct link *dependents;
    size_t link_count;
    struct link links[]; /* its own links, in the lists of others */
};

void op_ref(struct op *op);

void op_unref(struct op *op);

/* Waits for one operation. Releases the lock meanwhile. */
void op_wait(struct op *op);

/*
 * Adds work to the end of a stream's queue, after the operations that it must wait for: the legacy stream and the
 * streams that synchronise with it, the event of a WAIT, and `after` (which may be NULL). A RECORD makes the event
 * represent the new operation. Takes its own reference to the work. Does not check captures. Returns the operation,
 * valid as long as the caller holds the lock; NULL if there is no memory, or no thread to execute it.
 */
struct op *queue_push(struct stream *stream, struct work *work, struct op *after);

/*
 * Ensures that no push to the stream fails for lack of a thread while the caller holds the lock; false if the system
 * has no more threads.
 */
bool queue_reserve(const struct stream *stream);

/*
 * Submits the work of an asynchronous function of the driver: captures it if the stream is capturing, else pushes it.
 * Takes over the caller's reference, also on failure. `work` NULL means that the caller is out of memory.
 */
CUresult queue_submit(struct stream *stream, struct work *work);

/* The same, and then waits for the work, if wanted and not captured. */
CUresult queue_submit_and_wait(struct stream *stream, struct work *work, bool waits);

/* Drops a reference to a block behind all earlier work of the context. False if out of memory. */
bool queue_release(const struct context *context, struct block *block);

/* Runs a host function soon, on a worker, without a context. */
void queue_defer(CUhostFn function, void *data);

/* Must be called before the first push. */
void queue_start(void);

/* Whether this process is a forked child of the one that called queue_start(): it has no workers. */
bool queue_is_forked(void);

/* ---- Events ---- */

struct event {
    struct object object;
    struct context *context; /* a reference */
    uint64_t generation;
    unsigned flags;
    struct op *op;           /* of the latest record; a reference, or NULL */
    struct capture *capture; /* of the latest record in a capture; a reference, or NULL */
    struct node_set dependencies;
};

/* Creates a published event for the caller; NULL if out of memory. */
struct event *event_new(struct context *context, unsigned flags);

/* Makes the event represent `op`, and forgets any capture. */
void event_set_op(struct event *event, struct op *op);

/* Makes the event represent the work that was captured so far. Takes over the set `captured`. */
void event_set_capture(struct event *event, struct capture *capture, const struct node_set *captured);

/* The event of a handle. Fails if it is invalid (400) or its context is destroyed (709); with the sticky error, also
 * returns the event. */
CUresult event_find(CUevent handle, struct event **out_event);

/* ---- Captures: which streams they contain, and which calls are refused or invalidate them ---- */

struct capture {
    unsigned references;
    uint64_t id;
    CUstreamCaptureMode mode;
    uint64_t thread; /* the thread that began it */
    struct graph *graph;
    bool invalid;
    bool ended;
    struct stream *origin;
    struct stream *streams;
    struct node_set orphans; /* the last nodes of streams that were destroyed */
    struct capture *next;    /* in the list of captures in progress */
};

void capture_ref(struct capture *capture);

void capture_unref(struct capture *capture);

/* For a call that is not allowed on this stream while it captures: returns 900 and invalidates that capture. */
CUresult capture_forbid(struct stream *stream);

/* For a call that is unsafe during a capture, as far as the thread's mode forbids it: returns 900 and invalidates the
 * captures. */
CUresult capture_unsafe(void);

/* For a call that invalidates every capture in the context, in any mode: returns 900. */
CUresult capture_forbid_in_context(struct context *context);

/* For a use of the legacy stream while a stream that it would join is capturing: returns 906. `invalidates` is whether
 * those captures are invalidated. */
CUresult capture_implicit(struct stream *stream, bool invalidates);

/* The error of a call in a capture that was invalidated before. */
CUresult capture_is_lost(void);

/* The combination of capture_forbid and capture_unsafe for a call that queries one stream. */
CUresult capture_check_stream(struct stream *stream);

/* For a query of the completion of an event that was recorded in a capture: returns 907, or 1 after the end of that
 * capture. `invalidates` is whether the capture is invalidated. */
CUresult capture_check_event(struct event *event, bool invalidates);

/* For a query of a stream that is allowed during capture: returns 901 if its capture is invalidated, and 906 for the
 * legacy stream, which invalidates. */
CUresult capture_check_query(struct stream *stream);

/* Adds a node to the stream's capture. Takes over the reference to `work`. */
CUresult capture_add(struct stream *stream, struct work *work);

/* Event record and wait in a capture. *out_captured is whether that completes the call. */
CUresult capture_record(struct stream *stream, struct event *event);
CUresult capture_wait(struct stream *stream, struct event *event, bool *out_captured);

/* The stream or its context is destroyed. */
void capture_abandon(struct stream *stream);

/* Creates a capture with the stream as its origin; NULL if out of memory. */
struct capture *capture_begin(struct stream *stream, CUstreamCaptureMode mode, struct graph *graph,
                              const struct node_set *dependencies);

/* Removes every stream. Destroys the graph unless it is kept, even if it was the caller's before. */
void capture_end(struct capture *capture, bool keep_graph);

#endif
