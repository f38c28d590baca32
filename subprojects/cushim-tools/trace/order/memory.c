/* SPDX-License-Identifier: MIT */
/* What copies, memsets, allocations and frees do to memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "state.h"

enum { MAX_CONFLICTS = 64 /* of a call */, FLAG_SIZE = 8 };

/* ---- conflicts ---- */

struct sink {
    struct order_process *process;
    const struct trace_block *memory;
    enum trace_conflict_kind kind;
    struct order_recording *capture; /* or NULL */
    struct trace_clock *clock;       /* of the access */
};

/* The wait that is missing would also order what the stream of the earlier access knows. */
static void conflict_forgive(const struct sink *sink, const struct trace_access *old)
{
    const struct trace_clock *known = sink->capture != NULL
                                          ? &order_actor_of(sink->process, sink->capture, old->stream)->clock
                                          : &order_stream_at(sink->process, old->stream)->clock;
    if (sink->clock != NULL)
        order_fail_unless(sink->process,
                          trace_clock_join(sink->clock, known, NULL)
                              && trace_clock_raise(sink->clock, trace_tick_key(old->stream, false), old->index));
}

static bool conflict_add(void *user, const struct trace_access *old, const struct trace_access *access, bool is_freed)
{
    const struct sink *sink = user;
    struct trace_orders *orders = sink->process->orders;
    bool is_held = old->kind == TRACE_HOLDS || access->kind == TRACE_HOLDS;
    conflict_forgive(sink, old);
    if (orders->conflict_count == MAX_CONFLICTS)
        return true;
    if (orders->conflicts == NULL) /* analyzer: trace_orders_free() frees it */
        orders->conflicts = calloc(MAX_CONFLICTS, sizeof *orders->conflicts);
    if (orders->conflicts == NULL)
        return false;
    struct trace_conflict *conflict = &orders->conflicts[orders->conflict_count++];
    *conflict = (struct trace_conflict){
        .kind = is_held    ? TRACE_HELD
                : is_freed ? TRACE_USE_AFTER_FREE
                           : sink->kind,
        .first = *old,
        .second = *access,
        .first_stream = order_stream_name(sink->process, order_stream_at(sink->process, old->stream)),
        .second_stream = access->stream != 0
                             ? order_stream_name(sink->process, order_stream_at(sink->process, access->stream))
                             : (struct trace_text){""},
        .memory = sink->memory->kind,
        .is_ordered = is_freed,
        .base = sink->memory->low,
    };
    if (conflict->kind == TRACE_RACE || (is_held && !is_freed))
        order_find_missing(sink->process, conflict);
    return true;
}

/* ---- accesses ---- */

/* Whether what an access may conflict with is known: memory that recorded calls have allocated, and that nothing else
 * uses. */
static bool is_comparable(struct order_process *process, const struct order_step *step, const struct trace_span *span,
                          struct trace_block *memory)
{
    if (span->high <= span->low || memory == NULL || memory->low > span->low
        || order_is_doubted(process, order_stream_at(process, step->stream)))
        return false;
    if (span->pitch != 0)
        return memory->high >= span->high && !memory->is_shared;
    for (uint64_t low = span->low; low < span->high; low = memory->high) {
        memory = trace_block_at(&process->memories, low);
        if (memory == NULL)
            return true; /* the rest is not known */
        if (memory->is_shared)
            return false;
    }
    return true;
}

static void block_compare(struct order_process *process, const struct order_step *step, struct trace_block *memory,
                          const struct trace_span *span, enum trace_access_kind kind)
{
    struct order_recording *capture = step->step.capture != 0 ? order_capture_of(process, step->step.capture) : NULL;
    struct trace_clock *clock = order_clock_of(process, step);
    struct sink sink = {process, memory, capture != NULL ? TRACE_RACE_IN_GRAPH : TRACE_RACE, capture, clock};
    const struct trace_comparison comparison = {clock, capture != NULL ? NULL : &process->host, conflict_add, &sink};
    struct trace_access access = {
        .span = *span, .stream = step->stream, .index = step->index, .kind = kind, .moment = step->step.moment};
    if (span->pitch == 0 && access.span.low < memory->low)
        access.span.low = memory->low;
    if (span->pitch == 0 && access.span.high > memory->high)
        access.span.high = memory->high;
    if (capture == NULL || !capture->is_unordered)
        order_fail_unless(
            process, trace_access_add(capture != NULL ? &capture->compared : &memory->accesses, &access, &comparison));
}

