/* SPDX-License-Identifier: MIT */
/*
 * Which call invalidated a capture.
 *
 * A call that invalidates a capture fails with a code of captures. So the first such call after the last proof that the
 * capture was active did it, if its thread, the mode and its stream allow that. Calls of several threads overlap, so
 * that several calls can be possible; then all of them are named.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture_rules.h"
#include "finder.h"

enum { MAX_NAMED = 3, MAX_CANDIDATES = 10000 };

/* A call that failed with a code of captures. */
struct candidate {
    struct trace_moment moment;
    unsigned thread_mode, facts;     /* those of the call: capture_rules.h */
    uint64_t capture, event_capture; /* to which its stream and its event belong */
};

struct captures {
    struct trace_stream_capture *ended; /* those whose end overlaps calls that were not read yet */
    size_t ended_count;
    uint64_t due; /* when the first of them has no overlapping call any more */
    struct candidate *candidates;
    size_t candidate_count;
};

/* ---- the verdict ---- */

static const struct trace_rule *rule_of(const struct trace_stream_capture *capture, const struct candidate *candidate)
{
    bool is_relaxed =
        capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED || candidate->thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED;
    bool are_global =
        capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && candidate->thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    unsigned facts = candidate->facts | (candidate->capture == capture->number ? TRACE_ON_IT : 0)
                     | (candidate->event_capture == capture->number ? TRACE_EVENT_OF_IT : 0)
                     | (candidate->moment.thread == capture->began.thread ? TRACE_OWN_THREAD : 0)
                     | (is_relaxed ? TRACE_RELAXED : 0) | (are_global ? TRACE_BOTH_GLOBAL : 0)
                     | (capture->is_blocking ? TRACE_BLOCKING : 0);
    return trace_capture_rule(candidate->moment.result, facts);
}

/* Whether it must have met the capture, and not only can; and whether its code always means that it did. */
static bool candidate_is_strong(const struct trace_stream_capture *capture, const struct candidate *candidate)
{
    return candidate->moment.begin >= capture->began.end
           && (candidate->capture == 0 || candidate->capture == capture->number)
           && candidate->moment.result != CUDA_ERROR_INVALID_HANDLE;
}

/* Whether it can have invalidated the capture, and ended not before this was seen to be active. */
static bool candidate_is_possible(const struct trace_stream_capture *capture, const struct candidate *candidate)
{
    return candidate->moment.process == capture->began.process && candidate->moment.end >= capture->active
           && rule_of(capture, candidate) != NULL;
}

/* "stream 3 (global mode, from 0.000123 s by thread 7)" */
static void capture_name(const struct trace_model *model, const struct trace_stream_capture *capture, char *text,
                         size_t size)
{
    static const char *const modes[] = {"global", "thread-local", "relaxed"};
    snprintf(text, size, "the capture of %s (%s mode, from %.6f s on, by thread %ld)",
             trace_stream_name(model, capture->began.process, capture->stream).text,
             capture->mode < 3 ? modes[capture->mode] : "unknown", (double)capture->began.begin / 1e9,
             capture->began.thread);
}

/* Before this time, the call that did it began: when the first call that must have done it ended, or the first call
 * that shows that the capture was lost. */
static uint64_t candidates_limit(const struct captures *captures, const struct trace_stream_capture *capture,
                                 uint64_t shown)
{
    uint64_t limit = shown;
    for (size_t i = 0; i < captures->candidate_count; i++) {
        const struct candidate *candidate = &captures->candidates[i];
        if (candidate_is_possible(capture, candidate) && candidate->moment.begin <= limit
            && candidate_is_strong(capture, candidate) && candidate->moment.end < limit)
            limit = candidate->moment.end;
    }
    return limit;
}

static bool capture_report_invalidated(const struct captures *captures, const struct trace_model *model,
                                       const struct trace_stream_capture *capture, const char *name,
                                       struct trace_list *list)
{
    const struct trace_moment *shown = capture->lost.call != 0 ? &capture->lost : &capture->ended;
    const struct candidate *first = NULL;
    uint64_t limit = candidates_limit(captures, capture, shown->end);
    size_t possible = 0, length = 0;
    char others[512] = "";
    for (size_t i = 0; i < captures->candidate_count; i++) {
        const struct candidate *candidate = &captures->candidates[i];
        if (!candidate_is_possible(capture, candidate) || candidate->moment.begin > limit)
            continue;
        if (possible++ == 0)
            first = candidate;
        else if (possible <= MAX_NAMED)
            length += (size_t)snprintf(others + length, sizeof others - length, ", or %s of thread %ld at %.6f s",
                                       model->reader->slots[candidate->moment.slot].function, candidate->moment.thread,
                                       (double)candidate->moment.begin / 1e9);
    }
    if (first == NULL)
        return trace_list_add(list, TRACE_FINDING_CAPTURE, shown,
                              "%s was invalidated between %.6f s and %.6f s, but no recorded call can have done it",
                              name, (double)capture->active / 1e9, (double)shown->end / 1e9);
    if (possible > MAX_NAMED)
        snprintf(others + length, sizeof others - length, ", or one of %zu more", possible - MAX_NAMED);
    const char *function = model->reader->slots[first->moment.slot].function;
    const struct trace_rule *rule = rule_of(capture, first);
    return possible == 1 ? trace_list_add(list, TRACE_FINDING_CAPTURE, &first->moment,
                                          "%s invalidated %s: %s; it returned %s: %s", function, name, rule->broken,
                                          trace_result(first->moment.result).text, rule->advice)
                         : trace_list_add(list, TRACE_FINDING_CAPTURE, &first->moment,
                                          "%s%s invalidated %s: each of them can have done it", function, others, name);
}

