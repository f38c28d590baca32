/* SPDX-License-Identifier: MIT */
/* The streams of a process, their clocks, and what the host knows of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "state.h"

/* A longer clock would make the cost of a call depend on the number of streams. */
enum { MAX_TICKS = 1024 };

void order_fail_unless(struct order_process *process, bool has_memory)
{
    process->orders->has_failed |= !has_memory;
}

/* ---- contexts, handles and streams ---- */

/* Contexts have numbers in the order in which they are seen. With at most one of them, it is known which one is
 * current. */
uint32_t order_context_of(struct order_process *process, uint64_t handle)
{
    uint32_t i = 0;
    while (i < process->context_count && process->contexts[i] != handle)
        i++;
    if (handle == 0)
        return process->context_count <= 1 ? 0 : ORDER_NO_CONTEXT;
    if (i < process->context_count)
        return i;
    uint64_t *grown = realloc(process->contexts, (i + 1) * sizeof *grown);
    order_fail_unless(process, grown != NULL);
    if (grown == NULL)
        return ORDER_NO_CONTEXT;
    process->contexts = grown;
    grown[process->context_count++] = handle;
    return i;
}

struct order_handle *order_handle_of(struct order_process *process, uint32_t kind, uint64_t handle)
{
    process->handles.size = sizeof(struct order_handle);
    struct order_handle *found = trace_table_add(&process->handles, (struct trace_key){.id = handle, .kind = kind});
    order_fail_unless(process, found != NULL);
    process->no_handle = (struct order_handle){.stream = 0};
    return found != NULL ? found : &process->no_handle;
}

static struct order_stream *stream_add(struct order_process *process, uint64_t handle, uint32_t context)
{
    uint32_t count = process->stream_count;
    struct order_stream **grown = process->streams;
    if ((count & (count + 1)) == 0) /* 0, 1, 3, 7, ...: a power of two less one */
        grown = realloc(process->streams, 2 * ((size_t)count + 1) * sizeof(void *));
    struct order_stream *stream = grown != NULL ? calloc(1, sizeof *stream) : NULL;
    process->streams = grown != NULL ? grown : process->streams;
    order_fail_unless(process, stream != NULL);
    if (stream == NULL)
        return &process->no_stream;
    stream->id = ++process->stream_count;
    stream->handle = handle;
    stream->context = context;
    return process->streams[count] = stream;
}

static void legacy_add(struct order_process *process, struct order_stream *stream)
{
    uint32_t *grown = realloc(process->legacy, (process->legacy_count + 1) * sizeof *grown);
    order_fail_unless(process, grown != NULL);
    if (grown == NULL)
        return;
    process->legacy = grown;
    grown[process->legacy_count++] = stream->id;
}

/* A context has a legacy stream, and a per-thread stream for each thread. */
struct order_stream *order_stream_of(struct order_process *process, const struct trace_step *step, uint32_t context)
{
    bool is_legacy = step->stream == TRACE_LEGACY_STREAM, is_per_thread = step->stream == TRACE_PER_THREAD_STREAM;
    uint64_t id = is_legacy       ? context
                  : is_per_thread ? (uint64_t)context << 32 | (uint32_t)step->moment.thread
                                  : step->stream;
    struct order_handle *handle = order_handle_of(process,
                                                  is_legacy       ? ORDER_LEGACY_STREAM
                                                  : is_per_thread ? ORDER_PER_THREAD_STREAM
                                                                  : ORDER_STREAM,
                                                  id);
    if (handle->stream != 0)
        return order_stream_at(process, handle->stream);
    struct order_stream *stream =
        stream_add(process, step->stream, is_legacy || is_per_thread ? context : ORDER_NO_CONTEXT);
    stream->is_known = (is_legacy || is_per_thread) && context != ORDER_NO_CONTEXT;
    stream->is_blocking = is_per_thread;
    stream->number = is_per_thread ? (unsigned)step->moment.thread : 0;
    handle->stream = stream->id;
    if (is_legacy)
        legacy_add(process, stream);
    return stream;
}

