/* SPDX-License-Identifier: MIT */
/*
 * Which call invalidated a capture. tests/conformance/CAPTURE.md has the rules of the driver that are used here.
 *
 * A call that invalidates a capture fails with a code of captures. So the first such call after the last proof that the
 * capture was active did it, if its thread, the mode and its stream allow that. Calls of several threads overlap, so
 * that several calls can be possible; then all of them are named.
 */
#include "findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 3, MOST_SUSPECTS = 10000 };
enum { STATE_OF_STREAM = 1, STATE_OF_EVENT, STATE_OF_THREAD };

/* A stream, an event or a thread. */
struct state {
    struct trace_key key;
    uint64_t capture; /* to which the stream belongs, or that recorded the event; 0: none */
    unsigned mode;    /* of a thread */
    enum { BLOCKING_UNKNOWN, BLOCKING, NON_BLOCKING } blocking;
};

struct capture {
    uint64_t number;
    uint64_t stream;
    unsigned mode;
    struct trace_moment began, ended; /* ended.call is 0 while it is not */
    uint64_t active;                  /* the begin of the last call that shows that it was active */
    struct trace_moment lost;         /* the first call that shows that it was not; its call is 0 if there is none */
    bool is_blocking;                 /* whether it can have blocking streams */
};

/* A call that failed with a code of captures. */
struct suspect {
    struct trace_moment moment;
    unsigned thread_mode;
    uint64_t stream;                 /* 0: none */
    uint64_t capture, event_capture; /* to which its stream and its event belong */
    const struct trace_role *role;
};

struct trace_captures {
    struct trace_table states;
    struct capture *list; /* those that are active, and those whose end overlaps calls that were not read yet */
    size_t count;
    uint64_t began; /* the number of captures */
    uint64_t due;   /* when the first of the ended ones has no overlapping call any more */
    struct suspect *suspects;
    size_t suspect_count;
};

static struct state *state_of(struct trace_findings *findings, const struct trace_call *call, uint32_t kind,
                              uint64_t id)
{
    struct trace_key key = {.id = id, .process = (uint32_t)call->process, .kind = kind};
    struct state *state = trace_table_add(&findings->captures->states, key);
    findings->failed |= state == NULL;
    return state;
}

static uint64_t capture_number(const struct trace_captures *captures, size_t process, uint32_t kind, uint64_t id)
{
    const struct state *state = trace_table_find(&captures->states, (struct trace_key){id, (uint32_t)process, kind});
    return state != NULL ? state->capture : 0;
}

static struct capture *capture_find(const struct trace_captures *captures, uint64_t number)
{
    for (size_t i = 0; number != 0 && i < captures->count; i++) {
        if (captures->list[i].number == number && captures->list[i].ended.call == 0)
            return &captures->list[i];
    }
    return NULL;
}

/* ---- the verdict ---- */

/* Why a call can have invalidated a capture, or NULL. */
static const char *rule_of(const struct capture *capture, const struct suspect *suspect)
{
    bool is_on_it = suspect->capture == capture->number,
         is_own_thread = suspect->moment.thread == capture->began.thread;
    switch (suspect->moment.result) {
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
        return is_on_it ? "a capture must end on the stream on which it began" : NULL;
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
        return is_on_it ? "its stream would wait for work that is not in the capture" : NULL;
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
        return is_on_it || suspect->event_capture == capture->number ? "it would merge two captures" : NULL;
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return suspect->event_capture == capture->number ? "the legacy stream would wait for the capture"
               : capture->is_blocking ? "work in the legacy stream ends the captures of blocking streams, in every mode"
                                      : NULL;
    case CUDA_ERROR_CAPTURED_EVENT:
        return suspect->event_capture == capture->number ? "the capture recorded the event" : NULL;
    case CUDA_ERROR_INVALID_VALUE:
        return is_on_it ? "an ended capture recorded the event" : NULL;
    default:
        break;
    }
    if (is_on_it)
        return "no mode permits it on a stream of the capture";
    if (suspect->role->no_mode_permits)
        return "no mode permits it";
    if (suspect->capture != 0 && suspect->role->is_of_stream_alone)
        return NULL;
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED || suspect->thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return NULL;
    if (is_own_thread)
        return "unsafe in the thread that began the capture, unless a mode is relaxed";
    return capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && suspect->thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL
               ? "unsafe in every thread of the process during a global capture"
               : NULL;
}

