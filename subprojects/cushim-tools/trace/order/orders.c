/* SPDX-License-Identifier: MIT */
/* Which rule a step follows, and when: work takes its place in its stream when its call begins, and what it waits for
 * counts when its call ends. */
#include "orders.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

/* ---- work ---- */

struct trace_clock *order_clock_of(struct order_process *process, const struct order_step *step)
{
    if (step->step.capture == 0)
        return &order_stream_at(process, step->stream)->clock;
    struct order_recording *recording = order_capture_of(process, step->step.capture);
    return &order_actor_of(process, recording, step->stream)->clock;
}

static void work_begin(struct order_process *process, struct order_step *step)
{
    struct order_stream *stream = order_stream_at(process, step->stream);
    struct order_recording *recording = step->step.capture != 0 ? order_capture_of(process, step->step.capture) : NULL;
    struct order_actor *actor = recording != NULL ? order_actor_of(process, recording, step->stream) : NULL;
    step->index = actor != NULL ? ++actor->count : ++stream->count;
    order_fail_unless(process, trace_clock_raise(actor != NULL ? &actor->clock : &stream->clock,
                                                 trace_tick_key(stream->id, false), step->index));
    if (actor != NULL)
        return;
    stream->last_work = process->steps;
    order_changed(process, stream);
}

/* Host functions, values in memory and semaphores: the host, and all streams, can know of what comes before. */
static void signal_end(struct order_process *process, struct order_step *step)
{
    struct order_stream *stream = order_stream_at(process, step->stream);
    if (step->step.capture != 0) {
        order_capture_of(process, step->step.capture)->is_opaque = true;
        return;
    }
    order_host_join(process, &stream->clock);
    order_doubt(process, stream);
}

static void work_end(struct order_process *process, struct order_step *step)
{
    if (step->step.capture == 0)
        order_arrive(process, order_stream_at(process, step->stream));
    switch (step->step.kind) {
    case TRACE_STEP_WORK:
        order_hold(process, step);
        break;
    case TRACE_STEP_COPY:
        order_copy(process, step);
        break;
    case TRACE_STEP_MEMSET:
        order_memset(process, step);
        break;
    case TRACE_STEP_ALLOCATE_ASYNC:
        order_allocate_async(process, step);
        break;
    case TRACE_STEP_FREE_ASYNC:
        order_free_async(process, step);
        break;
    case TRACE_STEP_SIGNAL:
        signal_end(process, step);
        break;
    case TRACE_STEP_LAUNCH:
        if (!order_graph_launch(process, step))
            signal_end(process, step);
        break;
    default:
        break;
    }
}

/* ---- waits of the host ---- */

/* What the call waits for when it begins: `awaits_all`, or a clock. */
static void await_begin(struct order_process *process, struct order_step *step)
{
    struct order_stream *stream = order_stream_at(process, step->stream);
    bool is_of_stream = step->step.kind == TRACE_STEP_SYNCHRONIZE_STREAM || trace_step_is_work(step->step.kind);
    if (is_of_stream && step->step.capture == 0) {
        if (trace_step_is_work(step->step.kind) || order_is_legacy(stream))
            order_arrive(process, stream);
        order_fail_unless(process, trace_clock_join(&step->clock, &stream->clock, &process->known));
    }
    for (size_t i = 0; step->step.kind == TRACE_STEP_SYNCHRONIZE_EVENT && i < 2; i++) {
        if (step->events[i] != NULL && !step->events[i]->is_of_capture)
            order_fail_unless(process, trace_clock_join(&step->clock, &step->events[i]->clock, &process->known));
    }
}

static void await_end(struct order_process *process, struct order_step *step)
{
    struct order_stream *stream = order_stream_at(process, step->stream);
    order_known_join(process, &step->clock);
    if (step->step.kind == TRACE_STEP_SYNCHRONIZE_STREAM && step->step.capture == 0)
        order_host_join_stream(process, stream);
    for (size_t i = 0; step->step.kind == TRACE_STEP_SYNCHRONIZE_EVENT && i < 2; i++) {
        if (step->events[i] != NULL)
            order_await_event(process, step, step->events[i]);
    }
}

/* ---- steps ---- */