void order_stream_create(struct order_process *process, const struct order_step *step)
{
    bool is_foreign = step->step.is_foreign;
    struct order_stream *stream = stream_add(process, step->step.handle, is_foreign ? ORDER_NO_CONTEXT : step->context);
    stream->number = step->step.number;
    stream->is_known = true;
    stream->is_blocking = (step->step.flags & CU_STREAM_NON_BLOCKING) == 0;
    order_handle_of(process, ORDER_STREAM, step->step.handle)->stream = stream->id;
}

struct trace_text order_stream_name(const struct order_process *process, const struct order_stream *stream)
{
    struct trace_text name;
    bool has_context = stream->context != ORDER_NO_CONTEXT && stream->context > 0;
    const struct trace_object *context =
        has_context
            ? trace_object_find(process->model, process->number, TRACE_ROW_CONTEXT, process->contexts[stream->context])
            : NULL;
    unsigned number = context != NULL ? context->number : 0;
    int length;
    if (stream->handle != TRACE_LEGACY_STREAM && stream->handle != TRACE_PER_THREAD_STREAM) {
        if (stream->number != 0)
            snprintf(name.text, sizeof name.text, "stream %u", stream->number);
        else
            snprintf(name.text, sizeof name.text, "stream 0x%" PRIx64, stream->handle);
        return name;
    }
    length = order_is_legacy(stream)
                 ? snprintf(name.text, sizeof name.text, "the legacy stream")
                 : snprintf(name.text, sizeof name.text, "the per-thread stream of thread %u", stream->number);
    if (number > 1)
        snprintf(name.text + length, sizeof name.text - (size_t)length, " in context %u", number);
    return name;
}

/* ---- clocks ---- */

static void list_add(struct order_process *process, enum order_list which, struct order_stream *stream)
{
    struct order_ids *list = &process->lists[which];
    if (stream->is_listed[which] || stream->id == 0)
        return;
    if (list->count == list->capacity) {
        uint32_t capacity = 2 * list->capacity + 16, *grown = realloc(list->all, capacity * sizeof *grown);
        order_fail_unless(process, grown != NULL);
        if (grown == NULL)
            return;
        list->all = grown;
        list->capacity = capacity;
    }
    list->all[list->count++] = stream->id;
    stream->is_listed[which] = true;
}

void order_changed(struct order_process *process, struct order_stream *stream)
{
    if (stream->clock.count > MAX_TICKS) { /* fewer races; but doubts would end, too */
        order_host_join(process, &stream->clock);
        stream->clock.count = 0;
        process->is_unknown |= process->is_doubtful;
    }
    process->legacy_changes += order_is_legacy(stream);
    if (stream->is_blocking)
        list_add(process, FOR_LEGACY, stream);
    list_add(process, FOR_HOST, stream);
    list_add(process, FOR_KNOWN, stream);
}

/* Whether a stream is in a context, or can be. */
static bool is_in_context(const struct order_stream *stream, uint32_t context)
{
    return context == ORDER_NO_CONTEXT || stream->context == context || stream->context == ORDER_NO_CONTEXT;
}

static bool clock_join(struct order_process *process, struct order_stream *stream, const struct order_stream *other)
{
    bool has_memory = trace_clock_join(&stream->clock, &other->clock, &process->known);
    order_fail_unless(process, has_memory);
    return other->clock.count > 0;
}

/* The legacy stream comes behind the blocking streams. */
static void legacy_arrive(struct order_process *process, struct order_stream *stream)
{
    struct order_ids *list = &process->lists[FOR_LEGACY];
    uint32_t kept = 0;
    bool is_changed = false;
    for (uint32_t i = 0; i < list->count; i++) {
        struct order_stream *other = order_stream_at(process, list->all[i]);
        bool is_in = is_in_context(other, stream->context);
        is_changed |= is_in && clock_join(process, stream, other);
        other->is_listed[FOR_LEGACY] = !is_in || other->context != stream->context;
        if (other->is_listed[FOR_LEGACY]) /* another legacy stream can come behind it, too */
            list->all[kept++] = other->id;
    }
    list->count = kept;
    if (is_changed)
        order_changed(process, stream);
}

