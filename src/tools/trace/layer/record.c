/* SPDX-License-Identifier: MIT */
/*
 * A thread fills chunks of the mapped file. Nothing here takes a lock that a child of fork() could inherit: what a
 * process shares between its threads is in a page that the kernel clears in a child, also in one of a raw fork.
 */
#include "record.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cushim/abi/cuda_abi.h"

enum { MAX_LEFT = 64 };

/* Cleared in a child. */
struct process {
    _Atomic uint32_t number; /* of this process in the file; 0: it has not begun to record */
    atomic_flag is_beginning;
    atomic_flag is_announced;
    struct trace_chunk *_Atomic left[MAX_LEFT]; /* chunks with room, of threads that have ended */
    atomic_bool has_calls;                      /* whether it can record calls, and not only ranges */
    bool can_unwind;
    atomic_bool is_broken; /* a call has returned an error that all later calls return, too */
    struct modules modules;
};
static struct process *process;

static const struct trace_schema *_Atomic schema;
static pthread_key_t thread_key;
static pid_t preparing; /* the process that prepared the layer: not a child of it */

static _Thread_local struct trace_thread thread;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

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

/* ---- facts ---- */

/* There must be room for it. */
static void fact_write(unsigned fact, const uint64_t *words, size_t count)
{
    thread.at[0] = fact | (uint64_t)(TRACE_HEAD + count) << TRACE_WORDS_SHIFT;
    thread.at[1] = thread.at[2] = now();
    thread.at[3] = 0;
    for (size_t i = 0; i < count; i++)
        thread.at[TRACE_HEAD + i] = words[i];
    thread.at += TRACE_HEAD + count;
    STORE(thread.chunk->used, (uint64_t)((char *)thread.at - (char *)thread.chunk));
}

enum { PROCESS_WORDS = 2 + TRACE_TEXT_WORDS };

/* The command line from /proc, with spaces between its words. */
static void fact_write_process(void)
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
    fact_write(TRACE_PROCESS, words, 4 + TRACE_WORDS_OF(words[3]));
}

/* ---- threads and processes ---- */