static void step_begin(struct order_process *process, struct order_step *step)
{
    const struct trace_step *call = &step->step;
    process->can_record_unseen |= call->can_record_unseen;
    if (trace_step_is_work(call->kind))
        work_begin(process, step);
    else if (call->kind == TRACE_STEP_RECORD)
        order_record_begin(process, step);
    else if (call->kind == TRACE_STEP_SYNCHRONIZE_STREAM || call->kind == TRACE_STEP_SYNCHRONIZE_EVENT)
        await_begin(process, step);
    else if (call->kind == TRACE_STEP_DESTROY_EVENT)
        order_event_destroy(process, call->handle);
    else if (call->kind == TRACE_STEP_DESTROY_STREAM && step->stream != 0) {
        order_stream_at(process, step->stream)->is_destroyed = true;
        order_handle_of(process, ORDER_STREAM, call->handle)->stream = 0;
    }
}

static void step_end(struct order_process *process, struct order_step *step)
{
    const struct trace_step *call = &step->step;
    if (trace_step_is_work(call->kind)) {
        work_end(process, step);
        return;
    }
    switch (call->kind) {
    case TRACE_STEP_RECORD:
        order_record_end(process, step);
        break;
    case TRACE_STEP_WAIT:
        order_wait_end(process, step);
        break;
    case TRACE_STEP_SYNCHRONIZE_STREAM:
    case TRACE_STEP_SYNCHRONIZE_EVENT:
        await_end(process, step);
        break;
    case TRACE_STEP_SYNCHRONIZE_CONTEXT:
        order_host_join_all(process, step->context, true);
        break;
    case TRACE_STEP_CREATE_STREAM:
        order_stream_create(process, step);
        break;
    case TRACE_STEP_CREATE_EVENT:
        order_event_create(process, call);
        break;
    case TRACE_STEP_RECORD_CONTEXT:
    case TRACE_STEP_WAIT_CONTEXT:
        order_context_event(process, step);
        break;
    case TRACE_STEP_SHARE_EVENT:
        step->events[0]->is_shared = true;
        order_host_join_all(process, ORDER_NO_CONTEXT, false);
        break;
    case TRACE_STEP_END_CONTEXT:
        order_host_join_all(process, ORDER_NO_CONTEXT, false);
        break;
    case TRACE_STEP_END_CAPTURE:
    case TRACE_STEP_DESTROY_STREAM:
        order_capture_end(process, step);
        break;
    case TRACE_STEP_CAPTURE_DEPENDENCIES:
        if (call->capture != 0)
            order_capture_of(process, call->capture)->is_unordered = true;
        break;
    default:
        order_memory_follow(process, step);
        order_graph_follow(process, step);
    }
}

static bool has_stream(enum trace_step_kind kind)
{
    return trace_step_is_work(kind) || kind == TRACE_STEP_RECORD || kind == TRACE_STEP_WAIT
           || kind == TRACE_STEP_SYNCHRONIZE_STREAM || kind == TRACE_STEP_DESTROY_STREAM;
}

static bool has_event(enum trace_step_kind kind)
{
    switch (kind) {
    case TRACE_STEP_NODE_RECORD:
    case TRACE_STEP_NODE_WAIT:
    case TRACE_STEP_SYNCHRONIZE_EVENT:
    case TRACE_STEP_RECORD:
    case TRACE_STEP_WAIT:
    case TRACE_STEP_RECORD_CONTEXT:
    case TRACE_STEP_WAIT_CONTEXT:
    case TRACE_STEP_SHARE_EVENT:
        return true;
    default:
        return false;
    }
}

/* Finds the objects of a step when it begins: a handle can mean another one later. Returns false if the call cannot
 * have succeeded, as in a damaged file. */
static bool step_prepare(struct order_process *process, struct order_step *step)
{
    const struct trace_step *call = &step->step;
    bool is_node = call->kind == TRACE_STEP_NODE_RECORD || call->kind == TRACE_STEP_NODE_WAIT;
    uint64_t events[2] = {!has_event(call->kind) ? 0
                          : is_node              ? call->other
                                                 : call->handle,
                          call->kind == TRACE_STEP_SYNCHRONIZE_EVENT ? call->other : 0};
    step->context = order_context_of(process, call->context);
    if (has_stream(call->kind))
        step->stream = order_stream_of(process, call, step->context)->id;
    for (size_t i = 0; i < 2 && events[i] != 0; i++) {
        step->events[i] = order_event_of(process, events[i]);
        step->events[i]->references++;
    }
    return events[0] != 0 || !has_event(call->kind);
}

static void step_free(struct order_process *process, struct order_step *step)
{
    for (size_t i = 0; i < 2; i++)
        order_event_unref(process, step->events[i]);
    trace_clock_clear(&step->clock);
    free(step->held);
    free(step);
}

