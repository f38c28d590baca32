/* SPDX-License-Identifier: MIT */
/*
 * Queues: the operations in streams, their order, and the threads that execute them.
 *
 * The first operation of a stream is ready when it waits for no other. A stream with a ready operation is assigned to a
 * worker, which executes operations of the stream until none is ready. There are at least as many workers as streams
 * with work for one: the worker is started before the work is accepted, so that the submitting call can fail if the
 * system has no more threads. Therefore two streams never wait for the same thread, however long a callback blocks, and
 * an idle stream needs no thread.
 */
#include "engine.h"

#include <stdlib.h>

#include "compiler.h"
#include "os_thread.h"

enum { IDLE_WORKERS_KEPT = 16 };

static struct stream *ready_first, **ready_last = &ready_first;
static size_t worker_count, idle_count;
static size_t working_count;           /* streams with work for a worker */
static struct stream *pending_streams; /* streams whose first operation may have become ready */

void op_ref(struct op *op)
{
    op->references++;
}

void op_unref(struct op *op)
{
    if (--op->references == 0)
        free(op);
}

void op_wait(struct op *op)
{
    op_ref(op);
    op->waiters++;
    while (!op->done)
        os_wait(OS_OP_DONE);
    op->waiters--;
    op_unref(op);
}

static void worker_main(void);

static void queue_schedule(struct stream *stream)
{
    stream->scheduled = true;
    object_ref(stream);
    stream->next_ready = NULL;
    *ready_last = stream;
    ready_last = &stream->next_ready;
    os_wake_one(OS_WORK_READY);
}

/* Starts workers until one more stream with work would have its own. */
static bool worker_reserve(void)
{
    while (worker_count <= working_count) {
        if (!os_start_thread(worker_main))
            return false;
        worker_count++;
    }
    return true;
}

static void worker_count_work(struct stream *stream)
{
    if (stream->work_count++ == 0)
        working_count++;
}

static bool worker_is_surplus(void)
{
    return idle_count > IDLE_WORKERS_KEPT && worker_count > working_count;
}

static void worker_count_done(struct stream *stream)
{
    if (--stream->work_count > 0)
        return;
    working_count--;
    if (worker_is_surplus())
        os_wake_one(OS_WORK_READY); /* which then ends */
}

static void queue_mark_pending(struct stream *stream)
{
    if (!stream->is_pending) {
        stream->is_pending = true;
        stream->next_pending = pending_streams;
        pending_streams = stream;
        object_ref(stream);
    }
}

/* The first operation of a queue is complete: operations that wait for it may be ready. */
static void op_complete(struct stream *stream)
{
    struct op *op = stream->head;
    op->done = true;
    op->time = os_clock();
    stream->head = op->next;
    if (stream->head == NULL)
        stream->tail = NULL;
    for (struct link *link = op->dependents, *next; link != NULL; link = next) {
        next = link->next; /* the link belongs to the waiting operation */
        if (--link->op->waits == 0 && link->op->stream->head == link->op)
            queue_mark_pending(link->op->stream);
    }
    op->dependents = NULL;
    if (!work_is_instant(op->work))
        worker_count_done(stream);
    work_unref(op->work);
    op->work = NULL;
    op->stream = NULL;
    if (op->waiters > 0)
        os_wake_all(OS_OP_DONE);
    op_unref(op);
    object_unref(stream);
}

static bool queue_is_ready(const struct stream *stream)
{
    return stream->head != NULL && stream->head->waits == 0 && !stream->head->started;
}

/*
 * Completes operations that need no thread, in every affected stream, and assigns the rest to workers. A completed
 * operation may drop the last reference to a user object, whose destructor is pushed by a nested call: that call
 * only marks the stream as pending.
 */
static void queue_advance(void)
{
    static bool advancing;
    if (advancing)
        return;
    advancing = true;
    while (pending_streams != NULL) {
        struct stream *stream = pending_streams;
        pending_streams = stream->next_pending;
        stream->is_pending = false;
        if (!stream->scheduled) {
            while (queue_is_ready(stream) && work_is_instant(stream->head->work))
                op_complete(stream);
            if (queue_is_ready(stream))
                queue_schedule(stream);
        }
        object_unref(stream);
    }
    advancing = false;
}

static void queue_execute(struct stream *stream)
{
    struct thread *thread = thread_self();
    struct op *op = stream->head;
    struct context *context = stream->context;
    CUresult status = context == NULL ? CUDA_SUCCESS : context_state(context, stream->generation);
    if (!work_is_instant(op->work)) {
        op->started = true;
        if (thread != NULL)
            thread->running = op;
        os_unlock();
        CUresult result = work_run(op->work, status, stream);
        os_lock();
        if (thread != NULL)
            thread->running = NULL;
        if (result != CUDA_SUCCESS && context != NULL && context_state(context, stream->generation) == CUDA_SUCCESS)
            sticky_error_set(context->device, result);
    }
    op_complete(stream);
}

static void worker_main(void)
{
    os_lock();
    for (;;) {
        idle_count++;
        while (ready_first == NULL) {
            if (worker_is_surplus()) {
                idle_count--;
                worker_count--;
                os_unlock();
                return;
            }
            os_wait(OS_WORK_READY);
        }
        idle_count--;
        struct stream *stream = ready_first;
        ready_first = stream->next_ready;
        if (ready_first == NULL)
            ready_last = &ready_first;
        while (queue_is_ready(stream)) {
            queue_execute(stream);
            queue_advance();
        }
        stream->scheduled = false;
        object_unref(stream);
    }
}

static bool started, forked;

static void queue_in_child(void)
{
    forked = started;
    worker_count = idle_count = 0;
}

