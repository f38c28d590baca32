/* SPDX-License-Identifier: MIT */
/* Where the program waited longest, and what was submitted before. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finder.h"
#include "../model/kernels.h"

/* The waits at a place matter if they take at least this share of the time of their process, and can be felt at all. */
enum { MAX_FUNCTIONS = 3, MIN_SHARE = 10 /* one in */, MIN_SUM = 10000000 /* nanoseconds */ };
enum { QUEUE = 1 };

struct waited_function {
    const char *kernel; /* which it launched; or NULL */
    uint64_t last;      /* call */
    uint32_t slot, calls;
};

/* What was submitted since the last wait: the functions that came last. */
struct waited_work {
    struct waited_function functions[MAX_FUNCTIONS]; /* the newest first */
    uint64_t others;
    uint64_t stream; /* in which the work is; 0: in several ones */
};

/* The work of a stream, or that before an event when the event was recorded. */
struct queue {
    struct trace_key key;
    struct waited_work work;
    uint64_t context; /* of a stream; 0: not known */
    bool is_blocking; /* of a stream: the legacy stream waits for it */
};

struct wait {
    struct trace_moment moment;
    struct waited_work work;
    bool is_known; /* whether the file has for what it waited */
};

/* The waits of a function at a place. */
struct waits_of_place {
    struct wait longest;
    uint64_t count, sum;
    bool has_threads; /* several, which can wait at the same time */
};

/* The time of a process: from its first call to its last one. */
struct span {
    uint64_t begin, end;
};

struct waits {
    struct trace_table streams, events;
    struct span *spans; /* by process */
    size_t span_count;
    struct waits_of_place *list;
    size_t count;
};

static struct trace_key queue_key(const struct trace_call *call, uint64_t id)
{
    return (struct trace_key){id, (uint32_t)call->process, QUEUE};
}

static bool waited_work_is_empty(const struct waited_work *work)
{
    return work->functions[0].calls == 0;
}

/* The function that was submitted least recently is not told apart any more. */
static void waited_work_add(struct waited_work *work, struct waited_function added, uint64_t stream)
{
    size_t i = 0;
    work->stream = waited_work_is_empty(work) || work->stream == stream ? stream : 0;
    while (i < MAX_FUNCTIONS - 1 && work->functions[i].calls > 0
           && (work->functions[i].slot != added.slot || work->functions[i].kernel != added.kernel))
        i++;
    struct waited_function *place = &work->functions[i];
    if (place->calls > 0 && place->slot == added.slot && place->kernel == added.kernel) {
        added.calls = added.calls < UINT32_MAX - place->calls ? added.calls + place->calls : UINT32_MAX;
        added.last = added.last > place->last ? added.last : place->last;
    } else if (place->last > added.last) {
        work->others += added.calls;
        return;
    } else {
        work->others += place->calls;
    }
    for (; i > 0 && work->functions[i - 1].last < added.last; i--)
        work->functions[i] = work->functions[i - 1];
    work->functions[i] = added;
}

/* Adds the work of a queue that is not empty. */
static void waited_work_merge(struct waited_work *work, const struct queue *queue)
{
    for (size_t i = 0; i < MAX_FUNCTIONS && queue->work.functions[i].calls > 0; i++)
        waited_work_add(work, queue->work.functions[i], queue->key.id);
    work->others += queue->work.others;
}

/* "cuLaunchKernel of scale<float> (10 calls), cuMemsetD8Async" */
static void waited_work_describe(const struct trace_reader *reader, const struct waited_work *work, char *text,
                                 size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < MAX_FUNCTIONS && work->functions[i].calls > 0 && length < size; i++) {
        const char *kernel = work->functions[i].kernel;
        length += (size_t)snprintf(text + length, size - length, "%s%s%s%.200s", i > 0 ? ", " : "",
                                   reader->slots[work->functions[i].slot].function, kernel != NULL ? " of " : "",
                                   kernel != NULL ? kernel : "");
        if (work->functions[i].calls > 1 && length < size)
            length += (size_t)snprintf(text + length, size - length, " (%" PRIu32 " calls)", work->functions[i].calls);
    }
    if (work->others > 0 && length < size)
        snprintf(text + length, size - length, ", and %" PRIu64 " calls of other functions", work->others);
}

static uint64_t wait_duration(const struct wait *wait)
{
    return wait->moment.end - wait->moment.begin;
}

/* Those that take most first. */
static int compare_waits(const void *a, const void *b)
{
    const struct waits_of_place *one = a, *other = b;
    const struct trace_moment *moment = &one->longest.moment, *of_other = &other->longest.moment;
    return one->sum != other->sum ? (one->sum < other->sum ? 1 : -1)
                                  : (moment->call > of_other->call) - (moment->call < of_other->call);
}