/* Keeps the words of the arguments of a kernel that are addresses of memory in the order of a stream. */
static void held_keep(struct order_process *process, struct order_step *step, const struct trace_call *call)
{
    size_t at = 0, size = 0;
    for (const uint64_t *words; (words = trace_next_kernel_argument(call, &at, &size)) != NULL;) {
        for (size_t i = 0; i < size / sizeof *words; i++) {
            const struct trace_block *memory = trace_block_at(&process->memories, words[i]);
            if (memory == NULL || !memory->is_of_pool)
                continue;
            uint64_t *grown = realloc(step->held, (step->held_count + 1) * sizeof *grown);
            order_fail_unless(process, grown != NULL);
            if (grown == NULL)
                return;
            step->held = grown;
            grown[step->held_count++] = words[i];
        }
    }
}

/* Keeps the copies of a batch: where each writes and reads, its bytes, and the order in which it reads. */
static void batch_keep(struct order_process *process, struct order_step *step, const struct trace_call *call)
{
    const uint64_t *arrays[BATCH_WORDS];
    size_t at = 0, sizes[BATCH_WORDS], count = 0;
    for (size_t i = 0; i < BATCH_WORDS; i++) {
        arrays[i] = trace_next_kernel_argument(call, &at, &sizes[i]);
        if (arrays[i] == NULL || sizes[i] != sizes[0])
            return;
    }
    count = sizes[0] / sizeof(uint64_t);
    step->held = malloc((count > 0 ? count : 1) * BATCH_WORDS * sizeof *step->held);
    order_fail_unless(process, step->held != NULL);
    for (size_t i = 0; step->held != NULL && i < count * BATCH_WORDS; i++)
        step->held[i] = arrays[i % BATCH_WORDS][i / BATCH_WORDS];
    step->held_count = step->held != NULL ? count * BATCH_WORDS : 0;
    process->orders->left_out += trace_next_kernel_argument(call, &at, &sizes[0]) == NULL && sizes[0] == SIZE_MAX;
}

/* ---- the steps that have not ended, a heap ---- */

static bool ends_before(const struct order_step *one, const struct order_step *other)
{
    return one->step.moment.end < other->step.moment.end;
}

