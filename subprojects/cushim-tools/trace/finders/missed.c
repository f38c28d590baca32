/* SPDX-License-Identifier: MIT */
/* Work that a capture missed: the thread that began it gave work to a stream that does not belong to it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "finder.h"

/* The work in one stream during one capture. */
struct missed_work {
    uint64_t capture, stream, calls;
    struct trace_moment first;
};

struct missed {
    struct missed_work *list;
    size_t count;
};

/* Work that can change results: not the allocation of memory, and not its release. */
static bool is_work(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    enum trace_role_kind kind = model->roles[call->slot].kind;
    for (size_t i = 0; i < effect->count; i++) {
        if (effect->fields[i].what != USE && effect->fields[i].what != SEEN)
            return false;
    }
    return kind == TRACE_WORK || kind == TRACE_SYNCHRONOUS;
}

static bool missed_add(struct missed *missed, uint64_t capture, uint64_t stream, const struct trace_moment *moment)
{
    for (size_t i = 0; i < missed->count; i++) {
        if (missed->list[i].capture == capture && missed->list[i].stream == stream) {
            missed->list[i].calls++;
            return true;
        }
    }
    struct missed_work *grown = realloc(missed->list, (missed->count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    missed->list = grown;
    grown[missed->count++] = (struct missed_work){capture, stream, 1, *moment};
    return true;
}

static bool work_report(const struct trace_model *model, const struct trace_stream_capture *capture,
                        const struct missed_work *work, struct trace_list *list)
{
    struct trace_text origin = trace_stream_name(model, capture->began.process, capture->stream);
    struct trace_text stream = trace_stream_name(model, capture->began.process, work->stream);
    char calls[64] = "";
    if (work->calls > 1)
        snprintf(calls, sizeof calls, ", the first of %" PRIu64 " such calls,", work->calls);
    const char *function = model->reader->slots[work->first.slot].function;
    char advice[512] = "use ";
    if (model->roles[work->first.slot].stream < 0)
        snprintf(advice, sizeof advice, "use an asynchronous function in ");
    else if (work->stream != TRACE_LEGACY_STREAM) /* which cannot join a capture */
        snprintf(advice, sizeof advice, "make %s join the capture (cuEventRecord in %s, cuStreamWaitEvent in %s), use ",
                 stream.text, origin.text, stream.text);
    return trace_list_add(list, TRACE_FINDING_MISSED, &work->first,
                          "%s%s ran in %s while this thread captured %s: it is not in the graph, and a launch of the "
                          "graph does not repeat it; %s%s, or call it before cuStreamBeginCapture",
                          function, calls, stream.text, origin.text, advice, origin.text);
}

/* Reports what an ended capture missed, and forgets it. A capture without a graph missed nothing. */
static bool missed_retire(struct missed *missed, const struct trace_model *model,
                          const struct trace_stream_capture *capture, struct trace_list *list)
{
    bool has_memory = true;
    size_t kept = 0;
    for (size_t i = 0; i < missed->count; i++) {
        if (missed->list[i].capture != capture->number)
            missed->list[kept++] = missed->list[i];
        else if (capture->ended.result == CUDA_SUCCESS && has_memory)
            has_memory = work_report(model, capture, &missed->list[i], list);
    }
    missed->count = kept;
    return has_memory;
}

static bool missed_read(void *state, const struct trace_model *model, const struct trace_call *call,
                        struct trace_list *list)
{
    struct missed *missed = state;
    const struct trace_capturing *capturing = &model->capturing;
    const struct trace_role *role = &model->roles[call->slot];
    struct trace_moment moment = trace_moment_of(model, call);
    bool counts = call->returned && call->result == CUDA_SUCCESS && capturing->count > 0 && is_work(model, call);
    uint64_t stream = counts ? trace_stream_of(model, role, call) : 0;
    if (counts && trace_capture_of_stream(capturing, call->process, stream) != 0)
        counts = false;
    for (size_t i = 0; i < capturing->count; i++) {
        const struct trace_stream_capture *capture = &capturing->list[i];
        if (capture->state == TRACE_CAPTURE_ENDED && !missed_retire(missed, model, capture, list))
            return false;
        if (counts && capture->state == TRACE_CAPTURE_ACTIVE && capture->began.process == call->process
            && capture->began.thread == call->thread && !missed_add(missed, capture->number, stream, &moment))
            return false;
    }
    return true;
}

static void missed_free(void *state)
{
    free(((struct missed *)state)->list);
}

const struct trace_finder trace_finder_missed = {sizeof(struct missed), missed_read, NULL, missed_free};