/* Whether they take long enough beside the time of their process. */
static bool waits_matter(const struct waits *waits, const struct waits_of_place *place)
{
    const struct span *span = &waits->spans[place->longest.moment.process];
    return place->sum >= MIN_SUM && place->sum >= (span->end - span->begin) / MIN_SHARE;
}

static struct waits_of_place *place_find(struct waits *waits, const struct trace_moment *moment)
{
    for (size_t i = waits->count; i > 0; i--) {
        const struct trace_moment *known = &waits->list[i - 1].longest.moment;
        if (known->process == moment->process && known->slot == moment->slot && known->site == moment->site
            && known->python == moment->python)
            return &waits->list[i - 1];
    }
    return NULL;
}

/* Returns false if there is not enough memory. */
static bool wait_add(struct waits *waits, const struct trace_model *model, const struct trace_call *call,
                     const struct waited_work *work, bool is_known)
{
    const struct wait wait = {.moment = trace_moment_of(model, call), .work = *work, .is_known = is_known};
    struct waits_of_place *place = place_find(waits, &wait.moment);
    if (place == NULL) {
        struct waits_of_place *grown = realloc(waits->list, (waits->count + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        waits->list = grown;
        place = &grown[waits->count++];
        *place = (struct waits_of_place){.longest = wait};
    }
    place->has_threads |= wait.moment.thread != place->longest.moment.thread;
    if (wait_duration(&wait) > wait_duration(&place->longest))
        place->longest = wait;
    place->count++;
    place->sum += wait_duration(&wait);
    return true;
}

/* Notes the time of a process. */
static bool span_note(struct waits *waits, const struct trace_call *call)
{
    if (call->process >= waits->span_count) {
        struct span *grown = realloc(waits->spans, (call->process + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        for (size_t i = waits->span_count; i <= call->process; i++)
            grown[i] = (struct span){UINT64_MAX, 0};
        waits->spans = grown;
        waits->span_count = call->process + 1;
    }
    struct span *span = &waits->spans[call->process];
    span->begin = call->begin < span->begin ? call->begin : span->begin;
    span->end = call->end > span->end ? call->end : span->end;
    return true;
}

/* Notes work of a stream. */
static bool queue_add(struct waits *waits, const struct trace_model *model, const struct trace_call *call,
                      const struct trace_role *role)
{
    uint64_t stream = trace_stream_of(model, role, call), function;
    uint32_t dimensions[TRACE_LAUNCH_DIMENSIONS];
    struct waited_function added = {.last = model->calls, .slot = call->slot, .calls = 1};
    struct queue *queue = trace_table_add(&waits->streams, queue_key(call, stream));
    if (queue == NULL)
        return false;
    if (trace_launch_find(&model->reader->slots[call->slot], call, &function, dimensions))
        added.kernel = trace_kernel_name(model, call->process, function);
    queue->context = trace_current_context(model, call);
    queue->is_blocking = !trace_stream_is_non_blocking(&model->capturing, call->process, stream);
    waited_work_add(&queue->work, added, stream);
    return true;
}

/* Whether a wait for a stream, or, if that is 0, for the current context, is one for the work of a queue. The legacy
 * stream waits for the blocking streams of its context. A context that is not known can be any. */
static bool queue_is_awaited(const struct queue *queue, const struct trace_call *call, uint64_t stream,
                             uint64_t context)
{
    if (queue->key.process != call->process || waited_work_is_empty(&queue->work))
        return false;
    return queue->key.id == stream
           || ((stream == 0 || queue->is_blocking)
               && (queue->context == context || queue->context == 0 || context == 0));
}

/* The work for which a wait is one. If it succeeds, no later wait is one for that work. */
static struct waited_work waited_work_of(struct waits *waits, const struct trace_model *model,
                                         const struct trace_call *call, uint64_t stream, bool is_ended)
{
    struct waited_work work = {.stream = stream};
    bool is_of_several = stream == 0 || stream == TRACE_LEGACY_STREAM;
    uint64_t context = trace_current_context(model, call);
    struct queue *queue = is_of_several ? trace_table_next(&waits->streams, NULL)
                                        : trace_table_find(&waits->streams, queue_key(call, stream));
    for (; queue != NULL; queue = is_of_several ? trace_table_next(&waits->streams, queue) : NULL) {
        if (!queue_is_awaited(queue, call, stream, context))
            continue;
        waited_work_merge(&work, queue);
        if (is_ended)
            queue->work = (struct waited_work){.others = 0};
    }
    return work;
}

/* A wait for an event is one for what its stream had before it. */
static bool waits_record_event(struct waits *waits, const struct trace_model *model, const struct trace_call *call,
                               const struct trace_role *role)
{
    struct queue *event = trace_table_add(&waits->events, queue_key(call, trace_word(call, role->event)));
    if (event == NULL)
        return false;
    event->work = waited_work_of(waits, model, call, trace_stream_of(model, role, call), false);
    return true;
}

static bool wait_read(void *state, const struct trace_model *model, const struct trace_call *call,
                      struct trace_list *list)
{
    struct waits *waits = state;
    const struct trace_role *role = &model->roles[call->slot];
    struct queue *event = NULL;
    struct waited_work work = {.others = 0};
    bool has_succeeded = call->returned && call->result == CUDA_SUCCESS;
    bool is_submitted = has_succeeded && !trace_is_captured(model, call);
    (void)list;
    waits->streams.size = waits->events.size = sizeof *event;
    if (!span_note(waits, call))
        return false;
    switch (role->kind) {
    case TRACE_WORK:
    case TRACE_WAIT_EVENT:
        return !is_submitted || queue_add(waits, model, call, role);
    case TRACE_RECORD_EVENT:
        return !is_submitted || waits_record_event(waits, model, call, role);
    case TRACE_SYNCHRONIZE_STREAM:
        work = waited_work_of(waits, model, call, trace_stream_of(model, role, call), has_succeeded);
        break;
    case TRACE_SYNCHRONIZE_EVENT:
        event = trace_table_find(&waits->events, queue_key(call, trace_word(call, role->event)));
        work = event != NULL ? event->work : work;
        if (event != NULL && has_succeeded)
            event->work = (struct waited_work){.others = 0};
        break;
    case TRACE_SYNCHRONIZE_CONTEXT:
    case TRACE_SYNCHRONOUS:
        work = waited_work_of(waits, model, call, 0, has_succeeded && role->kind == TRACE_SYNCHRONIZE_CONTEXT);
        break;
    default:
        return true;
    }
    return !call->returned || wait_add(waits, model, call, &work, role->kind != TRACE_SYNCHRONIZE_EVENT);
}

/* "cuStreamSynchronize took 51 ms, 12 % of the time; before it, in stream 3: cuMemsetD8Async (10 calls)", or
 * "cuStreamSynchronize: 20 waits, 390 ms, 95 % of the time, the longest 7.9 ms; before that, ..." Threads can wait at
 * the same time: "cuStreamSynchronize: 20 waits in several threads, 1.39 s in all, the longest 7.9 ms; ..." */
static bool waits_report(const struct waits *waits, const struct trace_model *model, const struct waits_of_place *place,
                         struct trace_list *list)
{
    const struct wait *wait = &place->longest;
    const struct trace_moment *moment = &wait->moment;
    const struct span *span = &waits->spans[moment->process];
    const char *function = model->reader->slots[moment->slot].function, *it = place->count > 1 ? "that" : "it";
    const struct trace_text stream = trace_stream_name(model, moment->process, wait->work.stream);
    char work[1024], before[1152] = "", share[64] = " in all";
    waited_work_describe(model->reader, &wait->work, work, sizeof work);
    if (work[0] != '\0')
        snprintf(before, sizeof before, "; before %s, in %s: %s", it,
                 wait->work.stream != 0 ? stream.text : "all streams", work);
    else if (wait->is_known)
        snprintf(before, sizeof before, "; nothing new was submitted%s%s before %s",
                 wait->work.stream != 0 ? " in " : "", wait->work.stream != 0 ? stream.text : "", it);
    if (!place->has_threads)
        snprintf(share, sizeof share, ", %.0f %% of the time",
                 100 * (double)place->sum / (double)(span->end - span->begin));
    if (place->count == 1)
        return trace_list_add(list, TRACE_FINDING_WAIT, moment, "%s took %s%s%s", function,
                              trace_duration(place->sum).text, share, before);
    return trace_list_add(list, TRACE_FINDING_WAIT, moment, "%s: %" PRIu64 " waits%s, %s%s, the longest %s%s", function,
                          place->count, place->has_threads ? " in several threads" : "",
                          trace_duration(place->sum).text, share, trace_duration(wait_duration(wait)).text, before);
}

static bool wait_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    const struct waits *waits = state;
    bool has_memory = true;
    if (waits->count > 0)
        qsort(waits->list, waits->count, sizeof *waits->list, compare_waits);
    for (size_t i = 0; has_memory && i < waits->count; i++) {
        const struct waits_of_place *place = &waits->list[i];
        has_memory = !waits_matter(waits, place) || waits_report(waits, model, place, list);
    }
    return has_memory;
}

static void wait_free(void *state)
{
    struct waits *waits = state;
    free(waits->list);
    free(waits->spans);
    free(waits->streams.entries);
    free(waits->events.entries);
}

const struct trace_finder trace_finder_waits = {sizeof(struct waits), wait_read, wait_end, wait_free};