void order_access(struct order_process *process, const struct order_step *step, const struct trace_span *span,
                  enum trace_access_kind kind)
{
    struct order_stream *stream = order_stream_at(process, step->stream);
    struct trace_block *memory = trace_block_find(&process->memories, span->low, span->high);
    bool is_flag = kind == TRACE_WRITES && span->high - span->low <= FLAG_SIZE && memory != NULL
                   && memory->kind != TRACE_DEVICE_MEMORY;
    if (step->step.capture != 0)
        order_recording_add(process, order_capture_of(process, step->step.capture), span, kind);
    if (!is_comparable(process, step, span, memory)) {
        process->orders->left_out++;
        return;
    }
    process->orders->compared++;
    process->orders->streams += !stream->is_compared;
    stream->is_compared = true;
    for (uint64_t low = span->low; memory != NULL && low < span->high;
         low = memory->high, memory = trace_block_find(&process->memories, low, span->high))
        block_compare(process, step, memory, span, kind);
    if (is_flag && step->step.capture == 0) /* the host can poll it */
        order_host_join(process, &stream->clock);
}

/* ---- copies and memsets ---- */

static struct trace_block *end_memory(const struct order_process *process, const struct trace_span *end)
{
    return end->high > end->low ? trace_block_at(&process->memories, end->low) : NULL;
}

/* A copy of a batch. One that does not read in the order of the stream can read before it, or has read. Returns whether
 * an end can be memory that is not pinned. */
static bool batch_copy(struct order_process *process, const struct order_step *step, const uint64_t *words)
{
    const struct trace_span reads = {.low = words[BATCH_SOURCE], .high = words[BATCH_SOURCE] + words[BATCH_SIZE]};
    const struct trace_span writes = {.low = words[BATCH_TARGET], .high = words[BATCH_TARGET] + words[BATCH_SIZE]};
    bool is_known = end_memory(process, &reads) != NULL && end_memory(process, &writes) != NULL;
    if (words[BATCH_ORDER] == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && end_memory(process, &reads) != NULL)
        order_access(process, step, &reads, TRACE_READS);
    if (end_memory(process, &writes) != NULL)
        order_access(process, step, &writes, TRACE_WRITES);
    return !is_known;
}

/* Copies of host memory that is not pinned can be synchronous. Copies within a device are not, even if the function is;
 * nor are copies to a device, but they have read the host memory. */
void order_copy(struct order_process *process, struct order_step *step)
{
    const struct trace_step *call = &step->step;
    struct order_stream *stream = order_stream_at(process, step->stream);
    bool is_pageable = false, is_of_devices = true;
    if (call->is_between_contexts && order_is_legacy(stream)) {
        for (uint32_t i = 1; i <= process->stream_count; i++)
            order_fail_unless(process,
                              trace_clock_join(&stream->clock, &order_stream_at(process, i)->clock, &process->known));
        order_changed(process, stream);
    }
    for (size_t i = 0; i < step->held_count; i += BATCH_WORDS)
        is_pageable |= batch_copy(process, step, &step->held[i]);
    for (size_t i = 0; i < 2; i++) {
        const struct trace_block *memory = end_memory(process, &call->ends[i]);
        is_pageable |= memory == NULL && !call->is_device[i];
        is_of_devices &= memory != NULL && memory->kind == TRACE_DEVICE_MEMORY;
        if (memory != NULL || call->is_device[i] || call->ends[i].high == 0)
            order_access(process, step, &call->ends[i], i == 0 ? TRACE_READS : TRACE_WRITES);
    }
    if (call->capture != 0)
        return;
    if (!call->is_async && call->is_to_host)
        order_known_join(process, &stream->clock);
    else if (call->is_async ? is_pageable : !is_of_devices)
        order_host_join(process, &stream->clock);
}

