/* SPDX-License-Identifier: MIT */
/*
 * Each allocation fails in turn, and then each driver call. Nothing crashes, no object is left, no result is written,
 * the caller's current context does not change, and user data is released once.
 */
#include "failing.h"

#include <stdio.h>

struct attempt attempt;

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
    if (capture_status(cushim_stream_handle(attempt.stream))[0] != 'n'
        && cushim_slot_get_state(S(StreamEndCapture_v1), CUSHIM_DEFAULT_STREAM_LEGACY) != 0)
        (void)capture_end(cushim_stream_handle(attempt.stream));
    require("settle", cu->StreamSynchronize_v1(cushim_stream_handle(attempt.stream)));
    if (cu->CtxGetCurrent_v1(&current) == CUDA_SUCCESS && current != the_context)
        require("current", cu->CtxSetCurrent_v1(the_context));
}

/* Checks one attempt of a scenario. Returns a description of the error, or NULL. */
static const char *attempt_error(bool failed, enum cushim_slot slot, long blocks)
{
    CUcontext current = NULL;
    if (cu->CtxGetCurrent_v1(&current) != CUDA_SUCCESS || current != the_context)
        return "another context is current";
    bool left = failed && ends_something(slot);
    bool kept = left && slot == S(GraphDestroy_v1); /* by a graph that still exists */
    clean_up();
    for (int i = 0; attempt.releasing && !kept && i < 200 && atomic_load(&attempt.releases) == 0; i++)
        pause_shortly();
    if (atomic_load(&attempt.releases) > attempt.releasing)
        return "released twice";
    if (atomic_load(&attempt.releases) < attempt.releasing && !kept)
        return "not released";
    /* A thread of the driver may free what a graph holds. */
    for (int i = 0; !kept && i < 200 && allocation_count() > blocks; i++)
        pause_shortly();
    if (allocation_count() > blocks && !(kept && attempt.releasing) && slot != S(Init_v1))
        return "memory is left";
    return watch_alive() != 0 && !left ? "an object of the driver's is left" : NULL;
}

/* After a cuInit that failed, the next one makes a new diagnosis, which is never freed: make it before counting. */
static void attempt_begin(void)
{
    require("init", cushim_init());
    atomic_store(&attempt.releases, 0);
    attempt.releasing = false;
    attempt.wrote = false;
}

static bool report_error(const char *name, const char *what, int number, enum cushim_slot slot, CUresult result)
{
    char text[160];
    struct cushim_slot_info info = {.name = "an allocation"};
    if (what == NULL)
        return false;
    if ((int)slot >= 0)
        (void)cushim_slot_get_info(slot, CUSHIM_DEFAULT_STREAM_LEGACY, &info);
    snprintf(text, sizeof text, "attempt %d, %s, %d: %s", number, info.name, (int)result, what);
    observe_text(key_of(name, "error", NULL), text);
    expect_true(key_of(name, "right", NULL), false);
    return true;
}

static void each_allocation(const char *name, scenario_fn run)
{
    bool failed = true;
    int number = 0;
    for (; failed && number < 100; number++) {
        attempt_begin();
        long blocks = allocation_count();
        watch_begin();
        allocation_fail(number);
        CUresult result = run();
        failed = allocation_failed();
        const char *what = attempt_error(false, (enum cushim_slot) - 1, blocks);
        if (what == NULL && failed && result != CUDA_ERROR_OUT_OF_MEMORY)
            what = "the failure was not reported";
        if (what == NULL && attempt.wrote != (result == CUDA_SUCCESS))
            what = attempt.wrote ? "a result was written" : "no result was written";
        watch_end();
        if (report_error(key_of(name, "allocation", NULL), what, number, (enum cushim_slot) - 1, result))
            return;
    }
    observe_number(key_of(name, "allocations", NULL), number - 1);
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

static void each_call(const char *name, scenario_fn run)
{
    bool failed = true;
    int number = 0;
    for (; failed && number < 100; number++) {
        enum cushim_slot slot = (enum cushim_slot) - 1;
        attempt_begin();
        long blocks = allocation_count();
        watch_begin();
        watch_fail(number, CUDA_ERROR_UNKNOWN);
        CUresult result = run();
        failed = watch_failed(&slot);
        const char *what = attempt_error(failed, slot, blocks);
        if (what == NULL && failed && result == CUDA_SUCCESS)
            what = unreported(slot);
        if (what == NULL && attempt.wrote && result != CUDA_SUCCESS && !ends_something(slot))
            what = "a result was written";
        watch_end();
        if (report_error(key_of(name, "call", NULL), what, number, slot, result))
            return;
    }
    expect_true(key_of(name, "calls-were-made-to-fail", NULL), number > 1);
}

static void objects_create(void)
{
    attempt.context = context_new();
    attempt.stream = test_stream_new();
    attempt.graph = NULL;
    if (!is_missing(S(GraphCreate_v1)))
        require("graph", cushim_graph_create(&attempt.graph));
}

static void objects_destroy(void)
{
    test_stream_close(attempt.stream);
    cushim_graph_destroy(&attempt.graph);
    cushim_context_destroy(&attempt.context);
}

static void each_scenario(void (*each)(const char *name, scenario_fn run), bool of_calls)
{
    objects_create();
    for (const struct scenario *one = scenarios; one->name != NULL; one++) {
        if (one->needs != 0 && !require_slot(one->name, one->needs))
            continue;
        if (one->calls || !of_calls)
            each(one->name, one->run);
    }
    objects_destroy();
}

CHECK(allocations, "failing.allocations")
{
    each_scenario(each_allocation, false);
}

CHECK(calls, "failing.calls")
{
    each_scenario(each_call, true);
}
