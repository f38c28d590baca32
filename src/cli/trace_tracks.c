/* SPDX-License-Identifier: MIT */
/* The tracks of a trace, which are its threads and its streams; the captures; and for which call a call waits. */
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a function does to a stream or an event. */
enum action { ACTION_NONE, ACTION_WORK, ACTION_RECORD, ACTION_WAIT, ACTION_BEGIN, ACTION_END, ACTION_LOOK };

struct track_role {
    enum action action;
    size_t stream, event, status; /* the indices of these fields, from 1; 0: it has none */
};

/* The first row whose name the function's begins with. Others that take a stream give it work. */
static const struct {
    const char *name;
    enum action action;
} actions[] = {
    {"cuEventRecord", ACTION_RECORD},         {"cuEventSynchronize", ACTION_WAIT},
    {"cuStreamWaitEvent", ACTION_WAIT},       {"cuStreamSynchronize", ACTION_WAIT},
    {"cuCtxSynchronize", ACTION_WAIT},        {"cuStreamBeginCapture", ACTION_BEGIN},
    {"cuStreamBeginRecapture", ACTION_BEGIN}, {"cuStreamEndCapture", ACTION_END},
    {"cuStreamIsCapturing", ACTION_LOOK},     {"cuStreamGet", ACTION_LOOK},
    {"cuStreamQuery", ACTION_LOOK},           {"cuStreamSet", ACTION_LOOK},
    {"cuStreamCopyAttributes", ACTION_LOOK},  {"cuStreamUpdateCaptureDependencies", ACTION_LOOK},
    {"cuStreamCreate", ACTION_LOOK},          {"cuStreamDestroy", ACTION_LOOK},
};

static struct track_role role_of(const struct trace_slot *slot)
{
    struct track_role role = {.action = ACTION_NONE};
    for (size_t i = slot->field_count; i-- > 0;) {
        const struct trace_slot_field *field = &slot->fields[i];
        bool is_value = field->kind == TRACE_VALUE, is_out = field->kind == TRACE_OUT;
        if ((is_value && strcmp(field->type, "CUstream") == 0) || (is_out && strcmp(field->type, "CUstream *") == 0))
            role.stream = i + 1;
        else if (is_value && strcmp(field->type, "CUevent") == 0)
            role.event = i + 1;
        else if (is_out && strcmp(field->type, "CUstreamCaptureStatus *") == 0)
            role.status = i + 1;
    }
    if (role.stream != 0)
        role.action = ACTION_WORK;
    for (size_t i = sizeof actions / sizeof actions[0]; i-- > 0;) {
        if (strncmp(slot->function, actions[i].name, strlen(actions[i].name)) == 0)
            role.action = actions[i].action;
    }
    return role;
}

bool trace_tracks_start(struct trace_tracks *tracks, const struct trace_reader *reader)
{
    *tracks = (struct trace_tracks){.roles = calloc(reader->slot_count + 1, sizeof *tracks->roles)};
    for (size_t i = 0; tracks->roles != NULL && i < reader->slot_count; i++)
        tracks->roles[i] = role_of(&reader->slots[i]);
    return tracks->roles != NULL;
}

void trace_tracks_end(struct trace_tracks *tracks)
{
    free(tracks->roles);
    free(tracks->all);
    free(tracks->places);
}

/* ---- objects, found by a hash ---- */

static size_t *place_of(const struct trace_tracks *tracks, enum trace_kind kind, size_t process, uint64_t id)
{
    uint64_t hash = (id ^ (uint64_t)kind << 60 ^ (uint64_t)process << 40) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = (size_t)(hash >> 32);; i++) {
        size_t *place = &tracks->places[i & (tracks->room - 1)];
        const struct trace_track *track = &tracks->all[*place - 1];
        if (*place == 0 || (track->id == id && track->kind == kind && track->process == process))
            return place;
    }
}

static bool tracks_grow(struct trace_tracks *tracks)
{
    size_t room = tracks->room == 0 ? 64 : 2 * tracks->room;
    struct trace_track *all = realloc(tracks->all, room / 2 * sizeof *all);
    if (all != NULL)
        tracks->all = all;
    size_t *places = all != NULL ? calloc(room, sizeof *places) : NULL;
    if (places == NULL)
        return false;
    free(tracks->places);
    tracks->places = places;
    tracks->room = room;
    for (size_t i = 0; i < tracks->count; i++)
        *place_of(tracks, all[i].kind, all[i].process, all[i].id) = i + 1;
    return true;
}