/* A synchronous memset waits for its end only if it writes host or managed memory. */
void order_memset(struct order_process *process, struct order_step *step)
{
    const struct trace_span *span = &step->step.ends[1];
    const struct trace_block *memory = end_memory(process, span);
    order_access(process, step, span, TRACE_WRITES);
    if (step->step.capture == 0 && !step->step.is_async && (memory == NULL || memory->kind != TRACE_DEVICE_MEMORY))
        order_host_join(process, &order_stream_at(process, step->stream)->clock);
}

/* ---- allocations and frees in the order of a stream ---- */

static void memory_access(struct order_process *process, struct order_step *step, const struct trace_block *memory,
                          enum trace_access_kind kind)
{
    const struct trace_span all = {.low = memory->low, .high = memory->high};
    order_access(process, step, &all, kind);
}

/* The pool sees to it that an allocation comes behind the free of what was at its address. */
void order_allocate_async(struct order_process *process, struct order_step *step)
{
    struct order_stream *stream = order_stream_at(process, step->stream);
    uint64_t low = step->step.handle, high = low + step->step.size;
    bool is_captured = step->step.capture != 0;
    for (struct trace_block *old; !is_captured && (old = trace_block_find(&process->memories, low, high)) != NULL;
         low = old->high) {
        if (old->is_freed)
            order_fail_unless(process, trace_clock_join(&stream->clock, &old->freed, &process->known));
    }
    order_changed(process, stream);
    struct trace_block *memory = trace_block_add(&process->memories, step->step.handle, step->step.size);
    order_fail_unless(process, memory != NULL);
    if (memory == NULL)
        return;
    memory->context = stream->context;
    memory->allocated = step->step.moment.end;
    memory->is_shared = is_captured;
    memory->is_of_pool = true;
    memory_access(process, step, memory, TRACE_ALLOCATES);
}

/* Returns the memory that a call frees, or NULL. Other threads can get its address before the call returns: a free that
 * began before the allocation returned has freed what was there before. */
static struct trace_block *freed_by(const struct order_process *process, const struct order_step *step)
{
    struct trace_block *memory = trace_block_at(&process->memories, step->step.handle);
    return memory != NULL && step->step.moment.begin >= memory->allocated ? memory : NULL;
}

void order_free_async(struct order_process *process, struct order_step *step)
{
    struct order_stream *stream = order_stream_at(process, step->stream);
    struct trace_block *memory = freed_by(process, step);
    if (memory == NULL || memory->low != step->step.handle)
        return;
    memory_access(process, step, memory, TRACE_FREES);
    memory->is_freed = true;
    memory->freed.count = 0;
    memory->is_shared |= step->step.capture != 0 || order_is_doubted(process, stream);
    order_fail_unless(process, trace_clock_join(&memory->freed, &stream->clock, &process->known));
}

/* A kernel has pointers. Those into memory that is not allocated in the order of a stream conflict with nothing. */
void order_hold(struct order_process *process, struct order_step *step)
{
    bool is_doubted = step->step.capture != 0 || order_is_doubted(process, order_stream_at(process, step->stream));
    for (size_t i = 0; !is_doubted && i < step->held_count; i++) {
        struct trace_block *memory = trace_block_at(&process->memories, step->held[i]);
        if (memory == NULL || memory->is_shared || !memory->is_of_pool)
            continue;
        const struct trace_span all = {.low = memory->low, .high = memory->high};
        block_compare(process, step, memory, &all, TRACE_HOLDS);
    }
}

/* ---- other allocations and frees ---- */

static bool is_shared_handle(const struct order_process *process, uint64_t handle)
{
    for (size_t i = 0; i < process->shared_count; i++) {
        if (process->shared[i] == handle)
            return true;
    }
    return false;
}

