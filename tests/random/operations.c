/* SPDX-License-Identifier: MIT */
/* What a random program does. A new operation is a function and a row of `operations`. */
#include <string.h>

#include "check.h"
#include "kernels.h"
#include "random.h"

_Thread_local struct thread *me;
_Thread_local const char *operation;
struct cushim_context *bases[2];

struct thread threads[MAX_THREADS];
struct stream shared_streams[SHARED];

bool may_fail(void)
{
    return faults || atomic_load(&broken);
}

void *find(void *places, unsigned count, size_t size, bool filled)
{
    unsigned start = choose(count);
    for (unsigned i = 0; i < count; i++) {
        void *place = (char *)places + (start + i) % count * size;
        void *pointer;
        memcpy(&pointer, place, sizeof pointer);
        if ((pointer != NULL) == filled)
            return place;
    }
    return NULL;
}

struct stream *pick_own(void)
{
    struct stream *found = FIND(me->streams, true);
    return found == NULL || found->busy ? NULL : found;
}

struct stream *pick(void)
{
    return settings.threads > 1 && one_in(4) ? &shared_streams[choose(SHARED)] : pick_own();
}

struct clock *clock_of(const struct stream *stream)
{
    return &me->lines.clocks[stream->line];
}

void made(CUresult result, void *place)
{
    const void *object;
    memcpy(&object, place, sizeof object);
    check((noted(result) == CUDA_SUCCESS) == (object != NULL), "a result was not written, or in spite of a failure");
    check(result == CUDA_SUCCESS || may_fail(), "nothing was made");
}

/* Streams. */

static void stream_create(void)
{
    struct stream *stream = FIND(me->streams, false);
    struct cushim_context *context = NULL;
    unsigned where = choose(8);
    if (stream == NULL || me->lines.count == LINES - SHARED)
        return;
    *stream = (struct stream){.line = me->lines.count, .context = where == OWN ? OWN : where % 2};
    note("create line %u in context %u", stream->line, stream->context);
    if (stream->context == OWN)
        made(cushim_context_create(0, 0, &context), &context);
    CUresult result = cushim_stream_create(stream->context == OWN ? context : bases[stream->context],
                                           choose(2) * CU_STREAM_NON_BLOCKING, -(int)choose(6), &stream->stream);
    if (stream->context != OWN || context != NULL)
        made(result, &stream->stream);
    me->lines.count += stream->stream != NULL;
    cushim_context_destroy(&context); /* the stream holds it */
}

static void stream_borrow(void)
{
    struct stream *stream = FIND(me->streams, false);
    struct stream *of = pick_own();
    if (stream == NULL || of == NULL || of->of != NULL || of->context == OWN)
        return;
    *stream = (struct stream){.line = of->line, .context = of->context, .of = of};
    note("borrow line %u", of->line);
    made(cushim_stream_borrow(cushim_stream_handle(of->stream), bases[of->context], &stream->stream), &stream->stream);
    of->wrappers += stream->stream != NULL;
}

/* The driver's stream leaves its object and comes into another one. */
static void stream_pass_on(void)
{
    struct stream *stream = pick_own();
    CUstream handle = NULL;
    if (stream == NULL || stream->of != NULL || stream->wrappers != 0 || stream->context == OWN)
        return;
    note("pass on line %u", stream->line);
    if (noted(cushim_stream_release(&stream->stream, &handle)) != CUDA_SUCCESS) {
        check(stream->stream != NULL && handle == NULL, "a refusal changed something");
        return;
    }
    made(cushim_stream_adopt(handle, bases[stream->context], &stream->stream), &stream->stream);
    if (stream->stream == NULL)
        cu->StreamDestroy_v2(handle);
}

