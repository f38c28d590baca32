/* SPDX-License-Identifier: MIT */
/* What captures, graphs and executable graphs hold: accesses to memory, and events that they record or wait for. */
#include <stdlib.h>

#include "state.h"

enum { MAX_RECORDED = 512 };

/* ---- parts ---- */

void order_recording_add_event(struct order_process *process, struct order_event ***list, size_t *count,
                               struct order_event *event)
{
    struct order_event **grown = *count < MAX_RECORDED ? realloc(*list, (*count + 1) * sizeof *grown) : NULL;
    order_fail_unless(process, grown != NULL || *count >= MAX_RECORDED);
    if (grown == NULL)
        return;
    *list = grown;
    event->references++;
    grown[(*count)++] = event; /* analyzer: trace_orders_free() frees it */
}

/* A graph that writes the same bytes twice counts once. Of many accesses, the others are left out. */
void order_recording_add(struct order_process *process, struct order_recording *recording,
                         const struct trace_span *span, enum trace_access_kind kind)
{
    for (size_t i = 0; i < recording->access_count; i++) {
        const struct recorded_access *one = &recording->accesses[i];
        if (one->kind == kind && one->span.low == span->low && one->span.high == span->high
            && one->span.pitch == span->pitch && one->span.width == span->width)
            return;
    }
    if (recording->access_count == MAX_RECORDED) {
        recording->left_out++;
        return;
    }
    struct recorded_access *grown = recording->accesses;
    if ((recording->access_count & (recording->access_count + 1)) == 0)
        grown = realloc(grown, 2 * (recording->access_count + 1) * sizeof *grown);
    order_fail_unless(process, grown != NULL);
    if (grown == NULL)
        return;
    recording->accesses = grown;
    grown[recording->access_count++] = (struct recorded_access){*span, kind};
}

static void recording_append(struct order_process *process, struct order_recording *recording,
                             const struct order_recording *other)
{
    if (recording == other)
        return;
    for (size_t i = 0; i < other->access_count; i++) /* analyzer: trace_orders_free() frees it */
        order_recording_add(process, recording, &other->accesses[i].span, other->accesses[i].kind);
    for (size_t i = 0; i < other->record_count; i++)
        order_recording_add_event(process, &recording->records, &recording->record_count, other->records[i]);
    for (size_t i = 0; i < other->wait_count; i++)
        order_recording_add_event(process, &recording->waits, &recording->wait_count, other->waits[i]);
    recording->left_out += other->left_out;
    recording->is_opaque |= other->is_opaque;
}

/* Empties a recording. */
void order_recording_clear(struct order_process *process, struct order_recording *recording)
{
    for (size_t i = 0; i < recording->record_count; i++)
        order_event_unref(process, recording->records[i]);
    for (size_t i = 0; i < recording->wait_count; i++)
        order_event_unref(process, recording->waits[i]);
    for (size_t i = 0; i < recording->actor_count; i++)
        trace_clock_clear(&recording->actors[i].clock);
    free(recording->accesses);
    free(recording->records);
    free(recording->waits);
    free(recording->actors);
    free(recording->compared.all);
    trace_clock_clear(&recording->clock);
    *recording = (struct order_recording){.capture = 0};
}

void order_recording_free(struct order_process *process, struct order_recording *recording)
{
    if (recording == NULL || recording == &process->no_recording)
        return;
    order_recording_clear(process, recording);
    free(recording);
}

/* ---- captures ---- */

struct order_recording *order_capture_find(const struct order_process *process, uint64_t number)
{
    for (size_t i = 0; i < process->capture_count; i++) {
        if (process->captures[i]->capture == number)
            return process->captures[i];
    }
    return NULL;
}

struct order_recording *order_capture_of(struct order_process *process, uint64_t number)
{
    struct order_recording *recording = order_capture_find(process, number);
    if (recording != NULL)
        return recording;
    struct order_recording **grown = realloc(process->captures, (process->capture_count + 1) * sizeof(void *));
    process->captures = grown != NULL ? grown : process->captures;
    recording = grown != NULL ? calloc(1, sizeof *recording) : NULL;
    order_fail_unless(process, recording != NULL);
    if (recording == NULL)
        return &process->no_recording; /* analyzer: trace_orders_free() frees it */
    recording->capture = number;
    return process->captures[process->capture_count++] = recording; /* analyzer: trace_orders_free() frees it */
}

