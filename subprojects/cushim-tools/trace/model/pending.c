/* SPDX-License-Identifier: MIT */
#include "pending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "kernels.h"

enum { MAX_PENDING = 512, MAX_KINDS = 8, MAX_STREAMS = 16 };
enum { POINT_OF_STREAM = 1, POINT_OF_CONTEXT, POINT_OF_EVENT };

/* Work that was submitted, or a stream that waits for another one. */
struct work {
    uint64_t call, stream, context, object; /* object: the kernel or the graph */
    unsigned slot;
    bool is_host_function;
    const char *name; /* of a kernel, or NULL */
    struct trace_text object_name;
    struct trace_awaited_work awaited; /* of a stream that waits; its stream is 0 if this is work */
};

struct pending_process {
    struct trace_moment waited;
    uint64_t submitted;
    struct work ring[MAX_PENDING];
};

/* Work of a stream or a context up to that call is complete; or an event was recorded behind that call of a stream. */
struct point {
    struct trace_key key;
    uint64_t call, stream;
};

/* Returns NULL if there is not enough memory. */
static struct pending_process *pending_process_of(struct trace_pending *pending, size_t index)
{
    while (pending->count <= index) {
        struct pending_process **grown = realloc(pending->processes, (pending->count + 1) * sizeof(void *));
        if (grown == NULL)
            return NULL;
        pending->processes = grown;
        grown[pending->count++] = NULL;
    }
    if (pending->processes[index] == NULL)
        pending->processes[index] = calloc(1, sizeof *pending->processes[index]);
    return pending->processes[index]; /* analyzer: trace_pending_free() frees each */
}

/* ---- points ---- */

static struct trace_key point_key(size_t process, uint32_t kind, uint64_t id)
{
    return (struct trace_key){.id = id, .process = (uint32_t)process, .kind = kind};
}

static uint64_t point_find(const struct trace_pending *pending, size_t process, uint32_t kind, uint64_t id)
{
    const struct point *point = trace_table_find(&pending->points, point_key(process, kind, id));
    return point != NULL ? point->call : 0;
}

/* Work before that call is complete. Returns false if there is not enough memory. */
static bool point_move(struct trace_pending *pending, size_t process, uint32_t kind, uint64_t id, uint64_t number)
{
    struct point *point = trace_table_add(&pending->points, point_key(process, kind, id));
    if (point != NULL && number > point->call)
        point->call = number;
    return point != NULL;
}

struct trace_awaited_work trace_pending_event(const struct trace_pending *pending, size_t process, uint64_t event)
{
    const struct point *point = trace_table_find(&pending->points, point_key(process, POINT_OF_EVENT, event));
    return point != NULL ? (struct trace_awaited_work){point->stream, point->call} : (struct trace_awaited_work){0, 0};
}

static bool event_record(struct trace_pending *pending, const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_role *role = &model->roles[call->slot];
    struct point *point =
        trace_table_add(&pending->points, point_key(call->process, POINT_OF_EVENT, trace_word(call, role->event)));
    if (point == NULL)
        return false;
    point->call = model->calls;
    point->stream = trace_stream_of(model, role, call);
    return true;
}

/* ---- work ---- */

/* Work that can fail on the GPU: not the allocation of memory, and not its release. */
bool trace_pending_is_work(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    bool is_of_memory = false;
    if (model->roles[call->slot].kind != TRACE_WORK)
        return false;
    for (size_t i = 0; i < effect->count; i++)
        is_of_memory = is_of_memory || (effect->fields[i].what != USE && effect->fields[i].what != SEEN);
    return !is_of_memory;
}

static struct work work_of(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    uint32_t dimensions[TRACE_LAUNCH_DIMENSIONS];
    struct work work = {
        .call = model->calls,
        .stream = trace_stream_of(model, &model->roles[call->slot], call),
        .context = trace_current_context(model, call),
        .slot = call->slot,
        .is_host_function =
            strcmp(slot->function, "cuLaunchHostFunc") == 0 || strcmp(slot->function, "cuStreamAddCallback") == 0,
    };
    if (trace_launch_find(slot, call, &work.object, dimensions))
        work.name = trace_kernel_name(model, call->process, work.object);
    for (size_t i = 0; i < effect->count && work.object == 0; i++) {
        const struct trace_object *graph = NULL;
        if (effect->fields[i].row == TRACE_ROW_EXECUTABLE_GRAPH)
            work.object = trace_object_handle(&effect->fields[i], call);
        if (work.object != 0)
            graph = trace_object_find(model, call->process, TRACE_ROW_EXECUTABLE_GRAPH, work.object);
        if (graph != NULL && graph->number != 0)
            work.object_name = trace_object_name(graph);
    }
    return work;
}

/* "scale<float> in stream 1", "cuGraphLaunch of executable graph 1 in stream 2" */
static void work_describe(const struct trace_model *model, size_t process, const struct work *work, uint64_t calls,
                          char *text, size_t size)
{
    char times[32] = "";
    bool has_name = work->name != NULL, has_object = !has_name && work->object_name.text[0] != '\0';
    if (calls > 1)
        snprintf(times, sizeof times, " (%" PRIu64 " times)", calls);
    snprintf(text, size, "%s%s%s in %s%s", has_name ? work->name : model->reader->slots[work->slot].function,
             has_object ? " of " : "", has_object ? work->object_name.text : "",
             trace_stream_name(model, process, work->stream).text, times);
}

void trace_pending_describe_call(const struct trace_model *model, const struct trace_call *call, char *text,
                                 size_t size)
{
    const struct work work = work_of(model, call);
    work_describe(model, call->process, &work, 1, text, size);
}

static bool is_same_work(const struct work *one, const struct work *other)
{
    return one->slot == other->slot && one->object == other->object && one->stream == other->stream;
}

