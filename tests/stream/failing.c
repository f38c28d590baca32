/* SPDX-License-Identifier: MIT */
/*
 * Each allocation fails in turn, and then each driver call. Nothing crashes, no object is left, no result is written,
 * the caller's current context does not change, and user data is released once.
 */
#include "support.h"

#include <stdio.h>

/* The objects that a scene uses, and its results. */
static struct {
    struct cushim_context *context;
    struct cushim_stream *stream;
    struct cushim_graph *graph;
    CUgraphNode node;
    atomic_int releases;
    bool releasing; /* whether the scene passed user data that must be released */
    bool wrote;     /* whether it wrote a result */
} act;

/* A scene calls functions of the layer, destroys what they created, and returns the code of the call under test. */
typedef CUresult (*scene)(void);

static CUresult create_primary(void)
{
    struct cushim_context *made = NULL;
    CUresult result = cushim_context_create_primary(0, &made);
    act.wrote = made != NULL;
    cushim_context_destroy(&made);
    return result;
}

static CUresult create_context(void)
{
    struct cushim_context *made = NULL;
    CUresult result = cushim_context_create(0, 0, &made);
    act.wrote = made != NULL;
    cushim_context_destroy(&made);
    return result;
}

static CUresult borrow_context(void)
{
    struct cushim_context *made = NULL;
    CUresult result = cushim_context_borrow(the_context, &made);
    act.wrote = made != NULL;
    cushim_context_destroy(&made);
    return result;
}

static CUresult query_range(void)
{
    int least = 99;
    int greatest = 99;
    CUresult result = cushim_context_priority_range(act.context, &least, &greatest);
    act.wrote = least != 99 || greatest != 99;
    return result;
}

static CUresult create_stream(void)
{
    struct cushim_stream *made = NULL;
    CUresult result = cushim_stream_create(act.context, CU_STREAM_NON_BLOCKING, 0, &made);
    act.wrote = made != NULL;
    cushim_stream_destroy(&made);
    return result;
}

static CUresult borrow_stream(void)
{
    struct cushim_stream *made = NULL;
    CUresult result = cushim_stream_borrow(cushim_stream_handle(act.stream), act.context, &made);
    act.wrote = made != NULL;
    cushim_stream_destroy(&made);
    return result;
}

static CUresult adopt_stream(void)
{
    struct cushim_stream *made = NULL;
    CUstream handle = NULL;
    CUresult result = cushim_stream_adopt(cushim_stream_handle(act.stream), act.context, &made);
    act.wrote = made != NULL;
    if (made != NULL)
        cushim_stream_release(&made, &handle);
    return result;
}

/* All properties of a stream that remembers none of them yet. */
static CUresult ask_stream(void)
{
    struct cushim_stream *made = NULL;
    unsigned flags = 99;
    int priority = 99;
    CUdevice device = 99;
    CUcontext context = NULL;
    CUresult result = cushim_stream_borrow(cushim_stream_handle(act.stream), NULL, &made);
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_stream_flags(made, &flags);
    act.wrote = result != CUDA_SUCCESS && flags != 99;
    if (result == CUDA_SUCCESS && (result = cushim_stream_priority(made, &priority)) != CUDA_SUCCESS)
        act.wrote = priority != 99;
    if (result == CUDA_SUCCESS && (result = cushim_stream_device(made, &device)) != CUDA_SUCCESS)
        act.wrote = device != 99;
    if (result == CUDA_SUCCESS && (result = cushim_stream_driver_context(made, &context, NULL)) != CUDA_SUCCESS)
        act.wrote = context != NULL;
    if (result == CUDA_SUCCESS)
        act.wrote = true;
    cushim_stream_destroy(&made);
    return result;
}

static CUresult create_event(void)
{
    struct cushim_event *made = NULL;
    CUresult result = cushim_event_create(act.context, CU_EVENT_DISABLE_TIMING, &made);
    act.wrote = made != NULL;
    cushim_event_destroy(&made);
    return result;
}

static CUresult create_graph(void)
{
    struct cushim_graph *made = NULL;
    CUresult result = cushim_graph_create(&made);
    act.wrote = made != NULL;
    cushim_graph_destroy(&made);
    return result;
}

