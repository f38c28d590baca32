/* SPDX-License-Identifier: MIT */
/*
 * Each allocation fails in turn, and then each driver call. Nothing crashes, no object is left, no result is written,
 * the caller's current context does not change, and user data is released once.
 */
#include "failing.h"

#include <stdio.h>

struct act act;

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

static void each_scene(void (*turn)(const char *name, scene play), bool of_calls)
{
    open_act();
    for (const struct named_scene *one = scenes; one->name != NULL; one++) {
        if (one->needs != 0 && !have(one->name, one->needs))
            continue;
        if (one->calls || !of_calls)
            turn(one->name, one->play);
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