static bool capture_report(const struct captures *captures, const struct trace_model *model,
                           const struct trace_stream_capture *capture, struct trace_list *list)
{
    char name[160];
    capture_name(model, capture, name, sizeof name);
    if (capture->ended.result == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        return trace_list_add(list, TRACE_FINDING_CAPTURE, &capture->ended,
                              "%s ended %s without a graph: another thread can end it only in relaxed mode",
                              model->reader->slots[capture->ended.slot].function, name);
    if (capture->ended.result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || capture->lost.call != 0)
        return capture_report_invalidated(captures, model, capture, name, list);
    return true;
}

/* Reports the ended captures that no call from `now` on overlaps, and forgets calls that are too old for others. */
static bool captures_retire(struct captures *captures, const struct trace_model *model, uint64_t now,
                            struct trace_list *list)
{
    uint64_t oldest = now;
    size_t kept = 0;
    captures->due = UINT64_MAX;
    for (size_t i = 0; i < captures->ended_count; i++) {
        struct trace_stream_capture *capture = &captures->ended[i];
        if (capture->ended.end < now) {
            if (!capture_report(captures, model, capture, list))
                return false;
            continue;
        }
        captures->due = capture->ended.end < captures->due ? capture->ended.end : captures->due;
        oldest = capture->active < oldest ? capture->active : oldest;
        captures->ended[kept++] = *capture;
    }
    captures->ended_count = kept;
    for (size_t i = 0; i < model->capturing.count; i++)
        oldest = model->capturing.list[i].active < oldest ? model->capturing.list[i].active : oldest;
    kept = 0;
    for (size_t i = 0; i < captures->candidate_count; i++) {
        if (captures->candidates[i].moment.end >= oldest)
            captures->candidates[kept++] = captures->candidates[i];
    }
    captures->candidate_count = kept;
    return true;
}

/* ---- following the calls ---- */

/* What is known of a call by itself. */
static unsigned facts_of(const struct trace_role *role, uint64_t capture, uint64_t event_capture)
{
    return (role->kind == TRACE_BEGIN_CAPTURE ? TRACE_CALL_BEGINS : 0)
           | (role->kind == TRACE_CAPTURE_STATUS ? TRACE_CALL_ASKS : 0)
           | (role->kind == TRACE_WAIT_EVENT ? TRACE_CALL_WAITS : 0)
           | (role->kind == TRACE_ELAPSED_TIME ? TRACE_CALL_ELAPSED : 0)
           | (role->no_mode_permits ? TRACE_CALL_ALWAYS : 0) | (role->is_of_stream_alone ? TRACE_CALL_ALONE : 0)
           | (capture != 0 ? TRACE_STREAM_CAPTURED : 0) | (event_capture != 0 ? TRACE_EVENT_CAPTURED : 0);
}

static bool candidate_read(struct captures *captures, const struct trace_model *model, const struct trace_call *call,
                           struct trace_list *list)
{
    const struct trace_capturing *capturing = &model->capturing;
    const struct trace_role *role = &model->roles[call->slot];
    struct candidate candidate = {
        .moment = trace_moment_of(model, call),
        .thread_mode = trace_capture_thread_mode(capturing, call->process, call->thread),
        .capture = role->stream >= 0
                       ? trace_capture_of_stream(capturing, call->process, trace_stream_of(model, role, call))
                       : 0,
        .event_capture =
            role->event >= 0 ? trace_capture_of_event(capturing, call->process, trace_word(call, role->event)) : 0,
    };
    candidate.facts = facts_of(role, candidate.capture, candidate.event_capture);
    if (!trace_capture_rule_exists(call->result, candidate.facts))
        return true;
    if (captures->candidate_count % 1024 == 0 && !captures_retire(captures, model, call->begin, list))
        return false;
    if (captures->candidate_count >= MAX_CANDIDATES) /* an earlier one did it */
        return true;
    struct candidate *grown = realloc(captures->candidates, (captures->candidate_count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    captures->candidates = grown;
    grown[captures->candidate_count++] = candidate;
    return true;
}

static bool ended_add(struct captures *captures, const struct trace_stream_capture *capture)
{
    struct trace_stream_capture *grown = realloc(captures->ended, (captures->ended_count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    captures->ended = grown;
    grown[captures->ended_count++] = *capture;
    if (captures->ended_count == 1 || capture->ended.end < captures->due)
        captures->due = capture->ended.end;
    return true;
}

static bool capture_read(void *state, const struct trace_model *model, const struct trace_call *call,
                         struct trace_list *list)
{
    struct captures *captures = state;
    if (captures->ended_count > 0 && call->begin > captures->due
        && !captures_retire(captures, model, call->begin, list))
        return false;
    if (call->returned && call->result != CUDA_SUCCESS && !candidate_read(captures, model, call, list))
        return false;
    for (size_t i = 0; i < model->capturing.count; i++) {
        const struct trace_stream_capture *capture = &model->capturing.list[i];
        if (capture->state == TRACE_CAPTURE_ENDED && !ended_add(captures, capture))
            return false;
    }
    return true;
}

static bool capture_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    const struct captures *captures = state;
    bool has_memory = true;
    for (size_t i = 0; has_memory && i < captures->ended_count; i++)
        has_memory = capture_report(captures, model, &captures->ended[i], list);
    for (size_t i = 0; has_memory && i < model->capturing.count; i++) {
        if (model->capturing.list[i].state != TRACE_CAPTURE_ENDED)
            has_memory = capture_report(captures, model, &model->capturing.list[i], list);
    }
    return has_memory;
}

static void capture_free(void *state)
{
    struct captures *captures = state;
    free(captures->ended);
    free(captures->candidates);
}

const struct trace_finder trace_finder_captures = {sizeof(struct captures), capture_read, capture_end, capture_free};