struct order_actor *order_actor_of(struct order_process *process, struct order_recording *recording, uint32_t stream)
{
    for (size_t i = 0; i < recording->actor_count; i++) {
        if (recording->actors[i].stream == stream)
            return &recording->actors[i];
    }
    struct order_actor *grown = realloc(recording->actors, (recording->actor_count + 1) * sizeof *grown);
    order_fail_unless(process, grown != NULL);
    if (grown == NULL)
        return &process->no_actor;
    recording->actors = grown;
    grown[recording->actor_count] = (struct order_actor){.stream = stream};
    return &grown[recording->actor_count++];
}

static struct order_recording *graph_of(struct order_process *process, uint32_t kind, uint64_t handle)
{
    struct order_handle *found = order_handle_of(process, kind, handle);
    if (found == &process->no_handle)
        return &process->no_recording;
    if (found->recording == NULL)
        found->recording = calloc(1, sizeof *found->recording);
    order_fail_unless(process, found->recording != NULL);
    return found->recording != NULL ? found->recording : &process->no_recording;
}

/* A call has ended the capture, with a graph or without. */
void order_capture_end(struct order_process *process, const struct order_step *step)
{
    const struct trace_step *call = &step->step;
    struct order_recording *recording = call->capture != 0 ? order_capture_find(process, call->capture) : NULL;
    if (call->kind == TRACE_STEP_END_CAPTURE && !call->has_failed && call->handle != 0) {
        struct order_recording *graph = graph_of(process, ORDER_GRAPH, call->handle);
        if (recording != NULL)
            recording_append(process, graph, recording);
    }
    for (size_t i = 0; recording != NULL && i < process->capture_count; i++) {
        if (process->captures[i] == recording) {
            process->captures[i] = process->captures[--process->capture_count];
            order_recording_free(process, recording);
            break;
        }
    }
}

/* ---- graphs ---- */

/* Returns a graph of which the recorded calls show what it holds; or NULL. */
static struct order_recording *graph_find(struct order_process *process, uint32_t kind, uint64_t handle)
{
    return order_handle_of(process, kind, handle)->recording;
}

static void graph_copy(struct order_process *process, struct order_recording *graph,
                       const struct order_recording *source)
{
    order_recording_clear(process, graph);
    graph->is_opaque = source == NULL;
    if (source != NULL)
        recording_append(process, graph, source);
}

static void graph_destroy(struct order_process *process, uint32_t kind, uint64_t handle)
{
    struct order_handle *found = order_handle_of(process, kind, handle);
    order_recording_free(process, found->recording);
    found->recording = NULL;
}

/* An executable graph stays behind its last launch, also after an update. */
static void graph_update(struct order_process *process, const struct trace_step *step)
{
    struct order_recording *graph = graph_of(process, ORDER_EXECUTABLE, step->handle);
    struct trace_clock clock = graph->clock;
    graph->clock = (struct trace_clock){.ticks = NULL};
    graph_copy(process, graph, graph_find(process, ORDER_GRAPH, step->other));
    graph->clock = clock;
}

static void nodes_change(struct order_recording *graph, const struct trace_step *step)
{
    if (graph == NULL)
        return;
    graph->access_count = 0;
    graph->is_opaque |= step->kind == TRACE_STEP_NODE_CHANGE_OPAQUE;
}

/* A call has changed nodes: those of an executable graph, or of a graph that is not named. */
static void nodes_follow(struct order_process *process, const struct trace_step *step)
{
    if (step->is_of_executable) {
        nodes_change(graph_find(process, ORDER_EXECUTABLE, step->handle), step);
        return;
    }
    for (struct order_handle *one = NULL; (one = trace_table_next(&process->handles, one)) != NULL;) {
        if (one->key.kind == ORDER_GRAPH)
            nodes_change(one->recording, step);
    }
}

static void node_add(struct order_process *process, const struct order_step *step)
{
    struct order_recording *graph = graph_find(process, ORDER_GRAPH, step->step.handle);
    struct order_event *event = step->events[0];
    if (event != NULL && step->step.kind == TRACE_STEP_NODE_RECORD)
        order_event_set_recorded(process, event);
    else if (event != NULL)
        order_event_set_awaited(process, event);
    if (graph == NULL)
        return;
    if (step->step.kind == TRACE_STEP_NODE_OPAQUE || event == NULL)
        graph->is_opaque = true;
    else if (step->step.kind == TRACE_STEP_NODE_RECORD)
        order_recording_add_event(process, &graph->records, &graph->record_count, event);
    else
        order_recording_add_event(process, &graph->waits, &graph->wait_count, event);
}

