/* SPDX-License-Identifier: MIT */
/* The objects of a thread: finding them, filling slots, and ending all of them. */
#include "trace.h"

#include <string.h>

_Thread_local struct thread_objects *objects;
struct shared_objects shared_objects;

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
    return &shared_objects.bases[choose(2)];
}

struct context_slot *pick_context(void)
{
    struct context_slot *found = one_in(2) ? FIND(objects->contexts, true) : NULL;
    return found != NULL ? found : pick_base();
}

struct stream_slot *pick_own_stream(void)
{
    struct stream_slot *found = FIND(objects->streams, true);
    if (found != NULL && found->of < 0)
        objects->invalidated++; /* the legacy stream bears on captures of blocking ones */
    return found;
}

struct stream_slot *pick_stream(void)
{
    return picks_shared() ? &shared_objects.streams[choose(SHARED)] : pick_own_stream();
}

struct cushim_event **pick_event(void)
{
    return FIND(objects->events, true);
}

struct graph_slot *pick_graph(void)
{
    return FIND(objects->graphs, true);
}

struct cushim_graph_exec **pick_exec(void)
{
    return FIND(objects->execs, true);
}

struct capture_slot *pick_capture(void)
{
    return FIND(objects->captures, true);
}

struct completion_slot *pick_own_completion(void)
{
    return FIND(objects->completions, true);
}

struct completion_slot *pick_completion(void)
{
    return picks_shared() ? &shared_objects.completions[choose(SHARED)] : pick_own_completion();
}

struct cushim_dispatcher **pick_dispatcher(void)
{
    return settings.threads > 1 && one_in(2) ? &shared_objects.dispatchers[choose(SHARED)]
                                             : FIND(objects->dispatchers, true);
}

struct stream_slot *free_stream(void)
{
    return FIND(objects->streams, false);
}

struct driver_stream *free_driver_stream(void)
{
    return FIND(objects->drivers, false);
}

struct completion_slot *free_completion(void)
{
    return FIND(objects->completions, false);
}

struct driver_stream *driver_stream_of(const struct stream_slot *slot)
{
    return slot->of >= 0 ? &objects->drivers[slot->of] : NULL;
}

void stream_fill(struct stream_slot *slot, struct cushim_stream *stream, struct driver_stream *of, bool owned)
{
    slot->stream = stream;
    slot->serial = ++objects->serial;
    slot->of = of != NULL ? (int)(of - objects->drivers) : -1;
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
    objects->special_bodies += use.of == NULL;
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
    objects->special_bodies -= use->of == NULL;
    if (use->of != NULL && use->of->handle != NULL && use->of->serial == use->of_serial)
        use->of->bodies--;
}

static bool has_captures(void)
{
    return cushim_driver_version() >= 10010;
}

void objects_open(struct thread_objects *of_thread, unsigned number)
{
    memset(of_thread, 0, sizeof *of_thread);
    of_thread->number = number;
    objects = of_thread;
    for (int i = 0; i < STREAMS; i++)
        of_thread->streams[i].of = -1;
    of_thread->current = cushim_context_handle(shared_objects.bases[0].context);
    driver()->CtxSetCurrent_v1(of_thread->current);
    driver()->MemHostAlloc_v1((void **)&of_thread->words, WORDS * 4,
                              CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    driver()->MemHostGetDevicePointer_v2(&of_thread->device_words, of_thread->words, 0);
    if (of_thread->words == NULL || of_thread->device_words == 0)
        fail("no memory that the device sees");
    memset(of_thread->words, 0, WORDS * 4);
    for (int i = 0; i < 2; i++)
        driver()->EventCreate_v1(&of_thread->driver_events[i], 0);
    if (has_captures())
        driver()->GraphCreate_v1(&of_thread->driver_graph, 0);
}

/* Nothing here may invalidate a capture of another thread, and nothing of another thread may fail it. */
static void enter_relaxed_mode(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (has_captures())
        driver()->ThreadExchangeStreamCaptureMode_v1(&mode);
}

static void end_captures(void)
{
    for (int i = 0; i < CAPTURES; i++)
        cushim_capture_end(&objects->captures[i].capture, NULL);
}

/* A thread must not end while its default stream is capturing (cushim/capture.h). */
static void check_default_streams(void)
{
    for (int i = 0; i < 2 && has_captures(); i++) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        driver()->CtxSetCurrent_v1(cushim_context_handle(shared_objects.bases[i].context));
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
                  && (popped == cushim_context_handle(shared_objects.bases[0].context)
                      || popped == cushim_context_handle(shared_objects.bases[1].context)),
              "the stack of contexts has one that does not belong there");
}

/* Neither holds after a sticky error or an injected fault: nobody can end such a capture. */
static void check_thread(void)
{
    if (!faults && !atomic_load(&broken)) {
        check_default_streams();
        check_stack();
    }
    driver()->CtxSetCurrent_v1(cushim_context_handle(shared_objects.bases[0].context));
}

static void end_streams(bool owned)
{
    for (int i = 0; i < STREAMS; i++) {
        struct stream_slot *slot = &objects->streams[i];
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
        if (objects->drivers[i].handle != NULL && !objects->drivers[i].has_owner)
            driver()->StreamDestroy_v2(objects->drivers[i].handle);
}

/* Each that was not captured fires, and soon. */
static void end_completion(struct completion_slot *slot)
{
    if (slot->completion == NULL)
        return;
    if (!slot->captured
        && cushim_completion_wait(slot->completion, cushim_clock_ns() + PATIENCE, NULL) == CUDA_ERROR_TIMEOUT)
        fail("a completion did not fire");
    if (one_in(2)) {
        cushim_completion_detach(&slot->completion);
        return;
    }
    if (slot->function != NULL)
        atomic_store(&slot->function->must_call, false);
    cushim_completion_destroy(&slot->completion);
}

void objects_close(void)
{
    objects->depth = MAX_DEPTH; /* functions that are still called make nothing new */
    enter_relaxed_mode();
    end_captures();
    program_meet(); /* a capture of another thread may be in the way of work in the legacy stream */
    for (int i = 0; i < COMPLETIONS; i++)
        end_completion(&objects->completions[i]);
    for (int i = 0; i < DISPATCHERS; i++) {
        if (i % 2 == 0 && objects->dispatchers[i] != NULL)
            cushim_dispatcher_run(objects->dispatchers[i], 0, NULL);
        cushim_dispatcher_destroy(&objects->dispatchers[i]);
    }
    end_streams(false);
    end_streams(true);
    end_driver_streams();
    if (objects->driver_graph != NULL)
        driver()->GraphDestroy_v1(objects->driver_graph);
    for (int i = 0; i < GRAPHS; i++)
        cushim_graph_destroy(&objects->graphs[i].graph);
    for (int i = 0; i < EXECS; i++)
        cushim_graph_exec_destroy(&objects->execs[i]);
    for (int i = 0; i < EVENTS; i++)
        cushim_event_destroy(&objects->events[i]);
    for (int i = 0; i < 2; i++)
        driver()->EventDestroy_v2(objects->driver_events[i]);
    for (int i = 0; i < CONTEXTS; i++)
        cushim_context_destroy(&objects->contexts[i].context);
    check_thread();
    objects = NULL;
}