static CUresult instantiate(void)
{
    struct cushim_graph_exec *made = NULL;
    CUresult result = cushim_graph_instantiate(act.graph, act.context, 0, &made);
    act.wrote = made != NULL;
    cushim_graph_exec_destroy(&made);
    return result;
}

static CUresult capture(void)
{
    struct cushim_graph *made = NULL;
    CUresult result = cushim_stream_capture(act.stream, RELAXED, body_adds_work, NULL, &made);
    act.wrote = made != NULL;
    cushim_graph_destroy(&made);
    return result;
}

static CUresult capture_executable(void)
{
    struct cushim_graph_exec *made = NULL;
    CUresult result = cushim_stream_capture_executable(act.stream, RELAXED, 0, body_adds_work, NULL, &made);
    act.wrote = made != NULL;
    cushim_graph_exec_destroy(&made);
    return result;
}

static CUresult begin_and_end(void)
{
    struct cushim_capture *open = NULL;
    struct cushim_graph *made = NULL;
    CUresult result = cushim_capture_begin(act.stream, RELAXED, &open);
    if (result != CUDA_SUCCESS) {
        act.wrote = open != NULL;
        return result;
    }
    result = cushim_capture_end(&open, &made);
    act.wrote = made != NULL;
    cushim_graph_destroy(&made);
    return result;
}

static CUresult begin_and_destroy(void)
{
    struct cushim_stream *made = NULL;
    struct cushim_capture *open = NULL;
    CUresult result = cushim_stream_create(act.context, CU_STREAM_NON_BLOCKING, 0, &made);
    if (result == CUDA_SUCCESS)
        result = cushim_capture_begin(made, RELAXED, &open);
    CUresult destroyed = cushim_stream_close(&made);
    if (open == NULL)
        return result;
    CUresult ended = cushim_capture_end(&open, NULL);
    act.wrote = true;
    /* The capture was lost, as expected; any other code is the failure under test. */
    return destroyed != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ? destroyed
           : ended != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED   ? ended
                                                              : CUDA_SUCCESS;
}

static CUresult capture_to_graph(void)
{
    struct cushim_graph *graph = NULL;
    CUresult result = cushim_graph_create(&graph);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_capture_to_graph(act.stream, graph, NULL, NULL, 0, RELAXED, body_adds_work, NULL);
    cushim_graph_destroy(&graph);
    act.wrote = result == CUDA_SUCCESS;
    return result;
}

static CUresult ask_capture(void)
{
    struct cushim_capture_info info = {.valid = 99};
    struct cushim_capture_info *copy = NULL;
    CUresult result = cushim_stream_capture_info(act.stream, NULL, NULL, 0, &info);
    act.wrote = result == CUDA_SUCCESS || info.valid != 99;
    if (result != CUDA_SUCCESS)
        return result;
    result = cushim_stream_capture_info_copy(act.stream, &copy);
    act.wrote = copy != NULL;
    cushim_capture_info_destroy(&copy);
    return result;
}

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

static void CUDA_CB do_nothing_back(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    (void)status;
    (void)user;
}

static CUresult launch_host(void)
{
    act.releasing = true;
    CUresult result = cushim_stream_launch_host(act.stream, do_nothing, &act.releases, count_release);
    act.wrote = result == CUDA_SUCCESS;
    return result;
}

static CUresult add_callback(void)
{
    act.releasing = true;
    CUresult result = cushim_stream_add_callback(act.stream, do_nothing_back, &act.releases, count_release);
    act.wrote = result == CUDA_SUCCESS;
    return result;
}

static CUresult body_gives_away(struct cushim_stream *stream, void *user)
{
    (void)user;
    act.releasing = true;
    return cushim_stream_launch_host(stream, do_nothing, &act.releases, count_release);
}

static CUresult capture_host(void)
{
    struct cushim_graph *made = NULL;
    CUresult result = cushim_stream_capture(act.stream, RELAXED, body_gives_away, NULL, &made);
    act.wrote = made != NULL;
    cushim_graph_destroy(&made);
    return result;
}

