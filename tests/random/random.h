/* SPDX-License-Identifier: MIT */
/*
 * Random programs for the stream layer. Each thread of a program has objects of its own and draws operations on
 * them. An operation depends only on the seed and on the objects that exist.
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
    SHARED = 2,
    EXCHANGED = 8,
    WORDS = 1024,
    MEMORY_PIECE = 64,
    MEMORY_PIECES = 4096,
    MAX_THREADS = 64,
    MAX_DEPTH = 4
};

/* A completion or a release that takes longer counts as lost, in nanoseconds. */
#define PATIENCE UINT64_C(30000000000)

struct settings {
    const char *driver; /* NULL: that of the machine */
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

/* The driver: program.c. */

extern const struct softcuda_control *soft; /* NULL on a real driver */
extern bool faults;                         /* driver calls and allocations fail in this program */
extern atomic_bool broken;                  /* a kernel that faults was launched */
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
    struct expectation *work;     /* what cushim_stream_enqueue() releases */
    struct expectation *function; /* that of cushim_completion_set_callback() */
    bool captured;
    bool polled;  /* neither a descriptor nor a callback */
    bool may_end; /* its context can end before it fires */
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

struct thread_objects {
    unsigned number;
    unsigned serial;
    unsigned depth;          /* of operations in operations */
    unsigned observing;      /* a destroy function may call what it likes */
    unsigned operation;      /* of the outermost level */
    unsigned special_bodies; /* calls under way with a special stream */
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
    CUevent driver_events[2];
    CUgraph driver_graph;
    bool written[WORDS]; /* words that work was accepted for which writes them */
    atomic_uint *words;  /* host memory that the device sees */
    CUdeviceptr device_words;
};

/* The objects of this thread; NULL on threads of the driver. */
extern _Thread_local struct thread_objects *objects;

/* Objects that all threads use. */
extern struct shared_objects {
    struct context_slot bases[2]; /* always there, and never ended before the end */
    struct stream_slot streams[SHARED];
    struct cushim_dispatcher *dispatchers[SHARED];
    struct completion_slot completions[SHARED];
    struct completion_slot exchanged[EXCHANGED];
    CUdeviceptr memory;
    CUdeviceptr managed;
} shared_objects;

/* Each returns an existing object, or NULL. */
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

/* Each returns a free slot, or NULL. */
struct stream_slot *free_stream(void);
struct driver_stream *free_driver_stream(void);
struct completion_slot *free_completion(void);

struct driver_stream *driver_stream_of(const struct stream_slot *slot);

/* Fills a slot. `of` is the driver's stream, or NULL for a special one. */
void stream_fill(struct stream_slot *slot, struct cushim_stream *stream, struct driver_stream *of, bool owned);

/* Returns whether the stream is not capturing; false if the query fails. */
bool is_idle(const struct cushim_stream *stream);

void objects_open(struct thread_objects *of_thread, unsigned number);
void objects_close(void);

/* Around calls with a body that needs the stream. */
struct body_use {
    struct stream_slot *slot;
    unsigned serial;
    struct driver_stream *of;
    unsigned of_serial;
};
struct body_use body_begin(struct stream_slot *slot);
void body_end(const struct body_use *use);
/* Returns whether the slot still has the same stream. */
bool body_has_stream(const struct body_use *use);

void choose_from(uint64_t seed);
uint64_t choose_seed(void);
unsigned choose(unsigned count);
bool one_in(unsigned count);

/* The name of the innermost operation of this thread. */
const char *operation_name(void);

/* Add the arguments and the result of this operation to the trace. noted() returns `result`. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
CUresult noted(CUresult result);
/* noted() for a call that runs bodies or functions, which may change cushim_error_last(). */
CUresult noted_outer(CUresult result);

/* Keeps the message for the parent and ends the process. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fails with `message` unless `holds`. */
void check(bool holds, const char *message);

/* Runs up to `count` operations inside an operation. */
void operations_nest(uint64_t seed, unsigned count);

/* Runs one operation of the outermost level. */
void operation_run(uint64_t seed);

enum action { DO_NOTHING, DO_OPERATIONS, DO_DESTROY, DO_DETACH, DO_OPERATIONS_IN_RELEASE, ACTIONS };

enum { MARKERS = 4 };

/* A function, its destroy function, or both; never used again. */
struct expectation {
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

/* Returns NULL if there are too many. */
struct expectation *expectation_new(enum action action, int most);

void CUDA_CB expected_host_function(void *user);
void CUDA_CB expected_callback(CUstream stream, CUresult status, void *user);
void expected_function(CUresult status, void *user);
void expected_release(void *user);

/* Enqueues work that must be done before the release. Does nothing if the stream may be capturing. */
void expectation_cover(struct expectation *expectation, struct cushim_stream *stream);

/* Fails if that work is not done. */
void expectation_check_covered(const struct expectation *expectation, const char *what);

/* Detaches the completions of functions that were never called. */
void expectations_detach(void);

/* Waits for all releases, and checks each expectation. */
void expectations_check(void);

#endif