void stream_close(struct stream *stream, bool waits)
{
    if (stream->wrappers != 0)
        return;
    note("%s line %u", waits ? "close" : "destroy", stream->line);
    CUresult result = noted(waits ? cushim_stream_close(&stream->stream) : cushim_stream_destroy(&stream->stream));
    check(stream->stream == NULL, "the variable is not NULL");
    if (waits && result == CUDA_SUCCESS)
        clock_check(&me->lines, clock_of(stream), "a stream was closed");
    if (stream->of != NULL)
        stream->of->wrappers--;
}

static void end_stream(void)
{
    struct stream *stream = pick_own();
    if (stream != NULL)
        stream_close(stream, stream->context == OWN || one_in(2));
}

/* Work. */

/* The device writes a word before the work, with which only this work can find its number there. */
static void write_word(const struct stream *stream, struct marker *work)
{
    unsigned place = me->words_used;
    CUdeviceptr address = me->device_words + (CUdeviceptr)place * 4;
    if (place == WORDS || me->capturing)
        return;
    me->words_used++;
    CUresult result = one_in(2) ? cushim_stream_write_value32(stream->stream, address, work->number, 0)
                                : cu->MemsetD32Async_v1(address, work->number, 1, cushim_stream_handle(stream->stream));
    work->word = result == CUDA_SUCCESS ? &me->words[place] : NULL;
}

void work_add(struct stream *stream, struct recipe *recipe)
{
    struct lines *lines = &me->lines;
    struct marker *work = marker_new(lines, WORK, operation);
    if (work == NULL)
        return;
    work->line = stream->line;
    work->number = lines->enqueued[stream->line] + 1;
    work->before = *clock_of(stream);
    work->microseconds = one_in(6) ? (long)choose(400) : 0;
    work->recipe = recipe;
    work->launch = recipe != NULL ? recipe->launches : 0;
    if (one_in(3))
        write_word(stream, work);
    void (*release)(void *) = marker_choose_release(work);
    note("%s: work %u of line %u", operation, work->number, work->line);
    CUresult result = noted(one_in(2) ? cushim_stream_launch_host(stream->stream, marker_host_function, work, release)
                                      : cushim_stream_add_callback(stream->stream, marker_callback, work, release));
    marker_given(work, result);
    check(result == CUDA_SUCCESS || may_fail(), "work was refused");
    if (result == CUDA_SUCCESS)
        clock_of(stream)->of[work->line] = lines->enqueued[work->line] = work->number;
}

static void work(void)
{
    struct stream *stream = pick();
    if (stream != NULL)
        work_add(stream, NULL);
}

static void order(void)
{
    struct stream *to = pick_own();
    struct stream *from = pick();
    if (to == NULL || from == NULL)
        return;
    note("line %u waits for line %u", to->line, from->line);
    if (noted(cushim_stream_wait_for(to->stream, from->stream)) == CUDA_SUCCESS)
        clock_merge(clock_of(to), clock_of(from));
}

static void event(void)
{
    struct event *event = &me->events[choose(EVENTS)];
    struct stream *stream = pick();
    if (event->event == NULL) {
        note("create an event");
        *event = (struct event){.context = choose(2)};
        made(cushim_event_create(bases[event->context], choose(2) * CU_EVENT_DISABLE_TIMING, &event->event),
             &event->event);
    } else if (one_in(8)) {
        note("destroy an event");
        noted(cushim_event_destroy(&event->event));
        check(event->event == NULL, "the variable is not NULL");
    } else if (stream != NULL && stream->context == event->context && one_in(2)) {
        note("record line %u", stream->line);
        if (noted(cushim_event_record(event->event, stream->stream, 0)) == CUDA_SUCCESS)
            event->clock = *clock_of(stream);
    } else if (stream != NULL) {
        note("line %u waits for an event", stream->line);
        if (noted(cushim_stream_wait_event(stream->stream, event->event, 0)) == CUDA_SUCCESS)
            clock_merge(clock_of(stream), &event->clock);
    }
}

static CUresult run_body(struct cushim_stream *stream, void *user)
{
    (void)stream;
    work_add(user, NULL);
    return CUDA_SUCCESS;
}