/* Whether a call destroys or ends an object: if it fails, the driver's object is left. */
static bool ends_something(enum cushim_slot slot)
{
    switch (slot) {
    case S(CtxDestroy_v2):
    case S(DevicePrimaryCtxRelease_v1):
    case S(DevicePrimaryCtxRelease_v2):
    case S(StreamDestroy_v2):
    case S(EventDestroy_v2):
    case S(GraphDestroy_v1):
    case S(GraphExecDestroy_v1):
    case S(StreamEndCapture_v1):
    case S(GraphReleaseUserObject_v1):
    case S(UserObjectRelease_v1):
        return true;
    default:
        return false;
    }
}

/* Ends the capture of a stream in which a failed call left it. */
static void clean_up(void)
{
    CUcontext current = NULL;
    if (capture_status(cushim_stream_handle(act.stream))[0] != 'n'
        && cushim_query_slot_state(S(StreamEndCapture_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != 0)
        (void)capture_end(cushim_stream_handle(act.stream));
    need("settle", cu->StreamSynchronize_v1(cushim_stream_handle(act.stream)));
    if (cu->CtxGetCurrent_v1(&current) == CUDA_SUCCESS && current != the_context)
        need("current", cu->CtxSetCurrent_v1(the_context));
}

/* Checks one round of a scene. Returns a description of the error, or NULL. */
static const char *round_error(bool failed, enum cushim_slot slot, long blocks)
{
    CUcontext current = NULL;
    if (cu->CtxGetCurrent_v1(&current) != CUDA_SUCCESS || current != the_context)
        return "another context is current";
    bool left = failed && ends_something(slot);
    bool kept = left && slot == S(GraphDestroy_v1); /* by a graph that still exists */
    clean_up();
    for (int i = 0; act.releasing && !kept && i < 200 && atomic_load(&act.releases) == 0; i++)
        pause_shortly();
    if (atomic_load(&act.releases) > act.releasing)
        return "released twice";
    if (atomic_load(&act.releases) < act.releasing && !kept)
        return "not released";
    /* A thread of the driver may free what a graph holds. */
    for (int i = 0; act.releasing && !kept && i < 200 && allocation_count() > blocks; i++)
        pause_shortly();
    if (allocation_count() > blocks && !(kept && act.releasing) && slot != S(Init_v1))
        return "memory is left";
    return watch_alive() != 0 && !left ? "an object of the driver's is left" : NULL;
}

/* After a cuInit that failed, the next one makes a new diagnosis, which is never freed: make it before counting. */
static void begin_round(void)
{
    need("init", cushim_init());
    atomic_store(&act.releases, 0);
    act.releasing = false;
    act.wrote = false;
}

static bool complain(const char *name, const char *what, int turn, enum cushim_slot slot, CUresult result)
{
    char text[160];
    struct cushim_slot_info info = {.name = "an allocation"};
    if (what == NULL)
        return false;
    if ((int)slot >= 0)
        (void)cushim_query_slot(slot, CUSHIM_DEFAULT_STREAM_LEGACY, &info);
    snprintf(text, sizeof text, "turn %d, %s, %d: %s", turn, info.name, (int)result, what);
    saw_text(key_of(name, "round_error", NULL), text);
    rule_fact(key_of(name, "right", NULL), false);
    return true;
}

static void each_allocation(const char *name, scene play)
{
    bool failed = true;
    int turn = 0;
    for (; failed && turn < 100; turn++) {
        begin_round();
        long blocks = allocation_count();
        watch_begin();
        allocation_fail(turn);
        CUresult result = play();
        failed = allocation_failed();
        const char *what = round_error(false, (enum cushim_slot) - 1, blocks);
        if (what == NULL && failed && result != CUDA_ERROR_OUT_OF_MEMORY)
            what = "the failure was not reported";
        if (what == NULL && act.wrote != (result == CUDA_SUCCESS))
            what = act.wrote ? "a result was written" : "no result was written";
        watch_end();
        if (complain(key_of(name, "allocation", NULL), what, turn, (enum cushim_slot) - 1, result))
            return;
    }
    saw_number(key_of(name, "allocations", NULL), turn - 1);
}

/* A driver call failed and the layer returned success. Returns NULL if that is right: the layer can do without the
 * call, or the object ended all the same. */
static const char *unreported(enum cushim_slot slot)
{
    switch (slot) {
    case S(StreamGetPriority_v1):               /* a polyfill uses it to check the stream */
    case S(StreamGetId_v1):                     /* a later call asks again */
    case S(CtxGetId_v1):                        /* no completion of a context without an id has an event */
    case S(ThreadExchangeStreamCaptureMode_v1): /* the wait happens in the mode of the thread */
    case S(StreamGetCaptureInfo_v1):            /* the id of the capture */
    case S(StreamIsCapturing_v1):
    case S(StreamSynchronize_v1):
        return NULL; /* of a stream that is closed in a capture: the code reports the capture */
    default:
        return ends_something(slot) ? NULL : "the failure was not reported";
    }
}

static void each_call(const char *name, scene play)
{
    bool failed = true;
    int turn = 0;
    for (; failed && turn < 100; turn++) {
        enum cushim_slot slot = (enum cushim_slot) - 1;
        begin_round();
        long blocks = allocation_count();
        watch_begin();
        watch_fail(turn, CUDA_ERROR_UNKNOWN);
        CUresult result = play();
        failed = watch_failed(&slot);
        const char *what = round_error(failed, slot, blocks);
        if (what == NULL && failed && result == CUDA_SUCCESS)
            what = unreported(slot);
        if (what == NULL && act.wrote && result != CUDA_SUCCESS && !ends_something(slot))
            what = "a result was written";
        watch_end();
        if (complain(key_of(name, "call", NULL), what, turn, slot, result))
            return;
    }
    rule_fact(key_of(name, "calls-were-made-to-fail", NULL), turn > 1);
}

static void open_act(void)
{
    act.context = context_new();
    act.stream = layer_stream();
    act.graph = NULL;
    if (cushim_query_slot_state(S(GraphCreate_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING)
        need("graph", cushim_graph_create(&act.graph));
}

static void close_act(void)
{
    layer_stream_end(act.stream);
    cushim_graph_destroy(&act.graph);
    cushim_context_destroy(&act.context);
}

struct named_scene {
    const char *name;
    scene play;
    bool calls; /* whether the scene calls the driver */
    enum cushim_slot needs;
};

static const struct named_scene scenes[] = {
    {"create-primary", create_primary, true, S(DevicePrimaryCtxRetain_v1)},
    {"create-context", create_context, true, 0},
    {"borrow-context", borrow_context, true, 0},
    {"query-range", query_range, true, 0},
    {"create-stream", create_stream, true, 0},
    {"borrow-stream", borrow_stream, false, 0},
    {"adopt-stream", adopt_stream, false, 0},
    {"ask-stream", ask_stream, true, S(StreamGetCtx_v2)},
    {"create-event", create_event, true, 0},
    {"create-graph", create_graph, true, S(GraphCreate_v1)},
    {"instantiate", instantiate, true, S(GraphCreate_v1)},
    {"capture", capture, true, S(StreamBeginCapture_v2)},
    {"capture-executable", capture_executable, true, S(StreamBeginCapture_v2)},
    {"begin-and-end", begin_and_end, true, S(StreamBeginCapture_v2)},
    {"begin-and-destroy", begin_and_destroy, true, S(StreamBeginCapture_v2)},
    {"capture-to-graph", capture_to_graph, true, S(StreamBeginCaptureToGraph_v1)},
    {"ask-capture", ask_capture, true, 0},
    {"launch-host", launch_host, true, 0},
    {"add-callback", add_callback, true, 0},
    {"capture-host", capture_host, true, S(UserObjectCreate_v1)},
};

static void each_scene(void (*turn)(const char *name, scene play), bool of_calls)
{
    open_act();
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (scenes[i].needs != 0 && !have(scenes[i].name, scenes[i].needs))
            continue;
        if (scenes[i].calls || !of_calls)
            turn(scenes[i].name, scenes[i].play);
    }
    close_act();
}

static void allocations(void)
{
    each_scene(each_allocation, false);
}

static void calls(void)
{
    each_scene(each_call, true);
}

static const struct check checks[] = {
    {"failing.allocations", allocations, 0, {0}},
    {"failing.calls", calls, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_failing = {"failing", checks};