static void node_add_accesses(struct order_process *process, const struct order_step *step)
{
    struct order_recording *graph = graph_find(process, ORDER_GRAPH, step->step.handle);
    for (size_t i = 0; graph != NULL && i < 2; i++) {
        const struct trace_span *span = &step->step.ends[i];
        if (span->high > span->low)
            order_recording_add(process, graph, span, i == 0 ? TRACE_READS : TRACE_WRITES);
    }
}

void order_graph_follow(struct order_process *process, const struct order_step *step)
{
    const struct trace_step *call = &step->step;
    struct order_recording *graph, *child;
    switch (call->kind) {
    case TRACE_STEP_GRAPH_CREATE:
        order_recording_clear(process, graph_of(process, ORDER_GRAPH, call->handle));
        break;
    case TRACE_STEP_GRAPH_CLONE:
        graph = graph_of(process, ORDER_GRAPH, call->handle);
        graph_copy(process, graph, graph_find(process, ORDER_GRAPH, call->other));
        break;
    case TRACE_STEP_GRAPH_DESTROY:
    case TRACE_STEP_EXECUTABLE_DESTROY:
        graph_destroy(process, call->kind == TRACE_STEP_GRAPH_DESTROY ? ORDER_GRAPH : ORDER_EXECUTABLE, call->handle);
        break;
    case TRACE_STEP_INSTANTIATE:
        graph = graph_of(process, ORDER_EXECUTABLE, call->handle);
        graph_copy(process, graph, graph_find(process, ORDER_GRAPH, call->other));
        break;
    case TRACE_STEP_UPDATE:
        graph_update(process, call);
        break;
    case TRACE_STEP_NODE_COPY:
    case TRACE_STEP_NODE_MEMSET:
        node_add_accesses(process, step);
        break;
    case TRACE_STEP_NODE_CHILD:
        graph = graph_find(process, ORDER_GRAPH, call->handle);
        child = graph_find(process, ORDER_GRAPH, call->other);
        if (graph != NULL && child != NULL)
            recording_append(process, graph, child);
        else if (graph != NULL)
            graph->is_opaque = true;
        break;
    case TRACE_STEP_NODE_RECORD:
    case TRACE_STEP_NODE_WAIT:
    case TRACE_STEP_NODE_OPAQUE:
        node_add(process, step);
        break;
    case TRACE_STEP_NODE_CHANGE:
    case TRACE_STEP_NODE_CHANGE_OPAQUE:
        nodes_follow(process, call);
        break;
    default:
        break;
    }
}

/* ---- launches ---- */

bool order_graph_launch(struct order_process *process, struct order_step *step)
{
    struct order_stream *stream = order_stream_at(process, step->stream);
    struct order_recording *graph = graph_find(process, ORDER_EXECUTABLE, step->step.handle), *capture;
    if (step->step.capture != 0) {
        capture = order_capture_of(process, step->step.capture);
        capture->is_opaque |= graph == NULL;
        if (graph != NULL)
            recording_append(process, capture, graph);
        return true;
    }
    for (size_t i = 0; graph != NULL && i < graph->wait_count; i++)
        order_event_set_awaited(process, graph->waits[i]);
    if (graph == NULL || graph->is_opaque)
        return false;
    order_fail_unless(process, trace_clock_join(&stream->clock, &graph->clock, &process->known));
    for (size_t i = 0; i < graph->wait_count; i++) {
        if (!graph->waits[i]->is_of_capture)
            order_fail_unless(process, trace_clock_join(&stream->clock, &graph->waits[i]->clock, &process->known));
        if (order_event_is_doubted(process, graph->waits[i]))
            order_doubt(process, stream);
    }
    for (size_t i = 0; i < graph->access_count; i++)
        order_access(process, step, &graph->accesses[i].span, graph->accesses[i].kind);
    process->orders->left_out += graph->left_out;
    graph->clock.count = 0;
    order_fail_unless(process, trace_clock_join(&graph->clock, &stream->clock, &process->known));
    for (size_t i = 0; i < graph->record_count; i++)
        order_event_add_record(process, graph->records[i], stream, step->step.moment.begin);
    order_changed(process, stream);
    return true;
}
