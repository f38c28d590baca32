/* SPDX-License-Identifier: MIT */
/* The objects of a thread: finding some, filling places, and ending them all. */
#include "trace.h"

#include <string.h>

_Thread_local struct world *me;
struct everybody everybody;

/* A place, at or after a random one, where a pointer at `offset` of it is there (or is not). */
static void *find(void *places, unsigned count, size_t size, bool filled)
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

/* The first member of each is the pointer to the object. */
#define FIND(places, filled) find(places, sizeof(places) / sizeof(places)[0], sizeof(places)[0], filled)

static bool picks_shared(void)
{
    return settings.threads > 1 && one_in(5);
}

struct context_slot *pick_base(void)
{
    return &everybody.bases[choose(2)];
}

struct context_slot *pick_context(void)
{
    struct context_slot *found = one_in(2) ? FIND(me->contexts, true) : NULL;
    return found != NULL ? found : pick_base();
}

struct stream_slot *pick_own_stream(void)
{
    struct stream_slot *found = FIND(me->streams, true);
    if (found != NULL && found->of < 0)
        me->invalidated++; /* the legacy stream bears on captures of blocking ones */
    return found;
}

struct stream_slot *pick_stream(void)
{
    return picks_shared() ? &everybody.streams[choose(SHARED)] : pick_own_stream();
}

struct cushim_event **pick_event(void)
{
    return FIND(me->events, true);
}

struct graph_slot *pick_graph(void)
{
    return FIND(me->graphs, true);
}

struct cushim_graph_exec **pick_exec(void)
{
    return FIND(me->execs, true);
}

struct capture_slot *pick_capture(void)
{
    return FIND(me->captures, true);
}

struct completion_slot *pick_own_completion(void)
{
    return FIND(me->completions, true);
}

struct completion_slot *pick_completion(void)
{
    return picks_shared() ? &everybody.completions[choose(SHARED)] : pick_own_completion();
}

struct cushim_dispatcher **pick_dispatcher(void)
{
    return settings.threads > 1 && one_in(2) ? &everybody.dispatchers[choose(SHARED)] : FIND(me->dispatchers, true);
}

struct stream_slot *free_stream(void)
{
    return FIND(me->streams, false);
}

struct driver_stream *free_driver_stream(void)
{
    return FIND(me->drivers, false);
}

struct completion_slot *free_completion(void)
{
    return FIND(me->completions, false);
}

struct driver_stream *driver_stream_of(const struct stream_slot *slot)
{
    return slot->of >= 0 ? &me->drivers[slot->of] : NULL;
}

void stream_fill(struct stream_slot *slot, struct cushim_stream *stream, struct driver_stream *of, bool owned)
{
    slot->stream = stream;
    slot->serial = ++me->serial;
    slot->of = of != NULL ? (int)(of - me->drivers) : -1;
    slot->bodies = 0;
    slot->owned = owned;
    if (of != NULL)
        of->wrappers++;
}

bool is_idle(const struct cushim_stream *stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (cushim_driver_version() < 10000)
        return true;
    return driver()->StreamIsCapturing_v1(cushim_stream_handle(stream), &status) == CUDA_SUCCESS
           && status == CU_STREAM_CAPTURE_STATUS_NONE;
}

struct body_use body_begin(struct stream_slot *slot)
{
    struct body_use use = {slot, slot->serial, NULL, 0};
    if (slot->shared)
        return use;
    slot->bodies++;
    use.of = driver_stream_of(slot);
    me->special_bodies += use.of == NULL;
    if (use.of != NULL) {
        use.of_serial = use.of->serial;
        use.of->bodies++;
    }
    return use;
}

bool body_has_stream(const struct body_use *use)
{
    return use->slot->stream != NULL && use->slot->serial == use->serial;
}

void body_end(const struct body_use *use)
{
    if (use->slot->shared)
        return;
    if (body_has_stream(use))
        use->slot->bodies--;
    me->special_bodies -= use->of == NULL;
    if (use->of != NULL && use->of->handle != NULL && use->of->serial == use->of_serial)
        use->of->bodies--;
}

void body_pin(const struct body_use *use)
{
    if (use->of != NULL && use->of->handle != NULL && use->of->serial == use->of_serial)
        use->of->bodies++;
}

static bool has_captures(void)
{
    return cushim_driver_version() >= 10010;
}

void world_open(struct world *world, unsigned number)
{
    memset(world, 0, sizeof *world);
    world->number = number;
    me = world;
    for (int i = 0; i < STREAMS; i++)
        world->streams[i].of = -1;
    world->current = cushim_context_handle(everybody.bases[0].context);
    driver()->CtxSetCurrent_v1(world->current);
    driver()->MemHostAlloc_v1((void **)&world->words, WORDS * 4, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    driver()->MemHostGetDevicePointer_v2(&world->device_words, world->words, 0);
    if (world->words == NULL || world->device_words == 0)
        fail("no memory that the device sees");
    memset(world->words, 0, WORDS * 4);
    for (int i = 0; i < 2; i++)
        driver()->EventCreate_v1(&world->driver_events[i], 0);
    if (has_captures())
        driver()->GraphCreate_v1(&world->driver_graph, 0);
}

/* Nothing here may invalidate a capture of another thread, and nothing of another thread may fail it. */
static void be_relaxed(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (has_captures())
        driver()->ThreadExchangeStreamCaptureMode_v1(&mode);
}

static void end_captures(void)
{
    for (int i = 0; i < CAPTURES; i++)
        cushim_capture_end(&me->captures[i].capture, NULL);
}

/* A thread must not end while its default stream is capturing (cushim/capture.h). */
static void check_default_streams(void)
{
    for (int i = 0; i < 2 && has_captures(); i++) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        driver()->CtxSetCurrent_v1(cushim_context_handle(everybody.bases[i].context));
        check(driver()->StreamIsCapturing_v1(CU_STREAM_PER_THREAD, &status) == CUDA_SUCCESS
                  && status == CU_STREAM_CAPTURE_STATUS_NONE,
              "the default stream of a thread is capturing when the thread ends");
    }
}