/* Each may invalidate captures of this thread. */
void op_wait_for_work(void)
{
    struct stream *stream = pick();
    struct event *event = &me->events[choose(EVENTS)];
    CUresult result;
    if (one_in(3)) {
        note("query or wait for an event");
        result = event->event == NULL ? CUDA_ERROR_NOT_READY
                 : one_in(2)          ? noted(cushim_event_query(event->event))
                                      : noted(cushim_event_synchronize(event->event));
        if (result == CUDA_SUCCESS)
            clock_check(&me->lines, &event->clock, "an event was done");
    } else if (stream != NULL) {
        unsigned way = choose(3);
        note("query, wait for or run in line %u", stream->line);
        result = way == 0   ? cushim_stream_query(stream->stream)
                 : way == 1 ? cushim_stream_synchronize(stream->stream)
                            : cushim_stream_run(stream->stream, run_body, stream);
        if (result == CUDA_SUCCESS)
            clock_check(&me->lines, clock_of(stream), "a stream was done");
    }
}

/* What holds around them. */

static void set_current(void)
{
    CUcontext current = one_in(4) ? NULL : cushim_context_handle(bases[choose(2)]);
    note("another context is current");
    if (cu->CtxSetCurrent_v1(current) == CUDA_SUCCESS)
        me->current = current;
}

/* A sticky error: once in a program, in which from there on everything may fail, but must end. */
static void kernel_fault(void)
{
    CUfunction function = NULL;
    struct stream *stream = pick_own();
    if (soft == NULL || faults || settings.seed % 8 != 2 || me != threads || atomic_load(&broken) || stream == NULL
        || me->lines.count < LINES / 2)
        return;
    note("a kernel faults in line %u", stream->line);
    cu->CtxSetCurrent_v1(cushim_context_handle(bases[0]));
    if (kernel_get("conformance_fault", &function) == CUDA_SUCCESS) {
        atomic_store(&broken, true);
        (void)kernel_launch(function, cushim_stream_handle(stream->stream), NULL);
    }
    cu->CtxSetCurrent_v1(me->current);
}

static const struct operation {
    const char *name;
    unsigned weight;
    bool is_safe; /* it invalidates no capture of this thread */
    void (*run)(void);
} operations[] = {
    {"stream_create", 5, true, stream_create},
    {"stream_borrow", 2, true, stream_borrow},
    {"stream_pass_on", 2, true, stream_pass_on},
    {"stream_end", 3, true, end_stream},
    {"work", 14, true, work},
    {"order", 8, true, order},
    {"event", 12, true, event},
    {"wait_for_work", 4, false, op_wait_for_work},
    {"completion_create", 14, true, op_completion_create},
    {"enqueue", 10, true, op_enqueue},
    {"observe", 10, true, op_observe},
    {"wait_for_several", 4, true, op_wait_for_several},
    {"set_callback", 10, true, op_set_callback},
    {"drop", 8, true, op_drop},
    {"hand_over", 6, true, op_hand_over},
    {"dispatcher", 8, true, op_dispatcher},
    {"capture", 5, false, op_capture},
    {"capture_open", 8, false, op_capture_open},
    {"launch", 12, false, op_launch},
    {"exec_destroy", 2, true, op_exec_destroy},
    {"set_current", 3, true, set_current},
    {"kernel_fault", 1, false, kernel_fault},
};

void op_any(bool safe)
{
    const struct operation *drawn;
    const char *outer = operation;
    unsigned number, weights = 0;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        weights += operations[i].weight;
    do {
        drawn = operations;
        for (number = choose(weights); number >= drawn->weight; drawn++)
            number -= drawn->weight;
    } while (safe && !drawn->is_safe);
    operation = drawn->name;
    drawn->run();
    CUcontext current = me->current;
    if (cu->CtxGetCurrent_v1(&current) == CUDA_SUCCESS && current != me->current)
        fail("%s changed the current context", drawn->name);
    operation = outer;
}