/* Whether it must have met the capture, and not only can. */
static bool suspect_is_strong(const struct capture *capture, const struct suspect *suspect)
{
    return suspect->moment.begin >= capture->began.end
           && (suspect->capture == 0 || suspect->capture == capture->number);
}

/* "stream 3 (global mode, from 0.000123 s by thread 7)" */
static void capture_name(const struct trace_findings *findings, const struct capture *capture, char *text, size_t size)
{
    static const char *const modes[] = {"global", "thread-local", "relaxed"};
    snprintf(text, size, "the capture of %s (%s mode, from %.6f s on, by thread %ld)",
             trace_stream_name(findings, capture->began.process, capture->stream).text,
             capture->mode < 3 ? modes[capture->mode] : "unknown", (double)capture->began.begin / 1e9,
             capture->began.thread);
}

/* Names the calls that can have done it: the first one that must have, if no earlier one has, and those before. */
static void capture_accuse(struct trace_findings *findings, const struct trace_reader *reader,
                           const struct capture *capture, const char *name)
{
    const struct trace_captures *captures = findings->captures;
    const struct trace_moment *proof = capture->lost.call != 0 ? &capture->lost : &capture->ended;
    const struct suspect *first = NULL;
    uint64_t limit = proof->end;
    size_t possible = 0;
    char others[512] = "";
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < captures->suspect_count; i++) {
            const struct suspect *suspect = &captures->suspects[i];
            const struct trace_moment *moment = &suspect->moment;
            if (moment->process != capture->began.process || moment->end < capture->active || moment->begin > limit
                || rule_of(capture, suspect) == NULL)
                continue;
            if (pass == 0 && suspect_is_strong(capture, suspect) && moment->end < limit)
                limit = moment->end;
            if (pass == 1 && possible++ == 0)
                first = suspect;
            else if (pass == 1 && possible <= MOST_NAMED)
                snprintf(others + strlen(others), sizeof others - strlen(others), ", or %s of thread %ld at %.6f s",
                         reader->slots[moment->slot].function, moment->thread, (double)moment->begin / 1e9);
        }
    }
    if (possible > MOST_NAMED)
        snprintf(others + strlen(others), sizeof others - strlen(others), ", or one of %zu more",
                 possible - MOST_NAMED);
    if (first == NULL)
        trace_finding_add(findings, TRACE_FINDING_CAPTURE, proof,
                          "%s was invalidated between %.6f s and %.6f s, but no recorded call can have done it", name,
                          (double)capture->active / 1e9, (double)proof->end / 1e9);
    else if (possible == 1)
        trace_finding_add(findings, TRACE_FINDING_CAPTURE, &first->moment, "%s invalidated %s: %s; it returned %s",
                          reader->slots[first->moment.slot].function, name, rule_of(capture, first),
                          trace_result(first->moment.result).text);
    else
        trace_finding_add(findings, TRACE_FINDING_CAPTURE, &first->moment,
                          "%s%s invalidated %s: each of them can have done it",
                          reader->slots[first->moment.slot].function, others, name);
}