static bool is_pending(const struct trace_pending *pending, size_t process, const struct work *work)
{
    return work->call > point_find(pending, process, POINT_OF_STREAM, work->stream)
           && work->call > point_find(pending, process, POINT_OF_CONTEXT, work->context);
}

/* ---- waits ---- */

/* A copy that has written host memory when it returns. */
static bool is_copy_to_host(const struct trace_model *model, const struct trace_call *call)
{
    struct trace_copy copy;
    return trace_copy_of(&model->reader->slots[call->slot], call, &copy) && copy.to == TRACE_HOST;
}

static bool wait_follow(struct trace_pending *pending, struct pending_process *process, const struct trace_model *model,
                        const struct trace_call *call)
{
    const struct trace_role *role = &model->roles[call->slot];
    struct trace_awaited_work awaited = {0, model->calls};
    switch (role->kind) {
    case TRACE_SYNCHRONIZE_STREAM:
    case TRACE_QUERY_STREAM:
        awaited.stream = trace_stream_of(model, role, call);
        break;
    case TRACE_SYNCHRONOUS:
        awaited.stream = is_copy_to_host(model, call) ? trace_stream_number(model, call, 0) : 0;
        break;
    case TRACE_SYNCHRONIZE_EVENT:
    case TRACE_QUERY_EVENT:
        awaited = trace_pending_event(pending, call->process, trace_word(call, role->event));
        break;
    case TRACE_SYNCHRONIZE_CONTEXT:
        process->waited = trace_moment_of(model, call);
        return point_move(pending, call->process, POINT_OF_CONTEXT, trace_current_context(model, call), model->calls);
    default:
        return true;
    }
    if (awaited.stream == 0)
        return true;
    process->waited = trace_moment_of(model, call);
    return point_move(pending, call->process, POINT_OF_STREAM, awaited.stream, awaited.before);
}

bool trace_pending_read(struct trace_pending *pending, const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_role *role = &model->roles[call->slot];
    struct pending_process *process = pending_process_of(pending, call->process);
    pending->points.size = sizeof(struct point);
    if (process == NULL)
        return false;
    if (role->kind == TRACE_RECORD_EVENT)
        return event_record(pending, model, call);
    bool is_wait = role->kind == TRACE_WAIT_EVENT;
    if (!is_wait && !trace_pending_is_work(model, call))
        return wait_follow(pending, process, model, call);
    struct work work = work_of(model, call);
    if (is_wait)
        work.awaited = trace_pending_event(pending, call->process, trace_word(call, role->event));
    if ((!is_wait || work.awaited.stream != 0)
        && trace_capture_of_stream(&model->capturing, call->process, work.stream) == 0)
        process->ring[process->submitted++ % MAX_PENDING] = work;
    return true;
}

/* ---- descriptions ---- */

/* The streams for which a call waits, each up to a call. */
struct streams {
    struct trace_awaited_work all[MAX_STREAMS];
    size_t count;
};

/* Whether the work is before what is awaited; if it is itself a wait, its stream is awaited, too. */
static bool is_awaited(struct streams *streams, const struct work *work)
{
    bool is_one = false;
    for (size_t i = 0; i < streams->count; i++) {
        const struct trace_awaited_work *one = &streams->all[i];
        is_one |= (one->stream == 0 || one->stream == work->stream) && work->call < one->before;
    }
    if (is_one && work->awaited.stream != 0 && streams->count < MAX_STREAMS)
        streams->all[streams->count++] = work->awaited;
    return is_one && work->awaited.stream == 0;
}

bool trace_pending_describe(const struct trace_pending *pending, const struct trace_model *model, size_t process,
                            struct trace_awaited_work awaited, char *text, size_t size, bool *out_has_host_function)
{
    const struct pending_process *own = process < pending->count ? pending->processes[process] : NULL;
    const uint64_t submitted = own != NULL ? own->submitted : 0;
    uint64_t kept = submitted < MAX_PENDING ? submitted : MAX_PENDING, shown = 0, others = 0, calls[MAX_KINDS] = {0};
    const struct work *kinds[MAX_KINDS];
    struct streams streams = {.all = {awaited}, .count = 1};
    size_t length = 0;
    *out_has_host_function = false;
    for (uint64_t i = 0; i < kept; i++) {
        const struct work *one = &own->ring[(submitted - 1 - i) % MAX_PENDING];
        size_t kind = 0;
        if (!is_pending(pending, process, one) || !is_awaited(&streams, one))
            continue;
        *out_has_host_function |= one->is_host_function;
        while (kind < shown && !is_same_work(kinds[kind], one))
            kind++;
        others += kind == MAX_KINDS;
        if (kind == shown && kind < MAX_KINDS)
            kinds[shown++] = one;
        if (kind < MAX_KINDS)
            calls[kind]++;
    }
    for (uint64_t i = 0; i < shown && length < size; i++) {
        char work[384];
        work_describe(model, process, kinds[i], calls[i], work, sizeof work);
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "", work);
    }
    if (others > 0 && length < size)
        length += (size_t)snprintf(text + length, size - length, ", %" PRIu64 " others", others);
    if (kept == MAX_PENDING && length < size && is_pending(pending, process, &own->ring[submitted % kept]))
        snprintf(text + length, size - length, ", and earlier work");
    return shown > 0;
}

struct trace_moment trace_pending_waited(const struct trace_pending *pending, size_t process)
{
    const struct pending_process *own = process < pending->count ? pending->processes[process] : NULL;
    return own != NULL ? own->waited : (struct trace_moment){.call = 0};
}

void trace_pending_free(struct trace_pending *pending)
{
    for (size_t i = 0; i < pending->count; i++)
        free(pending->processes[i]);
    free(pending->processes);
    free(pending->points.entries);
}
