/* SPDX-License-Identifier: MIT */
/* What records are written into: the state of the process and of a thread, and the chunk that the thread fills. */
#ifndef CUSHIM_TRACE_THREADS_H
#define CUSHIM_TRACE_THREADS_H

#include <signal.h>
#include <time.h>

#include "chunks.h"
#include "modules.h"

enum {
    MAX_LEFT = 64,
    TRACE_RESERVE = TRACE_LOG_WORDS + TRACE_STACK_WORDS + TRACE_PYTHON_WORDS + TRACE_ARGUMENTS_WORDS,
};

/* What the threads of a process share. The kernel clears it in a child. */
struct process {
    _Atomic uint32_t number; /* of this process in the file; 0: it has not begun to record */
    atomic_flag is_beginning;
    atomic_flag is_announced;
    struct trace_chunk *_Atomic left[MAX_LEFT]; /* chunks with room, of threads that have ended */
    atomic_bool has_calls;                      /* whether it can record calls, and not only ranges */
    bool can_unwind;
    atomic_bool is_broken;          /* a call has returned an error that all later calls return, too */
    _Atomic uint32_t samples;       /* the calls whose lines of Python were looked for, of those that use memory */
    atomic_bool has_python_problem; /* the file has the reason why Python frames are missing */
    struct modules modules;
};
extern struct process *process; /* NULL until record_prepare() */

/* What a thread needs to record a call: it is found once for each call. What every call uses is in one line of the
 * cache, because the work of the program between two calls drives it out. */
struct trace_thread {
    _Alignas(64) uint64_t *at; /* the room in its chunk: from here to `end` */
    uint64_t *end;             /* behind it are TRACE_RESERVE words for what is known of a call */
    struct trace_chunk *chunk;
    uint64_t start, size;          /* the part of the process that has made the last call */
    uint32_t process;              /* whose chunk it is */
    volatile sig_atomic_t is_busy; /* while it writes: a signal handler must not write in between */
    uint32_t log_length;
    bool wants_stacks, wants_arguments;

    uint64_t blocked;                      /* the signals that were blocked at its first call */
    uint64_t has_module[MAX_MODULES / 64]; /* the parts of the process that the chunk has */
    char log[TRACE_TEXT_MAX];              /* what the driver has said since the last call began */
};
extern _Thread_local struct trace_thread thread;

/* Prepares this process for records into the file of CUSHIM_TRACE. Returns false if the variable is not set, or the
 * system lacks something. Can be called again, also by several threads. The layer has a schema, always the same one,
 * which must stay; NVTX has none. */
bool record_prepare(const struct trace_schema *schema);

/* The schema of the layer. */
const struct trace_schema *thread_schema(void);

static inline bool thread_has_room(const struct trace_thread *own, size_t words)
{
    return own->process == process->number && own->end - own->at >= (ptrdiff_t)words;
}

/* The same for a record behind that of a call, which is about that call. */
static inline bool thread_has_reserve(const struct trace_thread *own, size_t words)
{
    return own->end + TRACE_RESERVE - own->at >= (ptrdiff_t)words;
}

/* Finds room for a record that is not a call, and for a call. Return false if there is none. */
bool thread_find_room(size_t words);
bool thread_find_room_of_call(size_t words);

/* Writes a record that is not a call. There must be room for it. */
void meta_write(unsigned meta, const uint64_t *words, size_t count);

/* The signals that are blocked, as a word: they have the numbers 1 to 64. */
uint64_t blocked_signals(void);

static inline uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#endif