/* As a word: signals have the numbers 1 to 64. */
static uint64_t blocked_signals(void)
{
    uint64_t blocked = 0;
    (void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
    return blocked;
}

static bool thread_find_room(size_t words);

static void process_exit(void)
{
    if (process->number != 0 && thread_find_room(TRACE_HEAD))
        fact_write(TRACE_EXIT, NULL, 0);
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
    size_t facts = TRACE_HEAD + 1 + TRACE_HEAD + PROCESS_WORDS + TRACE_LOG_WORDS + TRACE_STACK_WORDS;
    struct trace_chunk *chunk = chunk_take_left(words + facts);
    if (chunk == NULL)
        chunk = chunk_take(process->number);
    if (chunk == NULL)
        return false;
    uint64_t number = (uint64_t)syscall(SYS_gettid);
    thread.chunk = chunk;
    thread.at = (uint64_t *)(void *)((char *)chunk + chunk->used);
    thread.end = (uint64_t *)(void *)((char *)chunk + TRACE_CHUNK_SIZE) - TRACE_LOG_WORDS - TRACE_STACK_WORDS;
    thread.wants_stacks = LOAD(file_header)->wants_stacks != 0 && process->can_unwind;
    thread.start = thread.size = 0;
    memset(thread.has_module, 0, sizeof thread.has_module);
    pthread_setspecific(thread_key, &thread_key);
    if (!atomic_flag_test_and_set(&process->is_announced))
        fact_write_process();
    fact_write(TRACE_THREAD, &number, 1);
    return true;
}

static bool thread_has_room(const struct trace_thread *own, size_t words)
{
    return own->process == process->number && own->end - own->at >= (ptrdiff_t)words;
}

/* Opening files is a point at which a thread can be cancelled, with what other threads wait for. */
static bool thread_find_room(size_t words)
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
static bool thread_find_room_of_call(size_t words)
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

/* ---- records ---- */

/* Notes the parts of the process that have some addresses, if the chunk has room: otherwise, the next one has them. */
static void modules_note(struct trace_thread *own, const uint64_t *addresses, size_t count)
{
    bool is_complete = true;
    for (size_t i = 0; i < count; i++)
        is_complete = is_complete && modules_find(&process->modules, addresses[i]) >= 0;
    if (!is_complete) {
        int error = errno, state;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        modules_add(&process->modules, addresses, count);
        pthread_setcancelstate(state, NULL);
        errno = error;
    }
    for (size_t i = 0; i < count; i++) {
        int index = modules_find(&process->modules, addresses[i]);
        if (index < 0 || (own->has_module[index / 64] >> index % 64 & 1) != 0)
            continue;
        const struct module *module = &process->modules.all[index];
        size_t words = TRACE_MODULE_WORDS + 1 + TRACE_WORDS_OF(module->length);
        if (!thread_has_room(own, TRACE_HEAD + words))
            continue;
        uint64_t text[TRACE_MODULE_WORDS + 1 + TRACE_WORDS_OF(TRACE_TEXT_MAX)] = {0};
        memcpy(text, module->words, sizeof module->words);
        text[TRACE_MODULE_WORDS] = module->length;
        memcpy(&text[TRACE_MODULE_WORDS + 1], module->path, module->length);
        fact_write(TRACE_MODULE, text, words);
        own->has_module[index / 64] |= UINT64_C(1) << index % 64;
    }
}

/* The caller is in another part of the process than the one before. */
static void caller_note(struct trace_thread *own, uint64_t caller, size_t words)
{
    own->end -= words; /* these stay free */
    modules_note(own, &caller, 1);
    own->end += words;
    int index = modules_find(&process->modules, caller);
    if (index >= 0 && (own->has_module[index / 64] >> index % 64 & 1) != 0) {
        own->start = process->modules.ranges[index].start;
        own->size = process->modules.all[index].words[1] - own->start;
    }
}

/* Counts a call that is not recorded. */
static void call_miss(bool is_interrupting)
{
    struct trace_header *header = LOAD(file_header);
    if (header != NULL)
        atomic_fetch_add(is_interrupting ? &header->interrupting : &header->dropped, 1);
}

/* There is no room, or the caller is in another part of the process than the one before. */
static struct trace_thread *record_begin_slowly(struct trace_thread *own, size_t words, uint64_t caller)
{
    if (!thread_find_room_of_call(words)) {
        own->is_busy = 0;
        call_miss(false);
        return NULL;
    }
    if (caller - own->start >= own->size)
        caller_note(own, caller, words);
    own->at[3] = caller;
    return own;
}

struct trace_thread *record_begin(size_t words, const void *caller)
{
    struct trace_thread *own = &thread;
    uint64_t address = (uint64_t)(uintptr_t)caller;
    if (own->is_busy != 0) {
        call_miss(true);
        return NULL;
    }
    own->is_busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (!thread_has_room(own, words) || address - own->start >= own->size)
        return record_begin_slowly(own, words, address);
    own->at[3] = address;
    return own;
}

static void thread_is_done(struct trace_thread *own)
{
    atomic_signal_fence(memory_order_seq_cst);
    own->is_busy = 0;
}

/*
 * Finds the addresses of a backtrace from the caller of the wrapper on, behind a word of a fact. Returns their number.
 * The unwinder takes locks of the C library: not in a child of fork(), nor in a signal handler, in which its signal is
 * blocked.
 */
static size_t stack_find(const struct trace_thread *own, uint64_t caller, uint64_t *out_addresses)
{
    enum { OWN_FRAMES = 6 };
    void *frames[TRACE_STACK_MOST + OWN_FRAMES];
    if (!process->can_unwind || (blocked_signals() & ~own->blocked) != 0)
        return 0;
    int error = errno, count = backtrace(frames, TRACE_STACK_MOST + OWN_FRAMES), first = 0;
    size_t found = 0;
    errno = error;
    while (first < count && (uint64_t)(uintptr_t)frames[first] != caller)
        first++;
    for (; first < count && found < TRACE_STACK_MOST; first++)
        out_addresses[found++] = (uint64_t)(uintptr_t)frames[first];
    return found;
}

/* Adds the backtrace of the call with a record. There must be room for the fact. */
static void stack_note(struct trace_thread *own, const uint64_t *record)
{
    uint64_t words[1 + TRACE_STACK_MOST] = {record[1]};
    size_t found = stack_find(own, record[3], &words[1]);
    if (found > 0) {
        fact_write(TRACE_STACK, words, 1 + found);
        modules_note(own, &words[1], found);
    }
}

void record_range(const uint64_t *words, size_t count)
{
    struct trace_thread *own = &thread;
    struct trace_header *header = LOAD(file_header);
    bool is_interrupting = own->is_busy != 0;
    own->is_busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    bool has_room = thread_has_room(own, TRACE_HEAD + count);
    if (!is_interrupting && (has_room || thread_find_room(TRACE_HEAD + count)))
        fact_write(TRACE_RANGE, words, count);
    else if (header != NULL)
        atomic_fetch_add(&header->lost_ranges, 1);
    if (!is_interrupting)
        thread_is_done(own);
}

void record_call(struct trace_thread *own, uint64_t head, uint64_t *end)
{
    struct trace_chunk *chunk = own->chunk;
    uint64_t *record = own->at;
    own->at = end;
    own->log_length = 0;
    chunk->open++;
    chunk->calls++;
    record[0] = head | (uint64_t)(end - record) << TRACE_WORDS_SHIFT;
    record[2] = 0;
    record[1] = now();
    STORE(chunk->used, (uint64_t)((const char *)end - (const char *)chunk));
    if (own->wants_stacks)
        stack_note(own, record);
    thread_is_done(own);
}

/* The last line repeats the name of the function and the code. */
void record_log(const char *line, size_t length)
{
    static const char last_line[] = "Returning ";
    struct trace_thread *own = &thread;
    size_t used = own->log_length, room = sizeof own->log - used;
    while (length > 0 && line[length - 1] == '\n')
        length--;
    if (strncmp(line, last_line, strlen(last_line)) == 0 || length == 0 || room < 2)
        return;
    if (used > 0)
        own->log[used++] = '\n', room--;
    if (length > room)
        length = room;
    memcpy(own->log + used, line, length);
    own->log_length = (uint32_t)(used + length);
}

/* Behind the record of the call, unless calls within that call have taken the room. */
static void log_write(struct trace_thread *own, const uint64_t *record)
{
    uint64_t words[TRACE_TEXT_WORDS] = {record[1], own->log_length};
    if (own->chunk != chunk_of(record) || own->at > own->end)
        return;
    memcpy(&words[2], own->log, own->log_length);
    fact_write(TRACE_LOG, words, 2 + TRACE_WORDS_OF(own->log_length));
    own->log_length = 0;
}

/* Whether this process can return nothing but this error from now on. */
static bool is_sticky(unsigned result)
{
    return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_ASSERT
           || (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED);
}

/* The backtrace of a call that failed. */
static void failure_note(struct trace_thread *own, const uint64_t *record, unsigned result)
{
    unsigned slot = record[0] & ((1U << TRACE_KIND_SHIFT) - 1);
    if (LOAD(schema)->is_expected(slot, result) || own->wants_stacks || own->chunk != chunk_of(record)
        || own->at > own->end + TRACE_LOG_WORDS || (is_sticky(result) && atomic_exchange(&process->is_broken, true)))
        return;
    stack_note(own, record);
}

void record_return(struct trace_thread *own, uint64_t *record, unsigned result)
{
    struct trace_chunk *chunk = chunk_of(record);
    if (chunk->process != process->number) /* a child that the call has forked returns here, too */
        return;
    record[2] = now();
    atomic_thread_fence(memory_order_release);
    record[0] |= (uint64_t)(result & 0xffff) << TRACE_RESULT_SHIFT | (uint64_t)1 << TRACE_RETURNED_SHIFT;
    bool was_busy = own->is_busy != 0;
    own->is_busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (result != 0 && own->log_length > 0 && !was_busy)
        log_write(own, record);
    if (result != 0 && !was_busy)
        failure_note(own, record, result);
    if (--chunk->open == 0 && chunk != own->chunk)
        STORE(chunk->owner, 0); /* calls within this call went on in another chunk */
    if (!was_busy)
        thread_is_done(own);
}
