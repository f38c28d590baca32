/* SPDX-License-Identifier: MIT */
/* Events: what their records order, which waits wait for nothing, and what stands in place of a missing wait. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* ---- events ---- */

struct order_event *order_event_of(struct order_process *process, uint64_t handle)
{
    struct order_handle *found = order_handle_of(process, ORDER_EVENT, handle);
    if (found->event != NULL)
        return found->event;
    if (found == &process->no_handle)
        return &process->no_event;
    found->event = calloc(1, sizeof *found->event);
    order_fail_unless(process, found->event != NULL);
    if (found->event == NULL)
        return &process->no_event;
    found->event->references = 1;
    found->event->is_shared = true; /* no recorded call has created it */
    return found->event;
}

static void place_mark(struct order_process *process, const struct order_event *event, bool is_recorded)
{
    struct trace_table *places = &process->orders->places;
    places->size = sizeof(struct trace_event_place);
    struct trace_event_place *place = event->place.kind != 0 ? trace_table_add(places, event->place) : NULL;
    order_fail_unless(process, place != NULL || event->place.kind == 0);
    if (place == NULL)
        return;
    place->is_recorded |= is_recorded;
    place->is_awaited |= !is_recorded;
}

/* Keeps what an event that is no more has shown. */
static void early_keep(struct order_process *process, const struct order_event *event)
{
    struct trace_orders *orders = process->orders;
    bool is_swapped = event->swapped[0].call != 0;
    if (event->is_shared || process->can_record_unseen
        || (!is_swapped && (event->is_recorded || event->early_count == 0)))
        return;
    struct trace_early_wait *grown = realloc(orders->early, (orders->early_count + 1) * sizeof *grown);
    order_fail_unless(process, grown != NULL);
    if (grown == NULL)
        return;
    orders->early = grown;
    grown[orders->early_count] = (struct trace_early_wait){
        .event = event->number, .place = event->place, .count = is_swapped ? 1 : event->early_count};
    grown[orders->early_count].wait = is_swapped ? event->swapped[0] : event->early[0].moment;
    grown[orders->early_count++].record = event->swapped[1]; /* analyzer: trace_orders_free() frees it */
}

void order_event_unref(struct order_process *process, struct order_event *event)
{
    if (event == NULL || event == &process->no_event || --event->references > 0)
        return;
    if (!process->orders->has_failed)
        early_keep(process, event);
    trace_clock_clear(&event->clock);
    free(event->recording);
    free(event->early);
    free(event);
}

void order_event_create(struct order_process *process, const struct trace_step *step)
{
    struct order_handle *found = order_handle_of(process, ORDER_EVENT, step->handle);
    order_event_unref(process, found->event);
    found->event = NULL;
    struct order_event *event = order_event_of(process, step->handle);
    event->number = step->number;
    event->is_shared = step->is_foreign;
    event->place = (struct trace_key){step->moment.site, (uint32_t)process->number, 1 + step->moment.slot};
}

void order_event_destroy(struct order_process *process, uint64_t handle)
{
    struct order_handle *found = order_handle_of(process, ORDER_EVENT, handle);
    order_event_unref(process, found->event);
    found->event = NULL;
}

static struct order_links *links_of(struct order_process *process, struct order_stream *stream)
{
    if (stream->links == NULL && stream->id != 0)
        stream->links = calloc(1, sizeof *stream->links); /* analyzer: trace_orders_free() frees it */
    order_fail_unless(process, stream->links != NULL);
    return stream->links;
}

/* ---- records ---- */

/* A call, or a launch of a graph, records the event. */
void order_event_set_recorded(struct order_process *process, struct order_event *event)
{
    event->is_recorded = true;
    place_mark(process, event, true);
}

void order_event_add_record(struct order_process *process, struct order_event *event, struct order_stream *stream,
                            uint64_t begin)
{
    struct order_links *links = links_of(process, stream);
    const struct order_record record = {stream->id, stream->count, event->number, begin};
    event->records[event->record_count++ % KEPT_RECORDS] = record;
    if (links != NULL)
        links->records[links->record_count++ % KEPT_RECORDS] = record;
    event->clock.count = 0;
    event->is_of_capture = false;
    order_event_set_recorded(process, event);
    order_fail_unless(process, trace_clock_join(&event->clock, &stream->clock, &process->known));
}

void order_record_begin(struct order_process *process, struct order_step *step)
{
    struct order_event *event = step->events[0];
    uint32_t *grown = realloc(event->recording, (event->recording_count + 1) * sizeof *grown);
    order_fail_unless(process, grown != NULL);
    if (grown == NULL)
        return;
    event->recording = grown;
    grown[event->recording_count++] = step->stream;
}

static void recording_remove(struct order_event *event, uint32_t stream)
{
    for (size_t i = 0; i < event->recording_count; i++) {
        if (event->recording[i] == stream) {
            event->recording[i] = event->recording[--event->recording_count];
            return;
        }
    }
}

