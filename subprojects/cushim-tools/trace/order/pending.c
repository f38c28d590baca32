/* SPDX-License-Identifier: MIT */
#include "pending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../model/copies.h"
#include "../model/kernels.h"

enum { MAX_PENDING = 512, MAX_KEPT = MAX_PENDING / 2, MAX_FORGOTTEN = 32, MAX_KINDS = 8 };

/* Work that was submitted. */
struct work {
    uint64_t call, stream, object; /* object: the kernel or the graph */
    uint32_t of_stream, index;     /* its place in the order of work */
    unsigned slot;
    bool is_host_function;
    const char *name; /* of a kernel, or NULL */
    struct trace_text object_name;
};

struct pending_process {
    struct trace_moment waited;
    size_t count, forgotten_count;
    struct work works[MAX_PENDING];       /* the oldest first */
    struct work forgotten[MAX_FORGOTTEN]; /* the last one of each stream, when no wait for it had succeeded */
    bool has_forgotten_more;              /* of other streams */
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
        .of_stream = model->orders->stream,
        .index = model->orders->index,
        .slot = call->slot,
        .is_host_function =
            slot->number == TRACE_FUNCTION_cuLaunchHostFunc || slot->number == TRACE_FUNCTION_cuStreamAddCallback,
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

static bool is_pending(const struct trace_model *model, size_t process, const struct work *work)
{
    return !trace_orders_is_complete(model->orders, process, work->of_stream, work->index);
}

/* ---- too much work ---- */

/* Keeps the last one of each stream. */
static void work_forget(struct pending_process *process, const struct trace_model *model, size_t index,
                        const struct work *work)
{
    size_t at = 0;
    while (at < process->forgotten_count && process->forgotten[at].of_stream != work->of_stream
           && is_pending(model, index, &process->forgotten[at]))
        at++;
    if (at == MAX_FORGOTTEN) {
        process->has_forgotten_more = true;
        return;
    }
    bool is_same_stream = at < process->forgotten_count && process->forgotten[at].of_stream == work->of_stream;
    process->forgotten_count += at == process->forgotten_count;
    if (!is_same_stream || process->forgotten[at].index < work->index)
        process->forgotten[at] = *work;
}

/* Makes room: for complete work first, then for what comes before other work of its kind, then for the oldest. */
static void works_forget(struct pending_process *process, const struct trace_model *model, size_t index)
{
    enum { COMPLETE, REPEATED, OLDEST, PASSES } pass;
    for (pass = COMPLETE; pass < PASSES; pass++) {
        const size_t count = process->count;
        size_t excess = count > MAX_KEPT ? count - MAX_KEPT : 0;
        process->count = 0;
        for (size_t i = 0; i < count; i++) {
            const struct work *work = &process->works[i];
            bool is_forgotten = pass == COMPLETE   ? !is_pending(model, index, work)
                                : pass == REPEATED ? excess > 0 && i + 1 < count && is_same_work(work, work + 1)
                                                   : excess > 0;
            if (!is_forgotten) {
                if (process->count != i)
                    process->works[process->count] = *work;
                process->count++;
                continue;
            }
            excess -= excess > 0;
            if (pass != COMPLETE)
                work_forget(process, model, index, work);
        }
    }
}

/* ---- waits ---- */

/* A copy that has written host memory when it returns. */
static bool is_copy_to_host(const struct trace_model *model, const struct trace_call *call)
{
    struct trace_copy copy;
    return trace_copy_of(&model->reader->slots[call->slot], call, &copy) && copy.to == TRACE_HOST;
}

static bool is_wait(const struct trace_model *model, const struct trace_call *call)
{
    switch (model->roles[call->slot].kind) {
    case TRACE_SYNCHRONIZE_STREAM:
    case TRACE_QUERY_STREAM:
    case TRACE_SYNCHRONIZE_EVENT:
    case TRACE_QUERY_EVENT:
    case TRACE_SYNCHRONIZE_CONTEXT:
        return true;
    case TRACE_SYNCHRONOUS:
        return is_copy_to_host(model, call);
    default:
        return false;
    }
}

bool trace_pending_read(struct trace_pending *pending, const struct trace_model *model, const struct trace_call *call)
{
    struct pending_process *process = pending_process_of(pending, call->process);
    if (process == NULL)
        return false;
    if (is_wait(model, call))
        process->waited = trace_moment_of(model, call);
    if (!trace_pending_is_work(model, call) || trace_is_captured(model, call))
        return true;
    if (process->count == MAX_PENDING)
        works_forget(process, model, call->process);
    process->works[process->count++] = work_of(model, call);
    return true;
}

/* ---- descriptions ---- */

/* Whether work is pending, a part of what is awaited, and submitted before a call. */
static bool is_candidate(const struct trace_model *model, size_t process, const struct work *work,
                         const struct trace_clock *awaited, uint64_t before)
{
    return is_pending(model, process, work) && work->call < before
           && (awaited == NULL || trace_clock_find(awaited, trace_tick_key(work->of_stream, false)) >= work->index);
}

bool trace_pending_has_forgotten(const struct trace_pending *pending, const struct trace_model *model, size_t process,
                                 const struct trace_clock *awaited, uint64_t before)
{
    const struct pending_process *own = process < pending->count ? pending->processes[process] : NULL;
    bool has_forgotten = own != NULL && own->has_forgotten_more && awaited == NULL;
    for (size_t i = 0; own != NULL && i < own->forgotten_count; i++)
        has_forgotten = has_forgotten || is_candidate(model, process, &own->forgotten[i], awaited, before);
    return has_forgotten;
}

bool trace_pending_describe(const struct trace_pending *pending, const struct trace_model *model, size_t process,
                            const struct trace_clock *awaited, uint64_t before, char *text, size_t size,
                            bool *out_has_host_function)
{
    const struct pending_process *own = process < pending->count ? pending->processes[process] : NULL;
    uint64_t shown = 0, others = 0, calls[MAX_KINDS] = {0};
    const struct work *kinds[MAX_KINDS];
    size_t length = 0;
    *out_has_host_function = false;
    for (size_t i = own != NULL ? own->count : 0; i > 0; i--) {
        const struct work *one = &own->works[i - 1];
        size_t kind = 0;
        if (!is_candidate(model, process, one, awaited, before))
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
    if (shown > 0 && length < size && trace_pending_has_forgotten(pending, model, process, awaited, before))
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
}