void order_arrive(struct order_process *process, struct order_stream *stream)
{
    if (stream->version != process->known.version)
        trace_clock_forget(&stream->clock, &process->known);
    stream->version = process->known.version;
    if (order_is_legacy(stream)) {
        legacy_arrive(process, stream);
        return;
    }
    bool is_changed = false;
    for (uint32_t i = 0; stream->is_blocking && stream->seen != process->legacy_changes && i < process->legacy_count;
         i++) {
        const struct order_stream *legacy = order_stream_at(process, process->legacy[i]);
        if (is_in_context(legacy, stream->context))
            is_changed |= clock_join(process, stream, legacy);
    }
    stream->seen = process->legacy_changes;
    if (is_changed)
        order_changed(process, stream);
}

void order_host_join(struct order_process *process, const struct trace_clock *clock)
{
    order_fail_unless(process, trace_horizon_join(&process->host, clock));
}

void order_known_join(struct order_process *process, const struct trace_clock *clock)
{
    order_fail_unless(process, trace_horizon_join(&process->known, clock));
    order_host_join(process, clock);
}

/* A wait for a blocking stream without work does not wait for the legacy stream (observed with driver 580). */
void order_host_join_stream(struct order_process *process, struct order_stream *stream)
{
    if (order_is_legacy(stream))
        order_arrive(process, stream);
    order_host_join(process, &stream->clock);
    for (uint32_t i = 0; stream->is_blocking && i < process->legacy_count; i++) {
        const struct order_stream *legacy = order_stream_at(process, process->legacy[i]);
        if (is_in_context(legacy, stream->context))
            order_host_join(process, &legacy->clock);
    }
}

/* A stream whose context is not known can have work that a wait for a context has not waited for. */
void order_host_join_all(struct order_process *process, uint32_t context, bool is_known)
{
    is_known = is_known && context != ORDER_NO_CONTEXT;
    enum order_list which = is_known ? FOR_KNOWN : FOR_HOST;
    struct order_ids *list = &process->lists[which];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct order_stream *stream = order_stream_at(process, list->all[i]);
        bool is_joined = is_known ? stream->context == context : is_in_context(stream, context);
        if (is_known && is_joined)
            order_known_join(process, &stream->clock);
        else if (is_in_context(stream, context))
            order_host_join(process, &stream->clock);
        stream->is_listed[which] = !is_joined;
        if (!is_joined)
            list->all[kept++] = stream->id;
        else if (is_known && stream->is_destroyed)
            trace_clock_clear(&stream->clock);
        else if (is_known)
            stream->clock.count = 0;
    }
    list->count = kept;
}

void order_doubt(struct order_process *process, struct order_stream *stream)
{
    uint32_t index = ++stream->count;
    process->is_doubtful = true;
    order_fail_unless(process, trace_clock_raise(&stream->clock, trace_tick_key(stream->id, false), index)
                                   && trace_clock_raise(&stream->clock, trace_tick_key(stream->id, true), index));
    order_changed(process, stream);
}

bool order_is_doubted(const struct order_process *process, const struct order_stream *stream)
{
    if (!stream->is_known || process->is_unknown)
        return true;
    for (uint32_t i = 0; process->is_doubtful && i < stream->clock.count; i++) {
        const struct trace_tick *tick = &stream->clock.ticks[i];
        uint32_t from = trace_tick_stream(tick->key);
        if (tick->key != trace_tick_key(from, false) && !trace_horizon_has(&process->host, from, tick->index))
            return true;
    }
    return false;
}
