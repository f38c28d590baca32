/* SPDX-License-Identifier: MIT */
/*
 * Random programs for the stream layer. Each thread of a program has a world of objects of its own and draws operations
 * on them; what an operation does depends on nothing but the seed and the objects that are there.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cushim/cushim.h"
#include "softcuda.h"

enum {
    CONTEXTS = 4,
    STREAMS = 12,
    DRIVER_STREAMS = 16,
    EVENTS = 8,
    GRAPHS = 6,
    EXECS = 6,
    CAPTURES = 4,
    COMPLETIONS = 24,
    DISPATCHERS = 3,
    SETS = 2,
    SHARED = 2,
    MAILBOXES = 8,
    WORDS = 1024,
    MEMORY_PIECE = 64,
    MEMORY_PIECES = 4096,
    MOST_THREADS = 16,
    MOST_DEPTH = 4
};

/* How long anything may take that has to come, in nanoseconds. */
#define PATIENCE UINT64_C(30000000000)

struct settings {
    const char *driver; /* NULL: the one that the machine has */
    uint64_t seed;
    unsigned programs;
    unsigned operations; /* of each thread; 0: 2,000 to 3,000 */
    unsigned threads;
    unsigned limit; /* seconds that one program may take */
    double seconds; /* 0: no limit of time */
    int faults;     /* -1: every second program; 0: none; 1: all */
    bool kernels;   /* kernels that fault, on a real driver too */
    bool verbose;
    bool forks;   /* each program has a process of its own */
    bool goes_on; /* after a program that failed */
};

extern struct settings settings;

/* What the programs know of the driver: program.c. */

extern const struct softcuda_control *soft; /* NULL on a real driver */
extern bool faults;                         /* driver calls and allocations fail in this program */
extern atomic_bool broken;                  /* a kernel was launched that faults */
extern bool may_break;                      /* this program launches one */

/*
 * Whether a thread may invalidate the captures of other threads. A driver can crash if such a call meets the end of the
 * capture (observed with driver 580).
 */
static inline bool may_invalidate_others(void)
{
    return soft != NULL || settings.threads == 1;
}

static inline const struct cushim_dispatch_table *driver(void)
{
    return cushim_table();
}

/* Runs the program of a seed in this process. Does not return if something is wrong. */
void program_run(uint64_t seed);

/* Waits until all threads of the program are there. */
void program_meet(void);

/* A stream of the driver's. It must outlive its wrappers, and each body that runs with one of them. */
struct driver_stream {
    CUstream handle; /* NULL: the place is free */
    unsigned serial;
    unsigned wrappers; /* stream objects, the owning one among them */
    unsigned bodies;   /* calls under way that need it */
    bool has_owner;    /* an object destroys it */
    bool own_context;  /* its context goes with the last object made there */
    bool capturing;    /* a capture was begun on it, and nothing was done to it that may end it */
    unsigned long long id;
};

struct stream_slot {
    struct cushim_stream *stream;
    unsigned serial;
    int of; /* index of the driver's stream; -1: a special one */
    unsigned bodies;
    bool owned;
    bool shared; /* with other threads: never captured, never ended before they end */
};

struct context_slot {
    struct cushim_context *context;
    bool own;
};

struct completion_slot {
    struct cushim_completion *completion;
    struct promise *work;     /* what cushim_stream_enqueue() releases */
    struct promise *function; /* that of cushim_completion_set_callback() */
    bool captured;
    bool shared;
};

struct graph_slot {
    struct cushim_graph *graph;
    bool owned;
};

struct capture_slot {
    struct cushim_capture *capture;
    unsigned serial; /* of the stream */
    int of;
    unsigned of_serial;
    bool into;
};

struct world {
    unsigned number;
    unsigned serial;
    unsigned depth;          /* of operations in operations */
    unsigned observing;      /* a release function may call what it likes */
    unsigned operation;      /* of the outermost level */
    unsigned special_bodies; /* calls under way with a special stream */
    unsigned set_waits;      /* calls under way that wait for a set, so that no set may be destroyed */
    unsigned invalidated;    /* counts what may have invalidated captures */
    CUcontext current;
    CUstreamCaptureMode mode;
    struct context_slot contexts[CONTEXTS];
    struct driver_stream drivers[DRIVER_STREAMS];
    struct stream_slot streams[STREAMS];
    struct cushim_event *events[EVENTS];
    struct graph_slot graphs[GRAPHS];
    struct cushim_graph_exec *execs[EXECS];
    struct capture_slot captures[CAPTURES];
    struct completion_slot completions[COMPLETIONS];
    struct cushim_dispatcher *dispatchers[DISPATCHERS];
    struct cushim_completion_set *sets[SETS];
    CUevent driver_events[2];
    CUgraph driver_graph;
    bool written[WORDS]; /* words that work was accepted for which writes them */
    atomic_uint *words;  /* host memory that the device sees */
    CUdeviceptr device_words;
};