static void capture_judge(struct trace_findings *findings, const struct trace_reader *reader,
                          const struct capture *capture)
{
    char name[160];
    capture_name(findings, capture, name, sizeof name);
    if (capture->ended.result == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        trace_finding_add(findings, TRACE_FINDING_CAPTURE, &capture->ended,
                          "%s ended %s without a graph: another thread can end it only in relaxed mode",
                          reader->slots[capture->ended.slot].function, name);
    else if (capture->ended.result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || capture->lost.call != 0)
        capture_accuse(findings, reader, capture, name);
}

/* Judges the ended captures that no call before `now` overlaps, and forgets calls that are too old for others. */
static void captures_settle(struct trace_findings *findings, const struct trace_reader *reader, uint64_t now)
{
    struct trace_captures *captures = findings->captures;
    size_t kept = 0;
    uint64_t oldest = now;
    captures->due = UINT64_MAX;
    for (size_t i = 0; i < captures->count; i++) {
        struct capture capture = captures->list[i];
        if (capture.ended.call != 0 && capture.ended.end < now) {
            capture_judge(findings, reader, &capture);
            continue;
        }
        if (capture.ended.call != 0 && capture.ended.end < captures->due)
            captures->due = capture.ended.end;
        if (capture.active < oldest)
            oldest = capture.active;
        captures->list[kept++] = capture;
    }
    captures->count = kept;
    kept = 0;
    for (size_t i = 0; i < captures->suspect_count; i++) {
        if (captures->suspects[i].moment.end >= oldest)
            captures->suspects[kept++] = captures->suspects[i];
    }
    captures->suspect_count = kept;
}

/* ---- following the calls ---- */

static void capture_begin(struct trace_findings *findings, const struct trace_call *call, const struct trace_role *role)
{
    struct trace_captures *captures = findings->captures;
    struct state *stream = state_of(findings, call, STATE_OF_STREAM, trace_stream_of(findings, role, call));
    struct capture *grown = realloc(captures->list, (captures->count + 1) * sizeof *grown);
    if (grown != NULL)
        captures->list = grown;
    if (stream == NULL || grown == NULL) {
        findings->failed = true;
        return;
    }
    stream->capture = ++captures->began;
    grown[captures->count++] = (struct capture){
        .number = captures->began,
        .stream = stream->key.id,
        .mode = role->value >= 0 ? (unsigned)trace_word(call, role->value) : CU_STREAM_CAPTURE_MODE_GLOBAL,
        .began = trace_moment_of(findings, call),
        .active = call->begin,
        .is_blocking = stream->blocking != NON_BLOCKING, /* the per-thread stream blocks, too */
    };
}

/* All its streams leave it: their states keep its number, which nobody has then. */
static void capture_end(struct trace_findings *findings, struct capture *capture, const struct trace_call *call)
{
    struct trace_captures *captures = findings->captures;
    capture->ended = trace_moment_of(findings, call);
    if (capture->ended.end < captures->due)
        captures->due = capture->ended.end;
}

static bool ends_capture(unsigned result)
{
    return result == CUDA_SUCCESS || result == CUDA_ERROR_ILLEGAL_STATE
           || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED
           || result == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* What a call shows about the capture of its stream. */
static void capture_follow(struct trace_findings *findings, const struct trace_call *call,
                           const struct trace_role *role, struct capture *capture)
{
    bool has_succeeded = call->result == CUDA_SUCCESS;
    uint64_t status = trace_capture_status(role, call);
    bool is_work = role->kind == TRACE_WORK || role->kind == TRACE_RECORD_EVENT || role->kind == TRACE_WAIT_EVENT;
    if (role->kind == TRACE_END_CAPTURE && ends_capture(call->result)) {
        capture_end(findings, capture, call);
    } else if (call->result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
               || status == CU_STREAM_CAPTURE_STATUS_INVALIDATED) {
        if (capture->lost.call == 0)
            capture->lost = trace_moment_of(findings, call);
    } else if ((has_succeeded && is_work) || status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (capture->lost.call == 0)
            capture->active = call->begin;
    } else if (has_succeeded && role->kind == TRACE_DESTROY_STREAM
               && capture->stream == trace_stream_of(findings, role, call)) {
        capture_end(findings, capture, call);
    }
}

/* A stream joins the capture that recorded the event for which it waits. */
static void event_follow(struct trace_findings *findings, const struct trace_call *call, const struct trace_role *role)
{
    struct trace_captures *captures = findings->captures;
    uint64_t stream = trace_stream_of(findings, role, call), event = trace_word(call, role->event);
    uint64_t of_stream = capture_number(captures, call->process, STATE_OF_STREAM, stream);
    uint64_t of_event = capture_number(captures, call->process, STATE_OF_EVENT, event);
    struct capture *its = capture_find(captures, of_event);
    bool is_external = (trace_word(call, role->value) & 1) != 0;
    struct state *state;
    if (capture_find(captures, of_stream) == NULL)
        of_stream = 0;
    if (role->kind == TRACE_RECORD_EVENT && of_event != of_stream && !is_external) {
        if ((state = state_of(findings, call, STATE_OF_EVENT, event)) != NULL)
            state->capture = of_stream;
    } else if (role->kind == TRACE_WAIT_EVENT && its != NULL && of_stream == 0 && !is_external) {
        if ((state = state_of(findings, call, STATE_OF_STREAM, stream)) != NULL) {
            state->capture = of_event;
            its->is_blocking |= state->blocking != NON_BLOCKING;
        }
    }
}

static void suspect_add(struct trace_findings *findings, const struct trace_reader *reader,
                        const struct trace_call *call, const struct trace_role *role)
{
    struct trace_captures *captures = findings->captures;
    if (captures->suspect_count % 1024 == 0)
        captures_settle(findings, reader, call->begin);
    if (captures->suspect_count >= MOST_SUSPECTS) /* an earlier one did it */
        return;
    struct suspect *grown = realloc(captures->suspects, (captures->suspect_count + 1) * sizeof *grown);
    if (grown == NULL) {
        findings->failed = true;
        return;
    }
    captures->suspects = grown;
    const struct state *thread = trace_table_find(
        &captures->states, (struct trace_key){(uint64_t)call->thread, (uint32_t)call->process, STATE_OF_THREAD});
    struct suspect suspect = {
        .moment = trace_moment_of(findings, call),
        .thread_mode = thread != NULL ? thread->mode : CU_STREAM_CAPTURE_MODE_GLOBAL,
        .stream = role->stream >= 0 ? trace_stream_of(findings, role, call) : 0,
        .event_capture = role->event >= 0
                             ? capture_number(captures, call->process, STATE_OF_EVENT, trace_word(call, role->event))
                             : 0,
        .role = role,
    };
    const struct capture *capture =
        capture_find(captures, capture_number(captures, call->process, STATE_OF_STREAM, suspect.stream));
    suspect.capture = capture != NULL ? capture->number : 0;
    grown[captures->suspect_count++] = suspect;
}

static bool is_suspect(const struct trace_captures *captures, const struct trace_call *call,
                       const struct trace_role *role)
{
    switch (call->result) {
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
        return role->kind != TRACE_BEGIN_CAPTURE;
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
        return true;
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return role->kind != TRACE_CAPTURE_STATUS && role->kind != TRACE_BEGIN_CAPTURE;
    case CUDA_ERROR_CAPTURED_EVENT:
        return role->kind != TRACE_ELAPSED_TIME;
    case CUDA_ERROR_INVALID_VALUE: /* an event of an ended capture */
        return role->kind == TRACE_WAIT_EVENT
               && capture_number(captures, call->process, STATE_OF_EVENT, trace_word(call, role->event)) != 0;
    default:
        return false;
    }
}

void trace_captures_read(struct trace_findings *findings, const struct trace_reader *reader,
                         const struct trace_call *call, const struct trace_role *role)
{
    struct trace_captures *captures = findings->captures;
    struct state *state;
    if (captures == NULL) {
        if ((findings->captures = captures = calloc(1, sizeof *captures)) == NULL) {
            findings->failed = true;
            return;
        }
        captures->states.size = sizeof *state;
        captures->due = UINT64_MAX;
    }
    if (call->begin > captures->due)
        captures_settle(findings, reader, call->begin);
    if (!call->returned)
        return;
    if (call->result != CUDA_SUCCESS && is_suspect(captures, call, role))
        suspect_add(findings, reader, call, role);
    struct capture *capture = role->stream >= 0 && captures->count > 0
                                  ? capture_find(captures, capture_number(captures, call->process, STATE_OF_STREAM,
                                                                          trace_stream_of(findings, role, call)))
                                  : NULL;
    if (capture != NULL)
        capture_follow(findings, call, role, capture);
    if (call->result != CUDA_SUCCESS)
        return;
    if (role->kind == TRACE_BEGIN_CAPTURE)
        capture_begin(findings, call, role);
    else if ((role->kind == TRACE_RECORD_EVENT || role->kind == TRACE_WAIT_EVENT) && captures->began > 0)
        event_follow(findings, call, role);
    else if (role->kind == TRACE_EXCHANGE_MODE && role->value >= 0
             && (state = state_of(findings, call, STATE_OF_THREAD, (uint64_t)call->thread)) != NULL)
        state->mode = (unsigned)trace_word(call, role->value);
    else if (role->kind == TRACE_CREATE_STREAM
             && (state = state_of(findings, call, STATE_OF_STREAM, trace_word(call, 1))) != NULL) {
        state->capture = 0;
        state->blocking = (trace_word(call, role->value) & CU_STREAM_NON_BLOCKING) != 0 ? NON_BLOCKING : BLOCKING;
    } else if (role->kind == TRACE_DESTROY_STREAM
               && (state = state_of(findings, call, STATE_OF_STREAM, trace_stream_of(findings, role, call))) != NULL)
        state->capture = 0;
}

void trace_captures_end(struct trace_findings *findings, const struct trace_reader *reader)
{
    struct trace_captures *captures = findings->captures;
    for (size_t i = 0; captures != NULL && i < captures->count; i++)
        capture_judge(findings, reader, &captures->list[i]);
}

void trace_captures_free(struct trace_findings *findings)
{
    if (findings->captures == NULL)
        return;
    free(findings->captures->states.entries);
    free(findings->captures->list);
    free(findings->captures->suspects);
    free(findings->captures);
}
