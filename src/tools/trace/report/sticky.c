/* SPDX-License-Identifier: MIT */
/*
 * Errors after which every call fails, such as CUDA_ERROR_ILLEGAL_ADDRESS: a later call than the launch at fault
 * returns the first one. The launches that can be at fault are those for which no wait has succeeded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "finder.h"
#include "kernels.h"

enum { MAX_PENDING = 512, MAX_LAUNCH_KINDS = 8 };
enum { POINT_OF_STREAM = 1, POINT_OF_CONTEXT, POINT_OF_EVENT };

/* Work that was submitted. */
struct pending {
    uint64_t call, stream, context, object; /* object: the kernel or the graph */
    unsigned slot;
    const char *name; /* of a kernel, or NULL */
    struct trace_text object_name;
};

struct sticky_process {
    struct trace_moment first;  /* the first call that returned such an error; its call is 0 if there is none */
    struct trace_moment waited; /* the last wait that succeeded before */
    struct pending self;        /* what the first call submitted, if it did */
    uint64_t later, submitted;  /* later calls that returned it; work before it */
    struct pending ring[MAX_PENDING];
};

/* Work of a stream or a context up to that call is complete; or an event was recorded behind that call of a stream. */
struct point {
    struct trace_key key;
    uint64_t call, stream;
};

struct sticky {
    struct sticky_process **processes;
    size_t count;
    struct trace_table points;
};

static bool is_sticky(const struct trace_call *call)
{
    unsigned result = call->result;
    return call->returned
           && (result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT
               || result == CUDA_ERROR_ASSERT
               || (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED));
}

/* Returns NULL if there is not enough memory. */
static struct sticky_process *process_of(struct sticky *sticky, size_t index)
{
    while (sticky->count <= index) {
        struct sticky_process **grown = realloc(sticky->processes, (sticky->count + 1) * sizeof(void *));
        if (grown == NULL)
            return NULL;
        sticky->processes = grown;
        grown[sticky->count++] = NULL;
    }
    if (sticky->processes[index] == NULL)
        sticky->processes[index] = calloc(1, sizeof *sticky->processes[index]);
    return sticky->processes[index];
}

static struct trace_key point_key(size_t process, uint32_t kind, uint64_t id)
{
    return (struct trace_key){.id = id, .process = (uint32_t)process, .kind = kind};
}

static uint64_t point_find(const struct sticky *sticky, size_t process, uint32_t kind, uint64_t id)
{
    const struct point *point = trace_table_find(&sticky->points, point_key(process, kind, id));
    return point != NULL ? point->call : 0;
}

/* Work before that call is complete. Returns false if there is not enough memory. */
static bool point_move(struct sticky *sticky, size_t process, uint32_t kind, uint64_t id, uint64_t number)
{
    struct point *point = trace_table_add(&sticky->points, point_key(process, kind, id));
    if (point != NULL && number > point->call)
        point->call = number;
    return point != NULL;
}

/* ---- work ---- */

/* Work that can fail on the GPU: not the allocation of memory, and not its release. */
static bool sticky_is_work(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    bool is_of_memory = false;
    if (model->roles[call->slot].kind != TRACE_WORK)
        return false;
    for (size_t i = 0; i < effect->count; i++)
        is_of_memory = is_of_memory || (effect->fields[i].what != USE && effect->fields[i].what != SEEN);
    return !is_of_memory;
}

static struct pending pending_of(const struct trace_model *model, const struct trace_call *call, uint64_t stream)
{
    const struct trace_object_effect *effect = &model->effects[call->slot];
    uint32_t dimensions[TRACE_LAUNCH_DIMENSIONS];
    struct pending pending = {
        .call = model->calls, .stream = stream, .context = trace_current_context(model, call), .slot = call->slot};
    if (trace_launch_find(&model->reader->slots[call->slot], call, &pending.object, dimensions))
        pending.name = trace_kernel_name(model, call->process, pending.object);
    for (size_t i = 0; i < effect->count && pending.object == 0; i++) {
        const struct trace_object *graph = NULL;
        if (effect->fields[i].row == TRACE_ROW_EXECUTABLE_GRAPH)
            pending.object = trace_object_handle(&effect->fields[i], call);
        if (pending.object != 0)
            graph = trace_object_find(model, call->process, TRACE_ROW_EXECUTABLE_GRAPH, pending.object);
        if (graph != NULL && graph->number != 0)
            pending.object_name = trace_object_name(graph);
    }
    return pending;
}