/* Finds an object, or adds it. Returns its index, or SIZE_MAX if there is not enough memory. */
static size_t track_find(struct trace_tracks *tracks, enum trace_kind kind, size_t process, uint64_t id)
{
    if (2 * tracks->count >= tracks->room && !tracks_grow(tracks))
        return SIZE_MAX;
    size_t *place = place_of(tracks, kind, process, id);
    if (*place == 0) {
        unsigned number = kind == TRACE_STREAMS && id <= 2 ? 0 : ++tracks->numbers[kind];
        tracks->all[tracks->count] = (struct trace_track){.kind = kind, .process = process, .id = id, .number = number};
        *place = ++tracks->count;
    }
    return *place - 1;
}

/* ---- calls ---- */

/* The value of a field, or 0. */
static uint64_t value_of(const struct trace_reader *reader, const struct trace_call *call, size_t index)
{
    const struct trace_slot *slot = &reader->slots[call->slot];
    const uint64_t *at = call->fields, *end = call->fields + call->words;
    for (size_t i = 0; i < index; i++) {
        size_t words = trace_field_words(&slot->fields[i], at, (size_t)(end - at));
        if (words == 0)
            break;
        if (i + 1 == index) {
            at = trace_field_value(&slot->fields[i], at, call->returned && call->result == CUDA_SUCCESS);
            return at != NULL ? *at : 0;
        }
        at += words;
    }
    return 0;
}

/* Ends the capture of a stream, if it has one. */
static void capture_end(struct trace_track *stream, uint64_t time, struct trace_effect *effect)
{
    if (!stream->capture.is_active)
        return;
    stream->capture.is_active = false;
    effect->captured = stream->capture;
    effect->captured.end = time;
}

static void capture_follow(const struct trace_reader *reader, const struct trace_call *call,
                           const struct track_role *role, struct trace_track *stream, struct trace_effect *effect)
{
    bool has_succeeded = call->returned && call->result == CUDA_SUCCESS;
    if (call->result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
        || value_of(reader, call, role->status) == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        stream->capture.is_invalidated = true;
    if (role->action == ACTION_BEGIN && has_succeeded) {
        capture_end(stream, call->begin, effect); /* of an older stream with this handle */
        stream->capture = (struct trace_capture){.begin = call->begin, .is_active = true};
    } else if (role->action == ACTION_END && call->returned && call->result != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
        stream->capture.is_invalidated |= !has_succeeded;
        capture_end(stream, call->end, effect);
    }
}

bool trace_follow(struct trace_tracks *tracks, const struct trace_reader *reader, const struct trace_call *call,
                  uint64_t number, struct trace_effect *effect)
{
    const struct track_role *role = &tracks->roles[call->slot];
    const struct trace_place place = {number, call->begin, call->process, call->thread};
    bool has_succeeded = call->returned && call->result == CUDA_SUCCESS;
    uint64_t handle = value_of(reader, call, role->stream), handle_event = value_of(reader, call, role->event);
    if (role->stream != 0 && handle == 0 && reader->slots[call->slot].fields[role->stream - 1].kind == TRACE_VALUE)
        handle = call->kind == CUSHIM_DEFAULT_STREAM_LEGACY ? 1 : 2;

    size_t process = track_find(tracks, TRACE_PROCESSES, call->process, 0);
    size_t event = handle_event != 0 ? track_find(tracks, TRACE_EVENTS, call->process, handle_event) : 0;
    *effect = (struct trace_effect){
        .thread = track_find(tracks, TRACE_THREADS, call->process, (uint64_t)call->thread),
        .has_stream = handle != 0,
        .stream = handle != 0 ? track_find(tracks, TRACE_STREAMS, call->process, handle) : 0,
        .is_work = role->action != ACTION_LOOK,
    };
    if (process == SIZE_MAX || event == SIZE_MAX || effect->thread == SIZE_MAX || effect->stream == SIZE_MAX)
        return false;
    struct trace_place *of_process = &tracks->all[process].last, *of_event = &tracks->all[event].last;
    struct trace_place *of_stream = &tracks->all[effect->stream].last;
    if (handle != 0)
        capture_follow(reader, call, role, &tracks->all[effect->stream], effect);
    if (role->action == ACTION_WAIT)
        effect->from = *(handle_event != 0 ? of_event : handle != 0 ? of_stream : of_process);
    if (role->action == ACTION_RECORD && has_succeeded && handle_event != 0)
        *of_event = place;
    if (role->action == ACTION_WORK && has_succeeded && handle != 0)
        *of_stream = *of_process = place;
    return true;
}

struct trace_text trace_track_name(const struct trace_track *track)
{
    struct trace_text name;
    if (track->kind == TRACE_THREADS)
        snprintf(name.text, sizeof name.text, "thread %" PRIu64, track->id);
    else if (track->id <= 2)
        snprintf(name.text, sizeof name.text, "%s default stream", track->id == 1 ? "legacy" : "per-thread");
    else
        snprintf(name.text, sizeof name.text, "stream %u (0x%" PRIx64 ")", track->number, track->id);
    return name;
}
