/* SPDX-License-Identifier: MIT */
/* Which contexts are current on each thread, and the streams that depend on it. */
#include "contexts.h"

#include "cushim/default_stream.h"

enum { MAX_CONTEXTS = 8 };

/* The contexts that are current on a thread. */
struct thread {
    struct trace_key key;
    uint64_t contexts[MAX_CONTEXTS]; /* 0: none, or unknown */
    unsigned depth;
    uint64_t popped; /* the context that was current last, if none is now, and the call that popped it */
    struct trace_moment popped_by;
};

/* The primary context of a device. */
struct primary {
    struct trace_key key;
    uint64_t context, references;
};

static struct trace_key key_of(const struct trace_call *call, uint64_t id)
{
    return (struct trace_key){.id = id, .process = (uint32_t)call->process, .kind = 1};
}

static struct trace_key thread_key(const struct trace_call *call)
{
    return key_of(call, (uint64_t)call->thread);
}

uint64_t trace_current_context(const struct trace_model *model, const struct trace_call *call)
{
    const struct thread *thread = trace_table_find(&model->threads, thread_key(call));
    return thread != NULL && thread->depth < MAX_CONTEXTS ? thread->contexts[thread->depth] : 0;
}

/* That of a per-thread stream: the highest bit, the number of the context, the thread. */
uint64_t trace_stream_number(const struct trace_model *model, const struct trace_call *call, uint64_t stream)
{
    if (stream == 0)
        stream = call->kind == CUSHIM_DEFAULT_STREAM_LEGACY ? TRACE_LEGACY_STREAM : TRACE_PER_THREAD_STREAM;
    if (stream != TRACE_PER_THREAD_STREAM)
        return stream;
    const struct trace_object *context =
        trace_object_find(model, call->process, TRACE_ROW_CONTEXT, trace_current_context(model, call));
    uint64_t number = context != NULL ? context->number : 0;
    return UINT64_C(1) << 63 | number << 32 | (uint32_t)call->thread;
}

uint64_t trace_stream_of(const struct trace_model *model, const struct trace_role *role, const struct trace_call *call)
{
    return trace_stream_number(model, call, trace_word(call, role->stream));
}

bool trace_is_captured(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_role *role = &model->roles[call->slot];
    return role->stream >= 0
           && trace_capture_of_stream(&model->capturing, call->process, trace_stream_of(model, role, call)) != 0;
}

static void primary_release(struct trace_model *model, const struct trace_call *call, bool is_reset)
{
    struct primary *device = trace_table_find(&model->devices, key_of(call, trace_word(call, 0)));
    struct trace_object *context =
        device != NULL
            ? trace_table_find(&model->objects, trace_object_key(call->process, TRACE_ROW_CONTEXT, device->context))
            : NULL;
    if (context == NULL || (device->references > 0 && --device->references > 0 && !is_reset))
        return;
    context->is_alive = false;
    context->destroyed = trace_moment_of(model, call);
}

static void thread_follow(struct thread *thread, enum trace_context_effect effect, uint64_t handle)
{
    bool pops = effect == POP_CONTEXT || (effect == SET_CONTEXT && handle == 0);
    if (effect == PUSH_CONTEXT)
        thread->depth++;
    if (pops && thread->depth > 0) {
        thread->depth--;
        return;
    }
    if (thread->depth >= MAX_CONTEXTS)
        return;
    if (pops)
        thread->contexts[0] = 0;
    else if (effect == PUSH_CONTEXT || effect == SET_CONTEXT || effect == SEE_CONTEXT)
        thread->contexts[thread->depth] = handle;
    else if (effect == DESTROY_CONTEXT && thread->contexts[thread->depth] == handle) {
        thread->contexts[thread->depth] = 0;
        thread->depth -= thread->depth > 0;
    }
}

bool trace_contexts_follow(struct trace_model *model, const struct trace_call *call,
                           const struct trace_object_effect *effect)
{
    uint64_t handle = effect->count > 0 ? trace_object_handle(&effect->fields[0], call) : 0;
    if (effect->context == NO_CONTEXT)
        return true;
    if (effect->context == RETAIN_PRIMARY) {
        struct primary *device = trace_table_add(&model->devices, key_of(call, trace_word(call, 2)));
        if (device == NULL)
            return false;
        device->context = handle;
        device->references++;
        return true;
    }
    if (effect->context == RELEASE_PRIMARY || effect->context == RESET_PRIMARY) {
        primary_release(model, call, effect->context == RESET_PRIMARY);
        return true;
    }
    struct thread *thread = trace_table_add(&model->threads, thread_key(call));
    if (thread == NULL)
        return false;
    uint64_t before = trace_current_context(model, call);
    thread_follow(thread, effect->context, handle);
    if (before != 0 && trace_current_context(model, call) == 0) {
        thread->popped = before;
        thread->popped_by = trace_moment_of(model, call);
    }
    return true;
}

bool trace_context_popped(const struct trace_model *model, const struct trace_call *call,
                          const struct trace_object **out_context, struct trace_moment *out_moment)
{
    const struct thread *thread = trace_table_find(&model->threads, thread_key(call));
    const struct trace_object *context =
        thread != NULL && thread->popped != 0
            ? trace_object_find(model, call->process, TRACE_ROW_CONTEXT, thread->popped)
            : NULL;
    if (context == NULL)
        return false;
    *out_context = context;
    *out_moment = thread->popped_by;
    return true;
}

const struct trace_object *trace_context_elsewhere(const struct trace_model *model, const struct trace_call *call,
                                                   long *out_thread)
{
    for (const struct thread *thread = NULL; (thread = trace_table_next(&model->threads, thread)) != NULL;) {
        const struct trace_object *context =
            thread->key.process == call->process && thread->depth < MAX_CONTEXTS
                ? trace_object_find(model, call->process, TRACE_ROW_CONTEXT, thread->contexts[thread->depth])
                : NULL;
        if (context != NULL && context->is_alive && thread->key.id != (uint64_t)call->thread) {
            *out_thread = (long)thread->key.id;
            return context;
        }
    }
    return NULL;
}

void trace_contexts_prepare(struct trace_model *model)
{
    model->threads.size = sizeof(struct thread);
    model->devices.size = sizeof(struct primary);
}
