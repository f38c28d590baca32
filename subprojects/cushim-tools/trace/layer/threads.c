/* SPDX-License-Identifier: MIT */
/*
 * A thread fills chunks of the mapped file. Nothing here takes a lock that a child of fork() could inherit: what a
 * process shares between its threads is in a page that the kernel clears in a child, also in one of a raw fork.
 */
#include "threads.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "python_frames.h"

struct process *process;
_Thread_local struct trace_thread thread;

static const struct trace_schema *_Atomic schema;
static pthread_key_t thread_key;
static pid_t preparing; /* the process that prepared the layer: not a child of it */

/* ---- the chunks of threads ---- */

/* Gives up the chunk of this thread: another thread of the process continues it, or it is complete. */
static void chunk_leave(void)
{
    struct trace_chunk *chunk = thread.chunk;
    bool has_room = thread.end - thread.at > 64;
    thread.chunk = NULL;
    thread.at = thread.end = NULL;
    if (chunk == NULL || chunk->open != 0) /* then the end of that call releases it */
        return;
    for (size_t i = 0; has_room && i < MAX_LEFT; i++) {
        struct trace_chunk *none = NULL;
        if (atomic_compare_exchange_strong(&process->left[i], &none, chunk))
            return;
    }
    STORE(chunk->owner, 0);
}

static struct trace_chunk *chunk_take_left(size_t words)
{
    for (size_t i = 0; i < MAX_LEFT; i++) {
        struct trace_chunk *chunk = LOAD(process->left[i]) != NULL ? atomic_exchange(&process->left[i], NULL) : NULL;
        if (chunk != NULL && chunk->used + (words + TRACE_HEAD + 1) * 8 <= TRACE_CHUNK_SIZE)
            return chunk;
        if (chunk != NULL)
            STORE(chunk->owner, 0);
    }
    return NULL;
}

/* ---- metadata records ---- */

void meta_write(unsigned meta, const uint64_t *words, size_t count)
{
    thread.at[0] = meta | (uint64_t)(TRACE_HEAD + count) << TRACE_WORDS_SHIFT;
    thread.at[1] = thread.at[2] = now();
    thread.at[3] = 0;
    for (size_t i = 0; i < count; i++)
        thread.at[TRACE_HEAD + i] = words[i];
    thread.at += TRACE_HEAD + count;
    STORE(thread.chunk->used, (uint64_t)((char *)thread.at - (char *)thread.chunk));
}

enum { PROCESS_WORDS = 2 + TRACE_TEXT_WORDS };

/* The command line from /proc, with spaces between its arguments. */
static void meta_write_process(void)
{
    uint64_t words[PROCESS_WORDS] = {(uint64_t)getpid(), (uint64_t)getppid()};
    char *text = (char *)&words[4];
    int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor >= 0 ? read(descriptor, text, TRACE_TEXT_MAX) : 0;
    if (descriptor >= 0)
        close(descriptor);
    while (length > 0 && text[length - 1] == '\0')
        length--;
    for (ssize_t i = 0; i < length; i++)
        text[i] = text[i] == '\0' ? ' ' : text[i];
    words[3] = length > 0 ? (uint64_t)length : 0;
    meta_write(TRACE_PROCESS, words, 4 + TRACE_WORDS_OF(words[3]));
}

/* ---- threads and processes ---- */

