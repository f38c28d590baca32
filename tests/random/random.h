/* SPDX-License-Identifier: MIT */
/*
 * Random programs against the stream layer: what the parts share. main.c runs programs and explains failures, model.c
 * knows in which order work must be done, and operations.c draws the calls.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cushim/cushim.h"
#include "softcuda.h"

enum {
    FAILED = 1,
    SKIPPED = 77,
    MAX_THREADS = 64,
    SHARED = 2,
    LINES = 128, /* streams that a thread creates, and its work in the shared ones */
    MARKERS = 6000,
    NODES = 6,
    LAUNCHES = 24
};

/* A wait that takes longer counts as lost, in nanoseconds. */
#define PATIENCE UINT64_C(30000000000)

struct settings {
    const char *driver; /* NULL: that of the machine */
    uint64_t seed;
    unsigned programs, operations, threads; /* operations of each thread; 0: 2,000 to 3,000 */
    unsigned limit;                         /* seconds that one program may take */
    bool forks;                             /* each program has a process of its own */
    bool without_faults;
};

extern struct settings settings;
extern const struct softcuda_control *soft; /* NULL on a real driver */
extern bool faults;                         /* driver calls and allocations fail in this program */
extern atomic_bool broken;                  /* a kernel that faults was launched: from then on everything may fail */

/* Both end the process; check() unless `holds`. The words are for a person. */
CUSHIM_PRINTF(1, 2) _Noreturn void fail(const char *format, ...);
void check(bool holds, const char *message);

/* Random numbers of this thread (splitmix64). */
void choose_from(uint64_t seed);
uint64_t choose_seed(void);
unsigned choose(unsigned count);
bool one_in(unsigned count);

/* Write to the trace, which is printed after a failure. noted() returns `result`. */
void note(const char *format, ...) CUSHIM_PRINTF(1, 2);
CUresult noted(CUresult result);

/* Work that must be done: how much of each line, which is the work of one thread in one stream. */
struct clock {
    unsigned of[LINES];
};

/* The lines of a thread: how much was enqueued there, and how much is done. */
struct lines {
    unsigned count; /* in use */
    unsigned enqueued[LINES];
    atomic_uint done[LINES];
    struct clock clocks[LINES]; /* what is before the next work of the line */
};

/* A graph with its work; never used again. */
struct recipe {
    struct recipe *next; /* all of the thread: nodes that are released late need theirs */
    struct cushim_graph_exec *exec;
    struct lines *lines;
    unsigned count, context;
    unsigned launches;
    struct marker *nodes[NODES];
    struct clock before[LAUNCHES]; /* each launch */
};

enum kind { WORK, FIRED, BODY, NODE };

/* A function or a destroy function that was given to the library, or both; never used again. */
struct marker {
    enum kind kind;
    const char *name; /* of the operation */
    struct lines *lines;
    struct clock before;
    unsigned line, number;   /* WORK */
    volatile unsigned *word; /* WORK: it was written before */
    struct recipe *recipe;   /* NODE; and WORK behind a launch */
    unsigned launch, needs;  /* WORK: of the recipe; NODE: bits of other nodes */
    long microseconds;       /* WORK: how long it takes */
    bool has_release;
    bool detaches; /* FIRED: the function drops its completion */
    _Atomic(struct cushim_completion *) own;
    bool cancels; /* FIRED: it is certain that it is not called after its completion was destroyed */
    atomic_bool given, cancelled, must_call; /* must_call: FIRED, without a dispatcher */
    atomic_uint calls, releases;
};

/* Returns NULL if there are too many. */
struct marker *marker_new(struct lines *lines, enum kind kind, const char *name);
/* Returns marker_release(), or NULL one time in four, and notes this in the marker. */
void (*marker_choose_release(struct marker *marker))(void *user);
/* After a call that took the marker: a refused one was released, and is never called. */
void marker_given(struct marker *marker, CUresult result);
void marker_function(void *user);
void CUDA_CB marker_host_function(void *user);
void CUDA_CB marker_callback(CUstream stream, CUresult status, void *user);
void marker_fired(CUresult status, void *user);
void marker_release(void *user);

void clock_merge(struct clock *clock, const struct clock *other);
/* Fails unless all this work is done. */
void clock_check(const struct lines *lines, const struct clock *clock, const char *what);

/* Drops the completions of functions that were never called. */
void markers_drop_completions(void);
/* Waits for all releases, and checks each marker. */
void markers_finish(void);
unsigned markers_count(void);

enum { STREAMS = 8, EVENTS = 4, EXECS = 3, COMPLETIONS = 12, DISPATCHERS = 3, WORDS = 1024, OWN = 2 };

struct stream {
    struct cushim_stream *stream;
    unsigned line, context; /* a base, or OWN: it ends with the stream */
    struct stream *of;      /* it wraps the driver's stream of this one */
    unsigned wrappers;
    bool busy; /* capturing, or in a body */
};

struct event {
    struct cushim_event *event;
    unsigned context;
    struct clock clock;
};

/* A completion that the program holds. */
struct held {
    struct cushim_completion *completion;
    const struct lines *lines;
    struct clock before;
    bool notifying, may_end; /* its context can end before it fires */
    struct marker *function;
};

struct thread {
    struct lines lines;
    struct stream streams[STREAMS];
    struct event events[EVENTS];
    struct recipe *execs[EXECS], *recipes;
    struct held completions[COMPLETIONS];
    struct cushim_dispatcher *dispatchers[DISPATCHERS];
    volatile unsigned *words; /* host memory that the device sees */
    unsigned words_used;
    CUdeviceptr device_words;
    CUcontext current;
    bool capturing;
};

extern _Thread_local struct thread *me;
extern _Thread_local const char *operation; /* its name */
extern struct cushim_context *bases[2];
extern struct thread threads[MAX_THREADS];
extern struct stream shared_streams[SHARED];

bool may_fail(void);
/* A stream that is free for work; NULL if the one that was drawn is not. pick() also draws shared ones. */
struct stream *pick_own(void);
struct stream *pick(void);
/* A place, at or after a random one, where the pointer at its start is there (or is not). */
void *find(void *places, unsigned count, size_t size, bool filled);
#define FIND(places, filled) find(places, sizeof(places) / sizeof(places)[0], sizeof(places)[0], filled)
struct clock *clock_of(const struct stream *stream);
/* Checks a call that makes an object, with the address of the pointer to it. */
void made(CUresult result, void *place);
/* A function or callback in the stream; behind the launch of the recipe, if there is one. */
void work_add(struct stream *stream, struct recipe *recipe);
void stream_close(struct stream *stream, bool waits);

/* Operations in other files. op_any() draws one; a safe one invalidates no capture of this thread. */
void op_capture(void), op_capture_open(void), op_launch(void), op_exec_destroy(void);
void op_completion_create(void), op_enqueue(void), op_observe(void), op_wait_for_several(void), op_set_callback(void);
void op_drop(void), op_hand_over(void), op_dispatcher(void);
void op_any(bool safe);
void op_wait_for_work(void);
void completions_open(void), completions_end(void), completions_close(void);

/* The objects that all threads use, and those of the thread, from the first operation to the end. */
void shared_open(void);
void shared_close(void);
void thread_run(unsigned number, uint64_t seed);
/* Waits until all threads are there. */
void program_meet(void);

#endif