/* "scale<float> in stream 1", "cuGraphLaunch of executable graph 1 in stream 2" */
static void pending_describe(const struct trace_model *model, size_t process, const struct pending *pending,
                             uint64_t calls, char *text, size_t size)
{
    char times[32] = "";
    bool has_name = pending->name != NULL, has_object = !has_name && pending->object_name.text[0] != '\0';
    if (calls > 1)
        snprintf(times, sizeof times, " (%" PRIu64 " times)", calls);
    snprintf(text, size, "%s%s%s in %s%s", has_name ? pending->name : model->reader->slots[pending->slot].function,
             has_object ? " of " : "", has_object ? pending->object_name.text : "",
             trace_stream_name(model, process, pending->stream).text, times);
}

static bool is_same_work(const struct pending *one, const struct pending *other)
{
    return one->slot == other->slot && one->object == other->object && one->stream == other->stream;
}

static bool is_pending(const struct sticky *sticky, size_t process, const struct pending *pending)
{
    return pending->call > point_find(sticky, process, POINT_OF_STREAM, pending->stream)
           && pending->call > point_find(sticky, process, POINT_OF_CONTEXT, pending->context);
}

/* ---- waits ---- */

/* A copy that has written host memory when it returns. */
static bool is_copy_to_host(const struct trace_model *model, const struct trace_call *call)
{
    struct trace_copy copy;
    return trace_copy_of(&model->reader->slots[call->slot], call, &copy) && copy.to == TRACE_HOST;
}

/* After a success. Returns false if there is not enough memory. */
static bool sticky_follow_wait(struct sticky *sticky, struct sticky_process *process, const struct trace_model *model,
                               const struct trace_call *call)
{
    const struct trace_role *role = &model->roles[call->slot];
    uint64_t event = trace_word(call, role->event);
    const struct point *recorded;
    switch (role->kind) {
    case TRACE_SYNCHRONIZE_STREAM:
        process->waited = trace_moment_of(model, call);
        return point_move(sticky, call->process, POINT_OF_STREAM, trace_stream_of(model, role, call), model->calls);
    case TRACE_SYNCHRONIZE_CONTEXT:
        process->waited = trace_moment_of(model, call);
        return point_move(sticky, call->process, POINT_OF_CONTEXT, trace_current_context(model, call), model->calls);
    case TRACE_SYNCHRONOUS:
        if (!is_copy_to_host(model, call))
            return true;
        process->waited = trace_moment_of(model, call);
        return point_move(sticky, call->process, POINT_OF_STREAM, trace_stream_number(model, call, 0), model->calls);
    case TRACE_SYNCHRONIZE_EVENT:
        recorded = trace_table_find(&sticky->points, point_key(call->process, POINT_OF_EVENT, event));
        if (recorded == NULL)
            return true;
        process->waited = trace_moment_of(model, call);
        return point_move(sticky, call->process, POINT_OF_STREAM, recorded->stream, recorded->call);
    default:
        return true;
    }
}

static bool sticky_record_event(struct sticky *sticky, const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_role *role = &model->roles[call->slot];
    struct point *point =
        trace_table_add(&sticky->points, point_key(call->process, POINT_OF_EVENT, trace_word(call, role->event)));
    if (point == NULL)
        return false;
    point->call = model->calls;
    point->stream = trace_stream_of(model, role, call);
    return true;
}

/* ---- the finder ---- */

static bool sticky_read(void *state, const struct trace_model *model, const struct trace_call *call,
                        struct trace_list *list)
{
    struct sticky *sticky = state;
    const struct trace_role *role = &model->roles[call->slot];
    struct sticky_process *process = process_of(sticky, call->process);
    (void)list;
    sticky->points.size = sizeof(struct point);
    if (process == NULL)
        return false;
    bool has_stream = sticky_is_work(model, call);
    uint64_t stream = has_stream ? trace_stream_of(model, role, call) : 0;
    if (process->first.call != 0) {
        process->later += call->returned && call->result == process->first.result;
        return true;
    }
    if (is_sticky(call)) {
        process->first = trace_moment_of(model, call);
        if (has_stream)
            process->self = pending_of(model, call, stream);
        return true;
    }
    if (!call->returned || call->result != CUDA_SUCCESS)
        return true;
    if (has_stream && trace_capture_of_stream(&model->capturing, call->process, stream) == 0)
        process->ring[process->submitted++ % MAX_PENDING] = pending_of(model, call, stream);
    return role->kind == TRACE_RECORD_EVENT ? sticky_record_event(sticky, model, call)
                                            : sticky_follow_wait(sticky, process, model, call);
}

