/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <string.h>

#include "cushim/abi/cuda_abi.h"
#include "cushim/attributes.h"
#include "python_frames.h"

/* The index of the part of the process that has an address, or -1. Frames are often of the part of the one before. */
static int module_of(int before, uint64_t address)
{
    const struct module_range *range = before >= 0 ? &process->modules.ranges[before] : NULL;
    bool is_same = range != NULL && address >= range->start && address < LOAD(range->end);
    return is_same ? before : modules_find(&process->modules, address);
}

/* Notes the parts of the process that have some addresses, if the chunk has room: otherwise, the next one has them. */
static void modules_note(struct trace_thread *own, const uint64_t *addresses, size_t count)
{
    bool is_complete = true;
    int index = -1;
    for (size_t i = 0; i < count && is_complete; i++)
        is_complete = (index = module_of(index, addresses[i])) >= 0;
    if (!is_complete) {
        int error = errno, state;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        modules_add(&process->modules, addresses, count);
        pthread_setcancelstate(state, NULL);
        errno = error;
    }
    for (size_t i = 0; i < count; i++) {
        index = module_of(index, addresses[i]);
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
        meta_write(TRACE_MODULE, text, words);
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
static CUSHIM_COLD void call_miss(bool is_interrupting)
{
    struct trace_header *header = LOAD(file_header);
    if (header == NULL)
        return;
    bool is_late = LOAD(header->taken) >= TRACE_CLOSED;
    atomic_fetch_add(is_interrupting ? &header->interrupting : is_late ? &header->late : &header->dropped, 1);
}

/* There is no room, or the caller is in another part of the process than the one before. */
static CUSHIM_COLD struct trace_thread *record_begin_slowly(struct trace_thread *own, size_t words, uint64_t caller)
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

/* Neither backtraces nor Python frames are looked for in a signal handler, in which its signal is blocked. */
static bool is_in_handler(const struct trace_thread *own)
{
    return (blocked_signals() & ~own->blocked) != 0;
}

/* Adds a backtrace from the caller of the wrapper on. The unwinder takes locks of the C library: not in a child of
 * fork(). */
static void stack_note(struct trace_thread *own, const uint64_t *record)
{
    enum { OWN_FRAMES = 6 };
    void *frames[TRACE_STACK_MAX + OWN_FRAMES];
    uint64_t words[1 + TRACE_STACK_MAX] = {record[1]};
    if (!process->can_unwind)
        return;
    int error = errno, count = backtrace(frames, TRACE_STACK_MAX + OWN_FRAMES), first = 0;
    size_t found = 0;
    errno = error;
    while (first < count && (uint64_t)(uintptr_t)frames[first] != record[3])
        first++;
    for (; first < count && found < TRACE_STACK_MAX; first++)
        words[1 + found++] = (uint64_t)(uintptr_t)frames[first];
    if (found == 0)
        return;
    meta_write(TRACE_STACK, words, 1 + found);
    modules_note(own, &words[1], found);
}

/* Adds the Python frames; or, once in a process, why there are none. Returns whether there are any. */
static bool python_note(const struct trace_thread *own, const uint64_t *record)
{
    uint64_t words[TRACE_PYTHON_WORDS - TRACE_HEAD], problem[2];
    int error = errno;
    size_t count = python_frames((pid_t)own->chunk->pid, &words[1], sizeof words / sizeof words[0] - 1);
    errno = error;
    words[0] = record[1];
    problem[0] = python_problem(&problem[1]);
    if (count > 0)
        meta_write(TRACE_PYTHON, words, 1 + count);
    else if (problem[0] != 0 && !atomic_exchange(&process->has_python_problem, true))
        meta_write(TRACE_NO_PYTHON, problem, 2);
    return count > 0;
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
        meta_write(TRACE_RANGE, words, count);
    else if (header != NULL)
        atomic_fetch_add(&header->lost_ranges, 1);
    if (!is_interrupting)
        thread_is_done(own);
}

void record_kernel(unsigned slot, uint64_t whole, uint64_t handle, const char *name)
{
    struct trace_thread *own = &thread;
    uint64_t words[TRACE_KERNEL_WORDS + TRACE_WORDS_OF(TRACE_TEXT_MAX)] = {slot, whole, handle};
    size_t count = TRACE_KERNEL_WORDS + TRACE_WORDS_OF(words[3] = strnlen(name, TRACE_TEXT_MAX));
    if (own->is_busy != 0)
        return;
    memcpy(&words[TRACE_KERNEL_WORDS], name, words[3]);
    own->is_busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (thread_find_room(TRACE_HEAD + count))
        meta_write(TRACE_KERNEL, words, count);
    thread_is_done(own);
}

/* Or the kind of a metadata record. */
static unsigned slot_of(const uint64_t *record)
{
    return record[0] & ((1U << TRACE_KIND_SHIFT) - 1);
}

/* The place takes longer than many calls, so the call begins again behind it: what was written from `end` on is about
 * the call. */
static void call_begin_again(struct trace_thread *own, uint64_t *record, uint64_t *end)
{
    record[1] = now();
    for (uint64_t *at = end; at < own->at; at += at[0] >> TRACE_WORDS_SHIFT) {
        if (slot_of(at) == TRACE_STACK || slot_of(at) == TRACE_PYTHON)
            at[TRACE_HEAD] = record[1];
    }
}

/* Where a call is made that begins: its Python frames, which take less time than a backtrace; without them, or if all
 * calls have one, the backtrace. */
static void place_take(struct trace_thread *own, uint64_t *record)
{
    uint64_t *end = own->at;
    if (is_in_handler(own))
        return;
    if (!python_note(own, record) || own->wants_stacks)
        stack_note(own, record);
    call_begin_again(own, record, end);
}

static inline void call_start(struct trace_thread *own, uint64_t head, const uint64_t *end)
{
    struct trace_chunk *chunk = own->chunk;
    uint64_t *record = own->at;
    own->log_length = 0;
    chunk->open++;
    record[0] = head | (uint64_t)(end - record) << TRACE_WORDS_SHIFT;
    record[2] = 0;
    record[1] = now();
    chunk->calls++; /* beside `open`, both would be one addition of vectors, with a constant in memory */
    STORE(chunk->used, (uint64_t)((const char *)end - (const char *)chunk));
}

void record_call(struct trace_thread *own, uint64_t head, uint64_t *end)
{
    uint64_t *record = own->at;
    call_start(own, head, end);
    own->at = end;
    if (own->wants_stacks)
        place_take(own, record);
    thread_is_done(own);
}

void record_call_with_place(struct trace_thread *own, uint64_t head, uint64_t *end)
{
    uint64_t *record = own->at;
    call_start(own, head, end);
    own->at = end;
    if (own->wants_stacks || !process->is_broken)
        place_take(own, record);
    thread_is_done(own);
}

void record_call_with_sample(struct trace_thread *own, uint64_t head, uint64_t *end)
{
    enum { SAMPLES = 1000 };
    uint64_t *record = own->at;
    call_start(own, head, end);
    own->at = end;
    if (own->wants_stacks)
        place_take(own, record);
    else if (LOAD(process->samples) < SAMPLES && !is_in_handler(own)) {
        atomic_fetch_add_explicit(&process->samples, 1, memory_order_relaxed);
        if (python_note(own, record))
            call_begin_again(own, record, end);
    }
    thread_is_done(own);
}

void record_arguments(struct trace_thread *own, const uint64_t *record, uint64_t *words, size_t count)
{
    if (own->is_busy != 0)
        return;
    own->is_busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    words[0] = record[1];
    if (own->chunk == chunk_of(record) && thread_has_reserve(own, TRACE_HEAD + count))
        meta_write(TRACE_ARGUMENTS, words, count);
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
    size_t count = 2 + TRACE_WORDS_OF(own->log_length);
    if (own->chunk != chunk_of(record) || !thread_has_reserve(own, TRACE_HEAD + count))
        return;
    memcpy(&words[2], own->log, own->log_length);
    meta_write(TRACE_LOG, words, count);
    own->log_length = 0;
}

/* Whether this process can return nothing but this error from now on. */
static bool is_sticky(unsigned result)
{
    return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_ASSERT
           || (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED);
}

/* Where a call was made that failed: what was not recorded before it. */
static void failure_note(struct trace_thread *own, const uint64_t *record, unsigned result)
{
    const uint64_t *behind = record + (record[0] >> TRACE_WORDS_SHIFT & 0xffff);
    unsigned first = own->chunk == chunk_of(record) && behind < own->at ? slot_of(behind) : 0;
    bool has_python = first == TRACE_PYTHON;
    bool had_place = own->wants_stacks || has_python || first == TRACE_NO_PYTHON || first == TRACE_STACK;
    if (thread_schema()->is_expected(slot_of(record), result) || own->chunk != chunk_of(record)
        || !thread_has_reserve(own, TRACE_STACK_WORDS + (had_place ? 0 : TRACE_PYTHON_WORDS)))
        return;
    bool is_again = is_sticky(result) && atomic_exchange(&process->is_broken, true);
    if (is_again || own->wants_stacks || is_in_handler(own))
        return;
    if (!had_place)
        (void)python_note(own, record);
    if (!had_place || has_python)
        stack_note(own, record);
}

static CUSHIM_COLD void failure_write(struct trace_thread *own, const uint64_t *record, unsigned result)
{
    if (own->log_length > 0)
        log_write(own, record);
    failure_note(own, record, result);
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
    if (result != 0 && !was_busy)
        failure_write(own, record, result);
    if (--chunk->open == 0 && chunk != own->chunk)
        STORE(chunk->owner, 0); /* calls within this call went on in another chunk */
    if (!was_busy)
        thread_is_done(own);
}
