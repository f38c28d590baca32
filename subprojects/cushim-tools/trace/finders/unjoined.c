/* SPDX-License-Identifier: MIT */
/*
 * Streams that joined a capture and were not joined back. Each stream of a capture is a branch that counts its work,
 * and knows how much work of each branch is before its end. A wait for an event merges what two branches know. At the
 * end of the capture, the stream on which it began must know all work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finder.h"

enum { MAX_BRANCHES = 32 };

struct branch {
    uint64_t capture, stream;
    size_t index; /* in its capture; 0: the stream on which it began */
    uint64_t known[MAX_BRANCHES];
    struct trace_moment joined, last; /* the wait by which it joined; its last work: call is 0 if it has none */
};

/* An event, with what was before it. */
struct recorded_event {
    struct trace_key key;
    uint64_t capture, known[MAX_BRANCHES];
};

struct unjoined {
    struct branch *branches; /* of the captures that have not ended */
    size_t count;
    struct trace_table events;
};

static struct branch *branch_find(const struct unjoined *unjoined, uint64_t capture, uint64_t stream)
{
    for (size_t i = 0; i < unjoined->count; i++) {
        if (unjoined->branches[i].capture == capture && unjoined->branches[i].stream == stream)
            return &unjoined->branches[i];
    }
    return NULL;
}

/* Returns NULL if there is not enough memory. */
static struct branch *branch_add(struct unjoined *unjoined, uint64_t capture, uint64_t stream)
{
    struct branch branch = {.capture = capture, .stream = stream};
    for (size_t i = 0; i < unjoined->count; i++)
        branch.index += unjoined->branches[i].capture == capture;
    struct branch *grown = realloc(unjoined->branches, (unjoined->count + 1) * sizeof *grown);
    if (grown == NULL)
        return NULL;
    unjoined->branches = grown;
    grown[unjoined->count] = branch;
    return &grown[unjoined->count++];
}

static void known_merge(uint64_t *known, const uint64_t *other)
{
    for (size_t i = 0; i < MAX_BRANCHES; i++)
        known[i] = other[i] > known[i] ? other[i] : known[i];
}

static bool branch_follow(struct unjoined *unjoined, const struct trace_model *model, const struct trace_call *call,
                          uint64_t capture, uint64_t stream)
{
    const struct trace_role *role = &model->roles[call->slot];
    struct trace_key key = {trace_word(call, role->event), (uint32_t)call->process, 1};
    struct branch *branch = branch_find(unjoined, capture, stream);
    bool is_new = branch == NULL;
    unjoined->events.size = sizeof(struct recorded_event);
    if (is_new && (branch = branch_add(unjoined, capture, stream)) == NULL)
        return false;
    if (is_new)
        branch->joined = trace_moment_of(model, call);
    if (role->kind == TRACE_WORK && branch->index < MAX_BRANCHES) {
        branch->known[branch->index]++;
        branch->last = trace_moment_of(model, call);
    } else if (role->kind == TRACE_RECORD_EVENT) {
        struct recorded_event *event = trace_table_add(&unjoined->events, key);
        if (event == NULL)
            return false;
        event->capture = capture;
        memcpy(event->known, branch->known, sizeof event->known);
    } else if (role->kind == TRACE_WAIT_EVENT) {
        const struct recorded_event *event = trace_table_find(&unjoined->events, key);
        if (event != NULL && event->capture == capture)
            known_merge(branch->known, event->known);
    }
    return true;
}

static bool branch_report(const struct trace_model *model, const struct trace_stream_capture *capture,
                          const struct branch *branch, struct trace_list *list)
{
    const struct trace_reader *reader = model->reader;
    struct trace_text origin = trace_stream_name(model, capture->began.process, capture->stream);
    struct trace_text stream = trace_stream_name(model, capture->began.process, branch->stream);
    return trace_list_add(
        list, TRACE_FINDING_UNJOINED, &capture->ended,
        "%s returned CUDA_ERROR_STREAM_CAPTURE_UNJOINED: %s joined the capture of %s at %.6f s, and "
        "%s does not wait for the last work in %s (%s at %.6f s by thread %ld): record an event in %s after "
        "that work, and make %s wait for the event (cuEventRecord, cuStreamWaitEvent) before %s",
        reader->slots[capture->ended.slot].function, stream.text, origin.text, (double)branch->joined.begin / 1e9,
        origin.text, stream.text, reader->slots[branch->last.slot].function, (double)branch->last.begin / 1e9,
        branch->last.thread, stream.text, origin.text, reader->slots[capture->ended.slot].function);
}

/* Reports the branches that an ended capture did not join, and forgets its branches. */
static bool unjoined_retire(struct unjoined *unjoined, const struct trace_model *model,
                            const struct trace_stream_capture *capture, struct trace_list *list)
{
    const struct branch *origin = branch_find(unjoined, capture->number, capture->stream);
    bool has_memory = true;
    size_t kept = 0;
    for (size_t i = 0; has_memory && origin != NULL && i < unjoined->count; i++) {
        const struct branch *branch = &unjoined->branches[i];
        if (branch->capture == capture->number && branch->index < MAX_BRANCHES
            && capture->ended.result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED
            && origin->known[branch->index] < branch->known[branch->index])
            has_memory = branch_report(model, capture, branch, list);
    }
    for (size_t i = 0; i < unjoined->count; i++) {
        if (unjoined->branches[i].capture != capture->number)
            unjoined->branches[kept++] = unjoined->branches[i];
    }
    unjoined->count = kept;
    return has_memory;
}

static bool unjoined_read(void *state, const struct trace_model *model, const struct trace_call *call,
                          struct trace_list *list)
{
    struct unjoined *unjoined = state;
    const struct trace_capturing *capturing = &model->capturing;
    const struct trace_role *role = &model->roles[call->slot];
    if (capturing->count == 0)
        return true;
    for (size_t i = 0; i < capturing->count; i++) {
        if (capturing->list[i].state == TRACE_CAPTURE_ENDED
            && !unjoined_retire(unjoined, model, &capturing->list[i], list))
            return false;
    }
    uint64_t stream = role->stream >= 0 ? trace_stream_of(model, role, call) : 0;
    uint64_t capture = stream != 0 ? trace_capture_of_stream(capturing, call->process, stream) : 0;
    if (capture == 0 || !call->returned || call->result != CUDA_SUCCESS)
        return true;
    return branch_follow(unjoined, model, call, capture, stream);
}

static void unjoined_free(void *state)
{
    struct unjoined *unjoined = state;
    free(unjoined->branches);
    free(unjoined->events.entries);
}

const struct trace_finder trace_finder_unjoined = {sizeof(struct unjoined), unjoined_read, NULL, unjoined_free};