static void allocate(struct order_process *process, const struct order_step *step)
{
    const struct trace_step *call = &step->step;
    struct trace_block *memory = trace_block_add(&process->memories, call->handle, call->size);
    order_fail_unless(process, memory != NULL);
    if (memory == NULL)
        return;
    memory->kind = call->kind == TRACE_STEP_ALLOCATE_HOST      ? TRACE_HOST_MEMORY
                   : call->kind == TRACE_STEP_ALLOCATE_MANAGED ? TRACE_MANAGED_MEMORY
                                                               : TRACE_DEVICE_MEMORY;
    memory->context = step->context;
    memory->allocated = call->moment.end;
    memory->handle = call->kind == TRACE_STEP_ALLOCATE ? call->other : 0;
    memory->is_shared = call->kind == TRACE_STEP_ALLOCATE_SHARED || is_shared_handle(process, memory->handle);
}

/* Host memory that a copy still uses: a write counts more, because then nothing has waited for the result. */
static void host_free_check(struct order_process *process, const struct order_step *step, struct trace_block *memory)
{
    const struct trace_access *found = NULL;
    struct sink sink = {process, memory, TRACE_HOST_FREE, NULL, NULL};
    for (size_t i = 0; memory->kind == TRACE_HOST_MEMORY && !memory->is_shared && i < memory->accesses.count; i++) {
        const struct trace_access *one = &memory->accesses.all[i];
        if (!trace_horizon_has(&process->host, one->stream, one->index)
            && (found == NULL || (found->kind == TRACE_READS && one->kind != TRACE_READS)))
            found = one;
    }
    const struct trace_access access = {
        .span = {memory->low, memory->high, 0, 0}, .kind = TRACE_FREES, .moment = step->step.moment};
    if (found != NULL)
        order_fail_unless(process, conflict_add(&sink, found, &access, false));
}

/* These wait for the work of the context: by what drivers do, and not by contract. */
static void release(struct order_process *process, const struct order_step *step)
{
    struct trace_block *memory = freed_by(process, step);
    uint32_t context = memory != NULL && memory->context == step->context ? step->context : ORDER_NO_CONTEXT;
    if (memory != NULL) {
        host_free_check(process, step, memory);
        trace_block_remove(&process->memories, memory);
    }
    order_host_join_all(process, context, false);
}

/* Another process, or another API, can use it from now on. */
static void share(struct order_process *process, const struct order_step *step)
{
    const struct trace_step *call = &step->step;
    struct trace_block *memory = NULL;
    if (call->kind == TRACE_STEP_SHARE) {
        memory = trace_block_at(&process->memories, call->handle);
        if (memory != NULL)
            memory->is_shared = true;
        return;
    }
    uint64_t *grown = realloc(process->shared, (process->shared_count + 1) * sizeof *grown);
    order_fail_unless(process, grown != NULL);
    if (grown == NULL)
        return;
    process->shared = grown;
    grown[process->shared_count++] = call->handle;
    for (uint64_t low = 0; (memory = trace_block_find(&process->memories, low, UINT64_MAX)) != NULL; low = memory->high)
        memory->is_shared |= memory->handle == call->handle;
}

void order_memory_follow(struct order_process *process, const struct order_step *step)
{
    struct trace_block *memory;
    switch (step->step.kind) {
    case TRACE_STEP_ALLOCATE:
    case TRACE_STEP_ALLOCATE_MANAGED:
    case TRACE_STEP_ALLOCATE_HOST:
    case TRACE_STEP_ALLOCATE_SHARED:
        allocate(process, step);
        break;
    case TRACE_STEP_FREE:
        release(process, step);
        break;
    case TRACE_STEP_UNMAP:
        while ((memory = trace_block_find(&process->memories, step->step.handle, step->step.handle + step->step.size))
               != NULL)
            trace_block_remove(&process->memories, memory);
        break;
    case TRACE_STEP_SHARE:
    case TRACE_STEP_SHARE_HANDLE:
        share(process, step);
        break;
    default:
        break;
    }
}
