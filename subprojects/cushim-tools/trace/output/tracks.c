/* SPDX-License-Identifier: MIT */
#include "tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct index {
    struct trace_key key;
    size_t track;
};

struct track_event {
    struct trace_key key;
    struct trace_awaited record;
};

void trace_tracks_free(struct trace_tracks *tracks)
{
    free(tracks->all);
    free(tracks->indices.entries);
    free(tracks->events.entries);
}

/* Finds a track, or adds it. Returns its index, or SIZE_MAX if there is not enough memory. */
static size_t track_find(struct trace_tracks *tracks, const struct trace_model *model, const struct trace_call *call,
                         enum trace_kind kind, uint64_t id)
{
    const struct trace_object *stream =
        kind == TRACE_STREAMS ? trace_object_find(model, call->process, TRACE_ROW_STREAM, id) : NULL;
    uint32_t object = stream != NULL ? stream->number : 0;
    struct trace_key key = {id, (uint32_t)call->process, (uint32_t)kind + TRACE_KINDS * object};
    size_t known = tracks->indices.count;
    tracks->indices.size = sizeof(struct index);
    struct index *index = trace_table_add(&tracks->indices, key);
    if (index == NULL || tracks->indices.count == known)
        return index != NULL ? index->track : SIZE_MAX;
    struct trace_track *grown = realloc(tracks->all, tracks->indices.count * sizeof *grown);
    if (grown == NULL)
        return SIZE_MAX;
    tracks->all = grown;
    struct trace_track *track = &grown[index->track = tracks->count++];
    *track = (struct trace_track){.kind = kind, .process = call->process, .id = id};
    if (kind == TRACE_STREAMS)
        track->name = trace_stream_name(model, call->process, id);
    else
        snprintf(track->name.text, sizeof track->name.text, "thread %" PRIu64, id);
    return index->track;
}

/* Ends the capture of a stream, if it has one. */
static void track_capture_end(struct trace_track *stream, uint64_t time, struct trace_effect *effect)
{
    if (!stream->capture.is_active)
        return;
    stream->capture.is_active = false;
    effect->captured = stream->capture;
    effect->captured.end = time;
}

static void track_capture_follow(const struct trace_call *call, const struct trace_role *role,
                                 struct trace_track *stream, struct trace_effect *effect)
{
    bool has_succeeded = call->returned && call->result == CUDA_SUCCESS;
    if (call->result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
        || trace_capture_status(role, call) == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        stream->capture.is_invalidated = true;
    if (role->kind == TRACE_BEGIN_CAPTURE && has_succeeded) {
        track_capture_end(stream, call->begin, effect); /* of an older stream with this handle */
        stream->capture = (struct trace_capture){.begin = call->begin, .is_active = true};
    } else if (role->kind == TRACE_END_CAPTURE && call->returned
               && call->result != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
        stream->capture.is_invalidated |= !has_succeeded;
        track_capture_end(stream, call->end, effect);
    } else if (role->kind == TRACE_DESTROY_STREAM && has_succeeded) {
        track_capture_end(stream, call->end, effect);
    }
}

/* The calls that wait, and what they leave for others to wait for. The event is NULL if the call has none. */
static void track_follow_wait(struct trace_tracks *tracks, const struct trace_role *role,
                              const struct trace_awaited *awaited, bool has_succeeded, size_t process,
                              struct track_event *event, struct trace_effect *effect)
{
    struct trace_track *of_process = &tracks->all[process], *stream = &tracks->all[effect->stream];
    switch (role->kind) {
    case TRACE_SYNCHRONIZE_EVENT:
    case TRACE_WAIT_EVENT:
        if (event != NULL)
            effect->from = event->record;
        break;
    case TRACE_SYNCHRONIZE_STREAM:
        effect->from = stream->last;
        break;
    case TRACE_SYNCHRONIZE_CONTEXT:
        effect->from = of_process->last;
        break;
    case TRACE_RECORD_EVENT:
        if (event != NULL && has_succeeded)
            event->record = *awaited;
        break;
    case TRACE_WORK:
        if (has_succeeded)
            stream->last = of_process->last = *awaited;
        break;
    default:
        break;
    }
}

bool trace_follow(struct trace_tracks *tracks, const struct trace_model *model, const struct trace_call *call,
                  uint64_t number, struct trace_effect *effect)
{
    const struct trace_role *role = &model->roles[call->slot];
    const struct trace_awaited awaited = {number, call->begin, call->process, call->thread};
    size_t process = track_find(tracks, model, call, TRACE_PROCESSES, 0);
    struct track_event *event = NULL;
    *effect = (struct trace_effect){.thread = track_find(tracks, model, call, TRACE_THREADS, (uint64_t)call->thread)};
    if (role->stream >= 0)
        effect->stream = track_find(tracks, model, call, TRACE_STREAMS, trace_stream_of(model, role, call));
    if (role->event >= 0) {
        tracks->events.size = sizeof *event;
        event = trace_table_add(&tracks->events,
                                (struct trace_key){trace_word(call, role->event), (uint32_t)call->process, 1});
    }
    if (process == SIZE_MAX || effect->thread == SIZE_MAX || effect->stream == SIZE_MAX
        || (event == NULL && role->event >= 0))
        return false;
    effect->is_work = role->kind == TRACE_WORK || role->kind == TRACE_RECORD_EVENT || role->kind == TRACE_WAIT_EVENT
                      || role->kind == TRACE_BEGIN_CAPTURE || role->kind == TRACE_END_CAPTURE
                      || role->kind == TRACE_SYNCHRONIZE_STREAM;
    if (effect->stream != 0)
        track_capture_follow(call, role, &tracks->all[effect->stream], effect);
    track_follow_wait(tracks, role, &awaited, call->returned && call->result == CUDA_SUCCESS, process, event, effect);
    return true;
}