uint64_t blocked_signals(void)
{
    uint64_t blocked = 0;
    (void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
    return blocked;
}

static void process_exit(void)
{
    if (process->number != 0 && thread_find_room(TRACE_HEAD))
        meta_write(TRACE_EXIT, NULL, 0);
}

/* The file is opened at the first call or range, and not when the layer is installed: `cushim exec` installs layers in
 * its own process, which then becomes the program. */
static bool process_begin(void)
{
    if (LOAD(process->number) != 0)
        return true;
    if (LOAD(file_failed))
        return false;
    while (atomic_flag_test_and_set(&process->is_beginning))
        sched_yield();
    if (process->number == 0 && !LOAD(file_failed) && (LOAD(file_header) != NULL || file_open(LOAD(schema)))) {
        static bool has_handler;
        if (!has_handler)
            has_handler = atexit(process_exit) == 0; /* a child inherits it */
        process->can_unwind = getpid() == preparing;
        STORE(process->number, atomic_fetch_add(&LOAD(file_header)->process_count, 1) + 1);
    }
    atomic_flag_clear(&process->is_beginning);
    return process->number != 0;
}

/* Before the first call. The states of the slots are known only now: a program can have ranges before it opens the
 * driver. */
static bool process_describe(void)
{
    if (!process_begin())
        return false;
    while (atomic_flag_test_and_set(&process->is_beginning))
        sched_yield();
    if (!LOAD(process->has_calls) && !LOAD(file_failed) && file_describe(LOAD(schema))) {
        static bool has_begun;
        if (!has_begun)
            LOAD(schema)->begin();
        has_begun = true; /* a child inherits it, too */
        STORE(process->has_calls, true);
    }
    atomic_flag_clear(&process->is_beginning);
    return LOAD(process->has_calls);
}

/* Called when a thread ends, and again if it makes calls after that. */
static void thread_end(void *unused)
{
    (void)unused;
    if (thread.process == process->number)
        chunk_leave();
}

static bool thread_change_chunk(size_t words)
{
    if (!process_begin())
        return false;
    if (thread.process != process->number) { /* a new thread, or that of a child with the chunk of its parent */
        thread.chunk = NULL, thread.at = thread.end = NULL;
        thread.blocked = blocked_signals();
    }
    thread.process = process->number;
    chunk_leave();
    size_t metadata = TRACE_HEAD + 1 + TRACE_HEAD + PROCESS_WORDS + TRACE_RESERVE;
    struct trace_chunk *chunk = chunk_take_left(words + metadata);
    if (chunk == NULL)
        chunk = chunk_take(process->number);
    if (chunk == NULL)
        return false;
    uint64_t number = (uint64_t)syscall(SYS_gettid);
    thread.chunk = chunk;
    thread.at = (uint64_t *)(void *)((char *)chunk + chunk->used);
    thread.end = (uint64_t *)(void *)((char *)chunk + TRACE_CHUNK_SIZE) - TRACE_RESERVE;
    thread.wants_stacks = LOAD(file_header)->wants_stacks != 0 && process->can_unwind;
    thread.wants_arguments = LOAD(file_header)->wants_arguments != 0;
    thread.start = thread.size = 0;
    memset(thread.has_module, 0, sizeof thread.has_module);
    pthread_setspecific(thread_key, &thread_key);
    if (!atomic_flag_test_and_set(&process->is_announced))
        meta_write_process();
    meta_write(TRACE_THREAD, &number, 1);
    return true;
}

/* Opening files is a point at which a thread can be cancelled, with what other threads wait for. */
bool thread_find_room(size_t words)
{
    int error = errno /* the program's */, state;
    if (thread_has_room(&thread, words))
        return true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    bool found = thread_change_chunk(words);
    pthread_setcancelstate(state, NULL);
    errno = error;
    return found;
}

/* The same for a call. */
bool thread_find_room_of_call(size_t words)
{
    int error = errno, state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    bool is_described = LOAD(process->has_calls) || process_describe();
    pthread_setcancelstate(state, NULL);
    errno = error;
    return is_described && thread_find_room(words);
}

static void prepare(void)
{
    const char *path = secure_getenv(TRACE_VARIABLE), *link = secure_getenv(TRACE_FILE_VARIABLE);
    if (path == NULL || path[0] == '\0' || !file_set_path(path, link))
        return;
    void *page = mmap(NULL, sizeof *process, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, sizeof *process, MADV_WIPEONFORK) != 0
        || pthread_key_create(&thread_key, thread_end) != 0)
        return;
    void *frame;
    (void)backtrace(&frame, 1); /* the first use opens a library */
    python_prepare();
    preparing = getpid();
    process = page;
}

/* The layer and NVTX can do this at the same time. */
bool record_prepare(const struct trace_schema *given)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (given != NULL)
        STORE(schema, given);
    return pthread_once(&once, prepare) == 0 && process != NULL;
}

const struct trace_schema *thread_schema(void)
{
    return LOAD(schema);
}
