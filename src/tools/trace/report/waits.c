/* SPDX-License-Identifier: MIT */
/* Where the program waited longest, and what was submitted before. */
#include "findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WAITS = 20, MOST_FUNCTIONS = 3, LEAST_WAIT = 100000 /* nanoseconds */ };
enum { QUEUE_OF_STREAM = 1, QUEUE_OF_EVENT, QUEUE_OF_PROCESS };

/* What was submitted since the last wait: the functions that came last. */
struct work {
    struct {
        uint32_t slot, calls;
    } functions[MOST_FUNCTIONS];
    uint64_t others;
};

struct queue {
    struct trace_key key;
    struct work work; /* of a stream; of the stream of an event when the event was recorded; of all streams */
    uint64_t stream;  /* of an event */
};

struct wait {
    struct trace_moment moment;
    struct work work;
    uint64_t stream; /* 0: all streams */
    bool is_known;   /* whether the file has for what it waited */
};

struct trace_waits {
    struct trace_table queues;
    struct wait list[MOST_WAITS]; /* the longest first */
    size_t count;
    uint64_t found;
};

static struct queue *queue_of(struct trace_findings *findings, const struct trace_call *call, uint32_t kind,
                              uint64_t id)
{
    struct trace_key key = {.id = id, .process = (uint32_t)call->process, .kind = kind};
    struct queue *queue = trace_table_add(&findings->waits->queues, key);
    findings->failed |= queue == NULL;
    return queue;
}

/* The function comes first, and the one that was submitted least recently is not told apart any more. */
static void work_add(struct work *work, unsigned slot)
{
    size_t i = 0;
    while (i < MOST_FUNCTIONS - 1 && work->functions[i].calls > 0 && work->functions[i].slot != slot)
        i++;
    uint32_t calls = work->functions[i].slot == slot ? work->functions[i].calls : 0;
    if (calls == 0)
        work->others += work->functions[i].calls;
    for (; i > 0; i--)
        work->functions[i] = work->functions[i - 1];
    work->functions[0].slot = slot;
    work->functions[0].calls = calls + (calls < UINT32_MAX);
}

/* "cuLaunchKernel (10 calls), cuMemsetD8Async" */
static void work_describe(const struct trace_reader *reader, const struct work *work, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < MOST_FUNCTIONS && work->functions[i].calls > 0 && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "",
                                   reader->slots[work->functions[i].slot].function);
        if (work->functions[i].calls > 1 && length < size)
            length += (size_t)snprintf(text + length, size - length, " (%" PRIu32 " calls)", work->functions[i].calls);
    }
    if (work->others > 0 && length < size)
        snprintf(text + length, size - length, ", and %" PRIu64 " calls of other functions", work->others);
}

static bool wait_is_longer(const struct trace_moment *one, const struct trace_moment *other)
{
    bool has_returned = one->end != UINT64_MAX, has_other = other->end != UINT64_MAX;
    return has_returned != has_other ? !has_returned
                                     : has_returned && one->end - one->begin > other->end - other->begin;
}

static void wait_add(struct trace_findings *findings, const struct trace_call *call, const struct queue *queue)
{
    struct trace_waits *waits = findings->waits;
    struct wait wait = {.moment = trace_moment_of(findings, call), .is_known = queue != NULL};
    if (queue != NULL) {
        wait.work = queue->work;
        wait.stream = queue->key.kind == QUEUE_OF_STREAM  ? queue->key.id
                      : queue->key.kind == QUEUE_OF_EVENT ? queue->stream
                                                          : 0;
    }
    if (call->returned && call->end - call->begin < LEAST_WAIT)
        return;
    waits->found++;
    size_t i = waits->count < MOST_WAITS ? waits->count++ : MOST_WAITS - 1;
    if (waits->count == MOST_WAITS && i == MOST_WAITS - 1 && waits->list[i].moment.call != 0
        && !wait_is_longer(&wait.moment, &waits->list[i].moment))
        return;
    for (; i > 0 && wait_is_longer(&wait.moment, &waits->list[i - 1].moment); i--)
        waits->list[i] = waits->list[i - 1];
    waits->list[i] = wait;
}