/* The work that can be at fault: each kind of work once, the one that was submitted last first. Returns false if there
 * is none. */
static bool candidates_describe(const struct sticky *sticky, const struct trace_model *model, size_t index, char *text,
                                size_t size)
{
    const struct sticky_process *process = sticky->processes[index];
    uint64_t kept = process->submitted < MAX_PENDING ? process->submitted : MAX_PENDING, shown = 0, others = 0;
    const struct pending *seen[MAX_LAUNCH_KINDS];
    size_t length = 0;
    for (uint64_t i = 0; i < kept; i++) {
        const struct pending *one = &process->ring[(process->submitted - 1 - i) % MAX_PENDING];
        uint64_t calls = 0;
        size_t known = 0;
        char work[384];
        if (!is_pending(sticky, index, one))
            continue;
        while (known < shown && !is_same_work(seen[known], one))
            known++;
        others += known == MAX_LAUNCH_KINDS;
        if (known < shown || known == MAX_LAUNCH_KINDS)
            continue;
        for (uint64_t j = i; j < kept; j++) {
            const struct pending *other = &process->ring[(process->submitted - 1 - j) % MAX_PENDING];
            calls += is_same_work(one, other) && is_pending(sticky, index, other);
        }
        seen[shown++] = one;
        pending_describe(model, index, one, calls, work, sizeof work);
        if (length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s", shown > 1 ? ", " : "", work);
    }
    if (others > 0 && length < size)
        length += (size_t)snprintf(text + length, size - length, ", %" PRIu64 " others", others);
    if (kept == MAX_PENDING && length < size && is_pending(sticky, index, &process->ring[process->submitted % kept]))
        snprintf(text + length, size - length, ", and earlier work");
    return shown > 0;
}

static bool sticky_report(const struct sticky *sticky, const struct trace_model *model, size_t index,
                          struct trace_list *list)
{
    const struct sticky_process *process = sticky->processes[index];
    const struct trace_slot *slots = model->reader->slots;
    char candidates[2048] = "", self[384] = "", waited[128] = "", later[64] = "";
    bool has_candidates = candidates_describe(sticky, model, index, candidates, sizeof candidates);
    if (process->self.call != 0)
        pending_describe(model, index, &process->self, 1, self, sizeof self);
    if (process->waited.call != 0)
        snprintf(waited, sizeof waited, " The last wait that succeeded was %s at %.6f s.",
                 slots[process->waited.slot].function, (double)process->waited.begin / 1e9);
    if (process->later > 0)
        snprintf(later, sizeof later, ", and so did %" PRIu64 " later call%s", process->later,
                 process->later == 1 ? "" : "s");
    return trace_list_add(
        list, TRACE_FINDING_STICKY, &process->first,
        "%s returned %s%s: work on the GPU failed before, and only a new process can go on. %s%s.%s With "
        "CUDA_LAUNCH_BLOCKING=1, the launch itself fails; compute-sanitizer shows the line of the kernel",
        slots[process->first.slot].function, trace_result(process->first.result).text, later,
        has_candidates    ? "No wait for this work has succeeded, so the fault is in it: "
        : self[0] != '\0' ? "A wait for all earlier work has succeeded, so the fault is in this work: "
                          : "The file has no work for which no wait has succeeded",
        has_candidates ? candidates : self, waited);
}

static bool sticky_end(void *state, const struct trace_model *model, struct trace_list *list)
{
    const struct sticky *sticky = state;
    bool has_memory = true;
    for (size_t i = 0; has_memory && i < sticky->count; i++) {
        if (sticky->processes[i] != NULL && sticky->processes[i]->first.call != 0)
            has_memory = sticky_report(sticky, model, i, list);
    }
    return has_memory;
}

static void sticky_free(void *state)
{
    struct sticky *sticky = state;
    for (size_t i = 0; i < sticky->count; i++)
        free(sticky->processes[i]);
    free(sticky->processes);
    free(sticky->points.entries);
}

const struct trace_finder trace_finder_sticky = {sizeof(struct sticky), sticky_read, sticky_end, sticky_free};