/* A record in a capture, or a node of its graph that records the event. */
static void record_capture(struct order_process *process, const struct order_step *step)
{
    struct order_event *event = step->events[0];
    struct order_recording *recording = order_capture_of(process, step->step.capture);
    order_event_set_recorded(process, event);
    if ((step->step.flags & CU_EVENT_RECORD_EXTERNAL) != 0) {
        order_recording_add_event(process, &recording->records, &recording->record_count, event);
        return;
    }
    event->is_of_capture = true;
    event->clock.count = 0;
    order_fail_unless(process,
                      trace_clock_join(&event->clock, &order_actor_of(process, recording, step->stream)->clock, NULL));
}

/* Whether the waits of an event before its first record were meant for the work that this record is behind: the work is
 * older than the wait, and the stream that waited still does not know of it. */
static void swapped_find(struct order_process *process, const struct order_step *step, struct order_stream *stream)
{
    struct order_event *event = step->events[0];
    for (uint64_t i = 0; !event->is_recorded && i < event->early_count && i < KEPT_EARLY; i++) {
        const struct order_early *early = &event->early[i];
        if (early->stream == 0 || early->stream == stream->id || stream->last_work == 0
            || stream->last_work > early->step || trace_horizon_has(&process->host, stream->id, stream->count)
            || trace_clock_find(&order_stream_at(process, early->stream)->clock, trace_tick_key(stream->id, false))
                   >= stream->count)
            continue;
        event->swapped[0] = early->moment;
        event->swapped[1] = step->step.moment;
    }
}

void order_record_end(struct order_process *process, struct order_step *step)
{
    struct order_event *event = step->events[0];
    struct order_stream *stream = order_stream_at(process, step->stream);
    recording_remove(event, step->stream);
    if (step->step.capture != 0) {
        record_capture(process, step);
        return;
    }
    order_arrive(process, stream);
    swapped_find(process, step, stream);
    order_event_add_record(process, event, stream, step->step.moment.begin);
    if (event->is_shared)
        order_host_join(process, &stream->clock);
}

/* ---- waits ---- */

static void early_add(struct order_process *process, const struct order_step *step, struct order_event *event,
                      uint32_t stream)
{
    if (event->early == NULL)
        event->early = calloc(KEPT_EARLY, sizeof *event->early); /* analyzer: trace_orders_free() frees it */
    order_fail_unless(process, event->early != NULL);
    if (event->early == NULL)
        return;
    if (event->early_count < KEPT_EARLY)
        event->early[event->early_count] = (struct order_early){stream, process->steps, step->step.moment};
    event->early_count++;
}

/* A call, or a launch of a graph, waits for the event. */
void order_event_set_awaited(struct order_process *process, struct order_event *event)
{
    if (!event->is_recorded)
        return;
    event->swapped[0].call = 0;
    place_mark(process, event, false);
}

bool order_event_is_doubted(const struct order_process *process, const struct order_event *event)
{
    return event->is_shared || event->is_of_capture || (!event->is_recorded && process->can_record_unseen);
}

void order_await_event(struct order_process *process, struct order_step *step, struct order_event *event)
{
    for (size_t i = 0; i < event->recording_count; i++)
        order_host_join(process, &order_stream_at(process, event->recording[i])->clock);
    if (event->is_shared || (!event->is_recorded && process->can_record_unseen))
        order_host_join_all(process, ORDER_NO_CONTEXT, false);
    if (event->is_recorded && !event->is_of_capture) {
        order_event_set_awaited(process, event);
        order_host_join(process, &event->clock);
    } else if (!event->is_recorded && process->model->roles[step->step.moment.slot].kind == TRACE_SYNCHRONIZE_EVENT) {
        early_add(process, step, event, 0);
    }
}

/* A wait in a capture, or one that joins it. Returns false if it is another one. */
static bool wait_capture(struct order_process *process, struct order_step *step)
{
    struct order_event *event = step->events[0];
    bool is_external = (step->step.flags & CU_EVENT_WAIT_EXTERNAL) != 0;
    struct order_recording *recording;
    if (event->is_of_capture || step->step.capture != 0)
        order_event_set_awaited(process, event);
    if (event->is_of_capture && !is_external) {
        recording = order_capture_find(process, step->step.of_event);
        if (recording == NULL)
            order_doubt(process, order_stream_at(process, step->stream));
        else
            order_fail_unless(process, trace_clock_join(&order_actor_of(process, recording, step->stream)->clock,
                                                        &event->clock, NULL));
        return true;
    }
    if (step->step.capture == 0)
        return false;
    recording = order_capture_of(process, step->step.capture);
    order_recording_add_event(process, &recording->waits, &recording->wait_count, event);
    return true;
}