/* Nor with a context in its stack that was destroyed (cushim/context.h); and blocks leave nothing there. */
static void check_stack(void)
{
    CUcontext popped;
    for (int depth = 0; driver()->CtxPopCurrent_v2(&popped) == CUDA_SUCCESS; depth++)
        check(depth == 0
                  && (popped == cushim_context_handle(everybody.bases[0].context)
                      || popped == cushim_context_handle(everybody.bases[1].context)),
              "the stack of contexts has one that does not belong there");
}

/* After a sticky error, or where a call was made to fail, neither can be promised: nobody can end such a capture. */
static void check_thread(void)
{
    if (!faults && !atomic_load(&broken)) {
        check_default_streams();
        check_stack();
    }
    driver()->CtxSetCurrent_v1(cushim_context_handle(everybody.bases[0].context));
}

/* Work that was enqueued by a body in a capture is taken up again by a later call, in the same context. */
static void end_deferred(void)
{
    CUcontext currents[] = {NULL, cushim_context_handle(everybody.bases[0].context),
                            cushim_context_handle(everybody.bases[1].context)};
    struct cushim_stream *stream = NULL;
    struct cushim_completion *completion = NULL;
    if (cushim_stream_borrow(NULL, NULL, &stream) != CUDA_SUCCESS) /* which a context with a sticky error has, too */
        return;
    for (int i = 0; i < 3; i++) {
        driver()->CtxSetCurrent_v1(currents[i]);
        cushim_stream_completion(stream, &completion);
        cushim_completion_detach(&completion);
    }
    driver()->CtxSetCurrent_v1(currents[1]);
    cushim_stream_destroy(&stream);
}

static void end_streams(bool owned)
{
    for (int i = 0; i < STREAMS; i++) {
        struct stream_slot *slot = &me->streams[i];
        if (slot->stream == NULL || slot->owned != owned)
            continue;
        if (i % 2 == 0)
            cushim_stream_close(&slot->stream);
        else
            cushim_stream_destroy(&slot->stream);
    }
}

static void end_driver_streams(void)
{
    for (int i = 0; i < DRIVER_STREAMS; i++)
        if (me->drivers[i].handle != NULL && !me->drivers[i].has_owner)
            driver()->StreamDestroy_v2(me->drivers[i].handle);
}

/* Each that was not captured fires, and soon. */
static void end_completion(struct completion_slot *slot)
{
    if (slot->completion == NULL)
        return;
    if (!slot->captured && cushim_completion_wait(slot->completion, cushim_time_ns() + PATIENCE) == CUDA_ERROR_TIMEOUT)
        fail("a completion did not fire");
    if (one_in(2)) {
        cushim_completion_detach(&slot->completion);
        return;
    }
    if (slot->function != NULL)
        atomic_store(&slot->function->must_call, false);
    cushim_completion_destroy(&slot->completion);
}

void world_close(struct world *world)
{
    world->depth = MOST_DEPTH; /* functions that are still called make nothing new */
    be_relaxed();
    end_captures();
    program_meet(); /* a capture of another thread may be in the way of work in the legacy stream */
    end_deferred();
    for (int i = 0; i < COMPLETIONS; i++)
        end_completion(&world->completions[i]);
    for (int i = 0; i < DISPATCHERS; i++) {
        if (i % 2 == 0 && world->dispatchers[i] != NULL)
            cushim_dispatcher_run(world->dispatchers[i], NULL);
        cushim_dispatcher_destroy(&world->dispatchers[i]);
    }
    for (int i = 0; i < SETS; i++)
        cushim_completion_set_destroy(&world->sets[i]);
    end_streams(false);
    end_streams(true);
    end_driver_streams();
    if (world->driver_graph != NULL)
        driver()->GraphDestroy_v1(world->driver_graph);
    for (int i = 0; i < GRAPHS; i++)
        cushim_graph_destroy(&world->graphs[i].graph);
    for (int i = 0; i < EXECS; i++)
        cushim_graph_exec_destroy(&world->execs[i]);
    for (int i = 0; i < EVENTS; i++)
        cushim_event_destroy(&world->events[i]);
    for (int i = 0; i < 2; i++)
        driver()->EventDestroy_v2(world->driver_events[i]);
    for (int i = 0; i < CONTEXTS; i++)
        cushim_context_destroy(&world->contexts[i].context);
    check_thread();
    me = NULL;
}