SOFT_CONSTRUCTOR static void queue_watch_forks(void);
static void queue_watch_forks(void)
{
    os_on_fork(queue_in_child);
}

void queue_start(void)
{
    started = true;
}

bool queue_is_forked(void)
{
    return forked;
}

/* The operations that a new one must wait for; kept between calls. */
static struct op **dependencies;
static size_t dependency_count, dependency_capacity;

static bool dependency_add(struct op *op)
{
    if (op == NULL || op->done)
        return true;
    if (!soft_reserve((void **)&dependencies, &dependency_capacity, dependency_count + 1, sizeof(struct op *)))
        return false;
    dependencies[dependency_count++] = op;
    return true;
}

static bool dependency_add_joined(const struct stream *stream)
{
    const struct context *context = stream->context;
    if (context == NULL)
        return true;
    if (stream_is_blocking(stream))
        return context->legacy == NULL || dependency_add(context->legacy->last);
    if (stream->role != STREAM_LEGACY)
        return true;
    for (const struct stream *other = context->streams; other != NULL; other = other->next)
        if (stream_is_blocking(other) && !dependency_add(other->last))
            return false;
    return true;
}

/* `certain`: the work must have a worker of its own. */
static struct op *op_push(struct stream *stream, struct work *work, struct op *after, bool certain)
{
    bool needs_worker = !work_is_instant(work);
    dependency_count = 0;
    struct op *before = work->kind == WORK_WAIT    ? work->event->op
                        : work->kind == WORK_ALLOC ? work->block->freed_by
                                                   : NULL;
    if (!dependency_add_joined(stream) || !dependency_add(after) || !dependency_add(before))
        return NULL;
    struct op *op = calloc(1, sizeof *op + dependency_count * sizeof(struct link));
    if (op == NULL)
        return NULL;
    if (needs_worker && !queue_reserve(stream) && certain) {
        free(op);
        return NULL;
    }
    if (needs_worker)
        worker_count_work(stream);
    op->references = 2; /* that of the queue, and that of the stream for its newest operation */
    op->work = work;
    work_ref(work);
    op->stream = stream;
    object_ref(stream);
    op->link_count = op->waits = (unsigned)dependency_count;
    for (size_t i = 0; i < dependency_count; i++) {
        op->links[i].op = op;
        op->links[i].next = dependencies[i]->dependents;
        dependencies[i]->dependents = &op->links[i];
    }
    if (stream->tail != NULL)
        stream->tail->next = op;
    else
        stream->head = op;
    stream->tail = op;
    if (stream->last != NULL)
        op_unref(stream->last);
    stream->last = op;
    if (work->kind == WORK_RECORD)
        event_set_op(work->event, op);
    queue_mark_pending(stream);
    queue_advance();
    return op;
}

bool queue_reserve(const struct stream *stream)
{
    return stream->work_count > 0 || worker_reserve();
}

struct op *queue_push(struct stream *stream, struct work *work, struct op *after)
{
    return op_push(stream, work, after, true);
}

CUresult queue_submit(struct stream *stream, struct work *work)
{
    if (work == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (stream->capture != NULL)
        return capture_add(stream, work);
    CUresult result = capture_implicit(stream, true);
    if (result == CUDA_SUCCESS && !work_memory_is_allocated(work))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && forked)
        result = CUDA_ERROR_NOT_INITIALIZED; /* the child has no workers */
    if (result == CUDA_SUCCESS && queue_push(stream, work, NULL) == NULL)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    work_unref(work);
    return result;
}

CUresult queue_submit_and_wait(struct stream *stream, struct work *work, bool waits)
{
    bool is_captured = stream->capture != NULL;
    object_ref(stream);
    CUresult result = queue_submit(stream, work);
    if (result == CUDA_SUCCESS && waits && !is_captured) {
        op_wait(stream->last);
        result = context_state(stream->context, stream->generation);
    }
    object_unref(stream);
    return result;
}

/* A stream without a device, so without a sticky error; its operation keeps it until it is complete. */
static struct stream *stream_new_without_context(void)
{
    static struct context no_context = {
        .object = {OBJECT_CONTEXT, 1, NULL, NULL}, .alive = true, .device = MAX_DEVICES};
    return stream_new(&no_context, STREAM_CREATED, CU_STREAM_NON_BLOCKING, 0);
}

void queue_defer(CUhostFn function, void *data)
{
    struct work *work = work_new(WORK_HOST);
    struct stream *stream = work == NULL ? NULL : stream_new_without_context();
    if (stream != NULL) {
        work->host.function = function;
        work->host.data = data;
        (void)op_push(stream, work, NULL, false); /* without a worker of its own, it waits for the next free one */
    }
    object_unref(stream);
    work_unref(work);
}

static bool queue_push_behind(struct stream *stream, struct work *work, const struct context *context)
{
    for (const struct stream *other = context->streams; other != NULL; other = other->next)
        if (other->head != NULL && op_push(stream, work, other->last, false) == NULL)
            return false;
    for (const struct context *green = context->greens; green != NULL; green = green->next_green)
        if (!queue_push_behind(stream, work, green))
            return false;
    return true;
}

bool queue_release(const struct context *context, struct block *block)
{
    struct work *wait = work_new(WORK_EMPTY), *work = work_new(WORK_FREE);
    struct stream *stream = wait == NULL || work == NULL ? NULL : stream_new_without_context();
    bool is_pushed = stream != NULL && queue_push_behind(stream, wait, context);
    if (is_pushed) {
        work->block = block;
        is_pushed = op_push(stream, work, NULL, false) != NULL;
        work->block = is_pushed ? block : NULL;
    }
    object_unref(stream);
    work_unref(work);
    work_unref(wait);
    return is_pushed;
}