static void heap_push(struct order_process *process, struct order_step *step)
{
    struct order_step **heap = process->open;
    size_t at = process->open_count;
    if ((at & (at + 1)) == 0) {
        heap = realloc(process->open, 2 * (at + 1) * sizeof(void *));
        order_fail_unless(process, heap != NULL);
        if (heap == NULL) {
            step_free(process, step);
            return;
        }
        process->open = heap;
    }
    for (process->open_count++; at > 0 && ends_before(step, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = step;
}

static struct order_step *heap_pop(struct order_process *process)
{
    struct order_step **heap = process->open, *first = heap[0], *moved = heap[--process->open_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < process->open_count; at = child) {
        child += child + 1 < process->open_count && ends_before(heap[child + 1], heap[child]);
        if (!ends_before(heap[child], moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
    return first;
}

/* Those that ended before a time. */
static void steps_end(struct order_process *process, uint64_t time)
{
    while (process->open_count > 0 && process->open[0]->step.moment.end < time) {
        struct order_step *step = heap_pop(process);
        if (!process->orders->has_failed)
            step_end(process, step);
        step_free(process, step);
    }
}

/* ---- calls ---- */

static struct order_process *process_of(struct trace_orders *orders, const struct trace_model *model, size_t number)
{
    if (number >= orders->process_count) {
        struct order_process **grown = realloc(orders->processes, (number + 1) * sizeof *grown);
        orders->has_failed |= grown == NULL;
        if (grown == NULL)
            return NULL;
        memset(grown + orders->process_count, 0, (number + 1 - orders->process_count) * sizeof *grown);
        orders->processes = grown;
        orders->process_count = number + 1;
    }
    struct order_process **process = &orders->processes[number];
    if (*process == NULL && (*process = calloc(1, sizeof **process)) != NULL) {
        (*process)->orders = orders;
        (*process)->number = number;
        (*process)->no_event.references = (*process)->no_stream.count = 1;
    }
    orders->has_failed |= *process == NULL;
    if (*process != NULL)
        (*process)->model = model; /* analyzer: trace_orders_free() frees it */
    return *process;
}

/* A call that has not returned gives no order. What does it wait for? */
static void call_await(struct trace_orders *orders, struct order_process *process, struct order_step *step)
{
    await_begin(process, step);
    trace_clock_clear(&orders->awaited);
    orders->awaited = step->clock;
    step->clock = (struct trace_clock){.ticks = NULL};
    step_free(process, step);
}

void trace_orders_read(struct trace_orders *orders, const struct trace_model *model, const struct trace_call *call)
{
    struct trace_step found;
    orders->stream = orders->index = 0;
    orders->conflict_count = 0;
    if (orders->slots == NULL)
        orders->slots = calloc(model->reader->slot_count + 1, sizeof *orders->slots);
    struct order_process *process = process_of(orders, model, call->process);
    orders->has_failed |= orders->slots == NULL;
    if (orders->has_failed)
        return;
    steps_end(process, call->begin);
    if (!trace_step_find(orders->slots, model, call, &found))
        return;
    struct order_step *step = calloc(1, sizeof *step);
    orders->has_failed |= step == NULL;
    if (step == NULL)
        return;
    step->step = found;
    process->steps++;
    if (!step_prepare(process, step)) {
        step_free(process, step);
        return;
    }
    if (!found.has_returned) {
        call_await(orders, process, step);
        return;
    }
    step_begin(process, step);
    if (call->arguments != NULL && found.kind == TRACE_STEP_WORK)
        held_keep(process, step, call);
    else if (call->arguments != NULL && found.kind == TRACE_STEP_COPY)
        batch_keep(process, step, call);
    orders->stream = step->stream;
    orders->index = step->index;
    heap_push(process, step);
}

/* Frees everything but what is complete. */
static void process_clear(struct order_process *process)
{
    for (uint32_t i = 1; i <= process->stream_count; i++) {
        struct order_stream *stream = order_stream_at(process, i);
        for (size_t k = 0; stream->links != NULL && k < KEPT_WAITS; k++)
            order_event_unref(process, stream->links->waits[k].event);
        free(stream->links);
        trace_clock_clear(&stream->clock);
        free(stream);
    }
    for (size_t i = 0; i < process->capture_count; i++)
        order_recording_free(process, process->captures[i]);
    for (struct order_handle *one = NULL; (one = trace_table_next(&process->handles, one)) != NULL;)
        order_recording_free(process, one->recording);
    for (struct order_handle *one = NULL; (one = trace_table_next(&process->handles, one)) != NULL;)
        order_event_unref(process, one->event);
    /* Those that are used without memory can have some again. */
    order_recording_clear(process, &process->no_recording);
    trace_clock_clear(&process->no_stream.clock);
    trace_clock_clear(&process->no_actor.clock);
    trace_clock_clear(&process->no_event.clock);
    free(process->no_event.recording);
    free(process->no_event.early);
    for (int i = 0; i < ORDER_LISTS; i++)
        free(process->lists[i].all);
    free(process->streams);
    free(process->legacy);
    free(process->handles.entries);
    free(process->captures);
    free(process->shared);
    free(process->contexts);
    free(process->open);
    free(process->host.complete);
    trace_blocks_free(&process->memories);
    *process = (struct order_process){.orders = process->orders, .known = process->known};
}

void trace_orders_end(struct trace_orders *orders, const struct trace_model *model)
{
    orders->conflict_count = 0;
    for (size_t i = 0; i < orders->process_count; i++) {
        struct order_process *process = orders->processes[i] != NULL ? process_of(orders, model, i) : NULL;
        if (process == NULL)
            continue;
        steps_end(process, UINT64_MAX);
        process_clear(process);
    }
}

bool trace_orders_is_complete(const struct trace_orders *orders, size_t process, uint32_t stream, uint32_t index)
{
    const struct order_process *own = process < orders->process_count ? orders->processes[process] : NULL;
    return own != NULL && stream != 0 && trace_horizon_has(&own->known, stream, index);
}

void trace_orders_free(struct trace_orders *orders)
{
    for (size_t i = 0; i < orders->process_count; i++) {
        struct order_process *process = orders->processes[i];
        if (process == NULL)
            continue;
        while (process->open_count > 0)
            step_free(process, process->open[--process->open_count]);
        process_clear(process);
        free(process->known.complete);
        free(process);
    }
    free(orders->processes);
    free(orders->slots);
    free(orders->conflicts);
    free(orders->early);
    free(orders->places.entries);
    trace_clock_clear(&orders->awaited);
}