/* The world of this thread; NULL on the driver's threads. */
extern _Thread_local struct world *me;

/* What all threads use, for as long as a program runs. */
extern struct everybody {
    struct context_slot bases[2]; /* always there, and never ended before the end */
    struct stream_slot streams[SHARED];
    struct cushim_dispatcher *dispatchers[SHARED];
    struct completion_slot completions[SHARED];
    struct completion_slot mailboxes[MAILBOXES];
    CUdeviceptr memory;
    CUdeviceptr managed;
} everybody;

/* Each gives one of those that are there, or NULL. */
struct context_slot *pick_context(void);
struct context_slot *pick_base(void);
struct stream_slot *pick_stream(void);
struct stream_slot *pick_own_stream(void);
struct cushim_event **pick_event(void);
struct graph_slot *pick_graph(void);
struct cushim_graph_exec **pick_exec(void);
struct capture_slot *pick_capture(void);
struct completion_slot *pick_completion(void);
struct completion_slot *pick_own_completion(void);
struct cushim_dispatcher **pick_dispatcher(void);

/* Each gives a free place, or NULL. */
struct stream_slot *free_stream(void);
struct driver_stream *free_driver_stream(void);
struct completion_slot *free_completion(void);

struct driver_stream *driver_stream_of(const struct stream_slot *slot);

/* Fills a place. `of`: the driver's stream, or NULL for a special one. */
void stream_fill(struct stream_slot *slot, struct cushim_stream *stream, struct driver_stream *of, bool owned);

/* Whether nothing is in a capture there; an answer that was made to fail counts as one. */
bool is_idle(const struct cushim_stream *stream);

void world_open(struct world *world, unsigned number);
void world_close(struct world *world);

/* Around calls with a body that needs the stream. */
struct body_use {
    struct stream_slot *slot;
    unsigned serial;
    struct driver_stream *of;
    unsigned of_serial;
};
struct body_use body_begin(struct stream_slot *slot);
void body_end(const struct body_use *use);
/* The stream is needed to the end. */
void body_pin(const struct body_use *use);
/* Whether the slot still has the stream that it had. */
bool body_has_stream(const struct body_use *use);

void choose_from(uint64_t seed);
uint64_t choose_seed(void);
unsigned choose(unsigned count);
bool one_in(unsigned count);

/* That of this thread, at its deepest level. */
const char *operation_name(void);

/* What this operation is about, for the trace; and what came of it. Returns `result`. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
CUresult noted(CUresult result);
/* The same of a call that runs bodies or functions, after which cushim_last_error() may be about one of theirs. */
CUresult noted_outer(CUresult result);

/* A promise was not kept: keeps the words for the parent and ends the process. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fails unless `kept`. */
void check(bool kept, const char *promise);

/* `count` operations, drawn from a seed, in this thread, inside of another one. */
void operations_nest(uint64_t seed, unsigned count);

/* One operation of the outermost level. */
void operation_run(uint64_t seed);

enum action { DO_NOTHING, DO_OPERATIONS, DO_DESTROY, DO_DETACH, DO_OPERATIONS_IN_RELEASE, ACTIONS };

enum { MARKERS = 4 };

/* A function, its release function, or both; never used again. */
struct promise {
    atomic_int calls;
    atomic_int releases;
    atomic_bool given;     /* to the library; a function is called at most `most` times */
    atomic_bool must_call; /* at least once */
    bool covers_call;      /* the work below has to be done before the call */
    atomic_bool quiet;     /* it may run where no CUDA call may be made */
    int most;
    bool has_release;
    enum action action;
    uint64_t seed;
    const char *name; /* of the operation that gave it */
    unsigned thread;
    unsigned operation;
    /* Work that has to be done before the release: 1 is set in each when it is. */
    struct marker {
        atomic_int done;
        unsigned slow; /* microseconds */
        atomic_bool enqueued;
    } markers[MARKERS];
    unsigned marker_count;
    struct body *body;                       /* while the body runs */
    _Atomic(struct cushim_completion *) own; /* the completion that the function detaches */
};

/* NULL where there are too many. */
struct promise *promise_new(enum action action, int most);

void CUDA_CB promise_host(void *user);
void CUDA_CB promise_callback(CUstream stream, CUresult status, void *user);
void promise_function(CUresult status, void *user);
void promise_release(void *user);

/* Enqueues work that the promise's release has to wait for. Nothing if the stream may be capturing. */
void promise_cover(struct promise *promise, struct cushim_stream *stream);

/* Fails if work is not done. */
void promise_check_covered(const struct promise *promise, const char *what);

/* Detaches the completions of functions that were never called. */
void promises_take_back(void);

/* Waits until all releases came, and looks at each promise. */
void promises_check(void);

#endif