/* Notes work of a stream. */
static void queue_add(struct trace_findings *findings, const struct trace_call *call, const struct trace_role *role)
{
    struct queue *queue = queue_of(findings, call, QUEUE_OF_STREAM, trace_stream_of(findings, role, call));
    if (queue != NULL)
        work_add(&queue->work, call->slot);
    queue = queue_of(findings, call, QUEUE_OF_PROCESS, 0);
    if (queue != NULL)
        work_add(&queue->work, call->slot);
}

/* An event stands for what its stream had before it. */
static void event_record(struct trace_findings *findings, const struct trace_call *call, const struct trace_role *role)
{
    struct queue *event = queue_of(findings, call, QUEUE_OF_EVENT, trace_word(call, role->event));
    struct queue *queue = queue_of(findings, call, QUEUE_OF_STREAM, trace_stream_of(findings, role, call));
    if (queue == NULL || event == NULL)
        return;
    event = queue_of(findings, call, QUEUE_OF_EVENT, trace_word(call, role->event)); /* it can have moved */
    event->work = queue->work;
    event->stream = queue->key.id;
}

void trace_waits_read(struct trace_findings *findings, const struct trace_reader *reader, const struct trace_call *call,
                      const struct trace_role *role)
{
    struct trace_waits *waits = findings->waits;
    struct queue *queue = NULL;
    bool has_succeeded = call->returned && call->result == CUDA_SUCCESS;
    (void)reader;
    if (waits == NULL) {
        if ((findings->waits = waits = calloc(1, sizeof *waits)) == NULL) {
            findings->failed = true;
            return;
        }
        waits->queues.size = sizeof *queue;
    }
    switch (role->kind) {
    case TRACE_WORK:
    case TRACE_WAIT_EVENT:
        if (has_succeeded)
            queue_add(findings, call, role);
        return;
    case TRACE_RECORD_EVENT:
        if (has_succeeded)
            event_record(findings, call, role);
        return;
    case TRACE_SYNCHRONIZE_STREAM:
        queue = queue_of(findings, call, QUEUE_OF_STREAM, trace_stream_of(findings, role, call));
        break;
    case TRACE_SYNCHRONIZE_EVENT:
        queue = trace_table_find(
            &waits->queues, (struct trace_key){trace_word(call, role->event), (uint32_t)call->process, QUEUE_OF_EVENT});
        break;
    case TRACE_SYNCHRONIZE_CONTEXT:
    case TRACE_SYNCHRONOUS:
        queue = queue_of(findings, call, QUEUE_OF_PROCESS, 0);
        break;
    default:
        return;
    }
    wait_add(findings, call, queue);
    if (queue != NULL && has_succeeded && role->kind != TRACE_SYNCHRONOUS)
        queue->work = (struct work){.others = 0};
}

void trace_waits_end(struct trace_findings *findings, const struct trace_reader *reader)
{
    const struct trace_waits *waits = findings->waits;
    char work[512], target[64];
    for (size_t i = 0; waits != NULL && i < waits->count; i++) {
        const struct wait *wait = &waits->list[i];
        const struct trace_moment *moment = &wait->moment;
        bool has_returned = moment->end != UINT64_MAX;
        work_describe(reader, &wait->work, work, sizeof work);
        snprintf(target, sizeof target, "%s",
                 wait->stream != 0 ? trace_stream_name(findings, moment->process, wait->stream).text : "all streams");
        trace_finding_add(findings, TRACE_FINDING_WAIT, moment, "%s %s%s%s%s%s%s", reader->slots[moment->slot].function,
                          has_returned ? "took " : "did not return",
                          has_returned ? trace_duration(moment->end - moment->begin).text : "",
                          work[0] != '\0' ? "; before it, in " : "", work[0] != '\0' ? target : "",
                          work[0] != '\0'  ? ": "
                          : wait->is_known ? "; nothing was submitted before it"
                                           : "",
                          work);
    }
    if (waits != NULL)
        findings->found[TRACE_FINDING_WAIT] = waits->found;
}

void trace_waits_free(struct trace_findings *findings)
{
    if (findings->waits == NULL)
        return;
    free(findings->waits->queues.entries);
    free(findings->waits);
}