static void wait_keep(struct order_process *process, const struct order_step *step, struct order_event *event)
{
    struct order_links *links = links_of(process, order_stream_at(process, step->stream));
    if (links == NULL)
        return;
    struct order_wait *wait = &links->waits[links->wait_count++ % KEPT_WAITS];
    order_event_unref(process, wait->event);
    event->references++;
    *wait = (struct order_wait){.event = event, .begin = step->step.moment.begin};
    if (event->record_count > 0)
        wait->record = event->records[(event->record_count - 1) % KEPT_RECORDS];
}

void order_wait_end(struct order_process *process, struct order_step *step)
{
    struct order_event *event = step->events[0];
    struct order_stream *stream = order_stream_at(process, step->stream);
    for (size_t i = 0; step->step.capture == 0 && i < event->recording_count; i++) /* by other threads, now */
        order_fail_unless(
            process,
            trace_clock_join(&stream->clock, &order_stream_at(process, event->recording[i])->clock, &process->known));
    if (wait_capture(process, step))
        return;
    order_arrive(process, stream);
    wait_keep(process, step, event);
    if (order_event_is_doubted(process, event)) {
        order_doubt(process, stream);
    } else if (!event->is_recorded) {
        early_add(process, step, event, stream->id);
    } else {
        order_event_set_awaited(process, event);
        order_fail_unless(process, trace_clock_join(&stream->clock, &event->clock, &process->known));
    }
    order_changed(process, stream);
}

/* The event of all streams of a context. */
void order_context_event(struct order_process *process, struct order_step *step)
{
    struct order_event *event = step->events[0];
    bool is_record = step->step.kind == TRACE_STEP_RECORD_CONTEXT;
    if (is_record) {
        event->clock.count = 0;
        event->is_of_capture = false;
        order_event_set_recorded(process, event);
    } else {
        order_event_set_awaited(process, event);
    }
    for (uint32_t i = 1; i <= process->stream_count; i++) {
        struct order_stream *stream = order_stream_at(process, i);
        order_fail_unless(process, trace_clock_join(is_record ? &event->clock : &stream->clock,
                                                    is_record ? &stream->clock : &event->clock, &process->known));
        if (!is_record)
            order_changed(process, stream);
    }
}

/* ---- what stands in place of a wait ---- */

/* The first record in a stream that is behind a work of it, of the newest records. */
static const struct order_record *record_behind(const struct order_record *records, uint32_t count, uint32_t stream,
                                                uint32_t index)
{
    const struct order_record *found = NULL;
    for (uint32_t i = 0; i < count && i < KEPT_RECORDS; i++) {
        if (records[i].stream == stream && records[i].index >= index
            && (found == NULL || records[i].begin < found->begin))
            found = &records[i];
    }
    return found;
}

/* Whether a wait explains why the conflict is there. */
static bool missing_find_wait(struct trace_conflict *conflict, const struct order_wait *wait)
{
    const struct trace_access *first = &conflict->first;
    const struct order_record *behind =
        record_behind(wait->event->records, wait->event->record_count, first->stream, first->index);
    const struct order_record *record = &wait->record;
    if (record->stream == 0 && behind != NULL) {
        conflict->missing = TRACE_WAIT_TOO_EARLY;
        conflict->time = wait->begin;
    } else if (record->stream == first->stream && record->index < first->index && wait->begin > first->moment.begin) {
        conflict->missing = behind == NULL ? TRACE_RECORD_TOO_EARLY : TRACE_WAIT_TOO_EARLY;
        conflict->time = behind == NULL ? record->begin : wait->begin;
    } else if (record->stream != 0 && behind != NULL && behind->begin < record->begin) {
        conflict->missing = TRACE_RECORDED_AGAIN;
        conflict->time = record->begin;
    } else {
        return false;
    }
    conflict->event = wait->event->number;
    return true;
}

void order_find_missing(struct order_process *process, struct trace_conflict *conflict)
{
    const struct order_links *first = order_stream_at(process, conflict->first.stream)->links;
    const struct order_links *second = order_stream_at(process, conflict->second.stream)->links;
    uint32_t waits = second == NULL ? 0 : second->wait_count < KEPT_WAITS ? second->wait_count : KEPT_WAITS;
    conflict->missing = TRACE_NO_RECORD;
    for (uint32_t i = 1; i <= waits; i++) {
        if (missing_find_wait(conflict, &second->waits[(second->wait_count - i) % KEPT_WAITS]))
            return;
    }
    const struct order_record *behind = first != NULL ? record_behind(first->records, first->record_count,
                                                                      conflict->first.stream, conflict->first.index)
                                                      : NULL;
    if (behind != NULL) {
        conflict->missing = TRACE_NO_WAIT;
        conflict->event = behind->event;
        conflict->time = behind->begin;
    }
}
