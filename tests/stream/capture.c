/* SPDX-License-Identifier: MIT */
/* Scoped captures: they end whatever the body does, the stream is usable afterwards, and no object is left. */
#include "support.h"

/* Checks that the stream can be used and can capture again. */
static void expect_usable(const char *name, struct cushim_stream *stream)
{
    expect_status(key_of(name, "status-after", NULL), stream, "none");
    expect_success(key_of(name, "usable", NULL), cushim_stream_synchronize(stream));
}

CHECK(works, "capture.works", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    atomic_int calls = 0;
    watch_begin();
    if (expect_success("code", cushim_stream_capture(stream, RELAXED, body_adds_work, &calls, &graph))) {
        expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 1);
        expect_number("not-called", atomic_load(&calls), 0);
        expect_usable("stream", stream);
        expect_success("instantiate", cushim_graph_instantiate(graph, cushim_stream_context(stream), 0, &exec));
        expect_success("launch", cushim_graph_exec_launch(exec, stream));
        expect_success("synchronize", cushim_stream_synchronize(stream));
        expect_number("called", atomic_load(&calls), 1);
    }
    cushim_graph_exec_destroy(&exec);
    cushim_graph_destroy(&graph);
    expect_number("alive", watch_alive(), 0);
    watch_end();
}

struct scenario {
    CUresult result;             /* what the body returns */
    CUresult inner;              /* what happened to it */
    struct cushim_stream *other; /* another stream, for a body that needs one */
    struct cushim_event *event;
    struct cushim_capture *capture;
    CUgraph taken;
    int calls;
};

/* Runs a body that must fail, and checks which objects are left. */
static void fails(const char *name, struct cushim_stream *stream, cushim_stream_body body, struct scenario *scenario,
                  CUresult expected)
{
    struct cushim_graph *graph = NULL;
    watch_begin();
    expect(key_of(name, "code", NULL), cushim_stream_capture(stream, RELAXED, body, scenario, &graph), expected);
    expect_true(key_of(name, "untouched", NULL), graph == NULL);
    expect_number(key_of(name, "graphs", NULL), watch_objects.graphs, 0);
    expect_number(key_of(name, "captures", NULL), watch_objects.captures, 0);
    watch_end();
}

static CUresult fail(struct cushim_stream *stream, void *user)
{
    struct scenario *scenario = user;
    scenario->calls++;
    (void)body_adds_work(stream, NULL);
    return scenario->result;
}

static CUresult invalidate(struct cushim_stream *stream, void *user)
{
    struct scenario *scenario = user;
    scenario->inner = cushim_stream_query(stream);
    return scenario->result;
}

CHECK(body_fails, "capture.body-fails", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct scenario scenario = {.result = CUDA_ERROR_ASSERT};
    fails("fails", stream, fail, &scenario, CUDA_ERROR_ASSERT);
    expect_number("called-once", scenario.calls, 1);
    expect_usable("fails", stream);
    scenario.result = CUDA_SUCCESS;
    fails("invalidates", stream, invalidate, &scenario, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect("query-in-capture", scenario.inner, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_usable("invalidates", stream);
    scenario.result = CUDA_ERROR_ASSERT;
    fails("both", stream, invalidate, &scenario, CUDA_ERROR_ASSERT);
    expect("both.detail", cushim_error_last()->code, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_usable("both", stream);
}

static CUresult fork_and_leave(struct cushim_stream *stream, void *user)
{
    struct scenario *scenario = user;
    CUresult result = cushim_event_record(scenario->event, stream, 0);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_wait_event(scenario->other, scenario->event, 0);
    return result != CUDA_SUCCESS ? result : body_adds_work(scenario->other, NULL);
}

CHECK(body_forks, "capture.body-forks", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct scenario scenario = {.other = fixture_stream(), .event = fixture_event(CU_EVENT_DISABLE_TIMING)};
    fails("unjoined", stream, fork_and_leave, &scenario, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    expect_usable("unjoined", stream);
    expect_usable("other", scenario.other);
}

static CUresult end_it(struct cushim_stream *stream, void *user)
{
    struct scenario *scenario = user;
    scenario->inner = cu->StreamEndCapture_v1(cushim_stream_handle(stream), &scenario->taken);
    return scenario->result;
}

static CUresult end_and_begin(struct cushim_stream *stream, void *user)
{
    struct scenario *scenario = user;
    (void)end_it(stream, user);
    scenario->inner = cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &scenario->capture);
    return scenario->result;
}

static CUresult end_and_begin_at_driver(struct cushim_stream *stream, void *user)
{
    struct scenario *scenario = user;
    (void)end_it(stream, user);
    scenario->inner = cu->StreamBeginCapture_v2(cushim_stream_handle(stream), CU_STREAM_CAPTURE_MODE_RELAXED);
    return scenario->result;
}

/* Like fails(), but the body ended the capture through the driver, which watch.c does not count. */
static void ends_itself(const char *name, struct cushim_stream *stream, cushim_stream_body body,
                        struct scenario *scenario, CUresult expected)
{
    struct cushim_graph *graph = NULL;
    expect(key_of(name, "code", NULL), cushim_stream_capture(stream, RELAXED, body, scenario, &graph), expected);
    expect_success(key_of(name, "inner", NULL), scenario->inner);
    expect_true(key_of(name, "untouched", NULL), graph == NULL);
    expect_true(key_of(name, "the-body's-graph", NULL), scenario->taken != NULL);
    expect_success(key_of(name, "graph-destroy", NULL), cu->GraphDestroy_v1(scenario->taken));
}

CHECK(body_ends, "capture.body-ends", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graph = NULL;
    struct scenario scenario = {.result = CUDA_SUCCESS};
    ends_itself("ends", stream, end_it, &scenario, CUDA_ERROR_ILLEGAL_STATE);
    expect_usable("ends", stream);
    scenario.result = CUDA_ERROR_ASSERT;
    ends_itself("ends-and-fails", stream, end_it, &scenario, CUDA_ERROR_ASSERT);
    expect("ends-and-fails.detail", cushim_error_last()->code, CUDA_ERROR_ILLEGAL_STATE);
    scenario.result = CUDA_SUCCESS;
    ends_itself("begins-another", stream, end_and_begin, &scenario, CUDA_ERROR_ILLEGAL_STATE);
    expect_status("begins-another.goes-on", stream, "active");
    expect_success("begins-another.end", cushim_capture_end(&scenario.capture, &graph));
    expect_true("begins-another.graph", graph != NULL);
    cushim_graph_destroy(&graph);
    expect_usable("begins-another", stream);
}

/* A capture that the body began through the driver is distinguished by its id. */
/* modes and ids came with CUDA 10.1 */
CHECK(body_begins_at_driver, "capture.body-begins-at-driver", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct scenario scenario = {.result = CUDA_SUCCESS};
    ends_itself("at-driver", stream, end_and_begin_at_driver, &scenario, CUDA_ERROR_ILLEGAL_STATE);
    expect_status("goes-on", stream, "active");
    expect_success("end", capture_end(cushim_stream_handle(stream)));
    expect_usable("at-driver", stream);
}

static CUresult destroy_it(struct cushim_stream *stream, void *user)
{
    struct scenario *scenario = user;
    scenario->inner = cushim_stream_destroy(&scenario->other);
    return scenario->result;
}

static CUresult capture_within(struct cushim_stream *stream, void *user)
{
    struct scenario *scenario = user;
    struct cushim_graph *graph = NULL;
    scenario->calls++;
    if (scenario->calls == 1) {
        scenario->inner = cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED, capture_within, user, &graph);
        return body_adds_work(stream, NULL);
    }
    return CUDA_SUCCESS;
}

CHECK(body_destroys, "capture.body-destroys", .needs = {S(StreamBeginCapture_v2)})
{
    struct scenario scenario = {.other = test_stream_new()};
    fails("destroys", scenario.other, destroy_it, &scenario, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_success("inner", scenario.inner);
    expect_true("gone", scenario.other == NULL);
}

CHECK(nested, "capture.nested", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct scenario scenario = {.result = CUDA_SUCCESS};
    struct cushim_graph *graph = NULL;
    expect_success("outer", cushim_stream_capture(stream, RELAXED, capture_within, &scenario, &graph));
    expect("inner", scenario.inner, CUDA_ERROR_ILLEGAL_STATE);
    expect_number("inner-body-not-called", scenario.calls, 1);
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 1);
    cushim_graph_destroy(&graph);
}

CHECK(argument, "capture.argument", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    expect_error("null-body", cushim_stream_capture(stream, RELAXED, NULL, NULL, &graph), CUDA_ERROR_INVALID_VALUE);
    expect_error("null-output", cushim_stream_capture(stream, RELAXED, body_adds_work, NULL, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    expect("null-stream", cushim_stream_capture(NULL, RELAXED, body_adds_work, NULL, &graph),
           CUDA_ERROR_INVALID_HANDLE);
    expect("no-mode", cushim_stream_capture(stream, (CUstreamCaptureMode)3, body_adds_work, NULL, &graph),
           CUDA_ERROR_INVALID_VALUE);
    expect_error("executable-null-output",
                 cushim_stream_capture_executable(stream, RELAXED, 0, body_adds_work, NULL, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    expect("executable-null-body", cushim_stream_capture_executable(stream, RELAXED, 0, NULL, NULL, &exec),
           CUDA_ERROR_INVALID_VALUE);
    struct cushim_stream *legacy = fixture_borrowed(CU_STREAM_LEGACY);
    expect_driver_error("legacy", cushim_stream_capture(legacy, RELAXED, body_adds_work, NULL, &graph),
                        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_true("untouched", graph == NULL && exec == NULL);
    expect_status("status", stream, "none");
}

CHECK(executable, "capture.executable", .needs = {S(StreamBeginCapture_v2)})
{
    bool flags = is_native(S(GraphInstantiateWithFlags_v1));
    struct cushim_stream *stream = fixture_stream();
    struct cushim_graph_exec *exec = NULL;
    struct scenario scenario = {.result = CUDA_ERROR_ASSERT};
    atomic_int calls = 0;
    watch_begin();
    expect_success("code", cushim_stream_capture_executable(stream, RELAXED, 0, body_adds_work, &calls, &exec));
    expect_success("launch", cushim_graph_exec_launch(exec, stream));
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("called", atomic_load(&calls), 1);
    cushim_graph_exec_destroy(&exec);
    expect("with-flags",
           cushim_stream_capture_executable(stream, RELAXED, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
                                            body_adds_work, &calls, &exec),
           flags ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    expect_true("made-with-flags", (exec != NULL) == flags);
    cushim_graph_exec_destroy(&exec);
    expect("fails", cushim_stream_capture_executable(stream, RELAXED, 0, fail, &scenario, &exec), CUDA_ERROR_ASSERT);
    expect_true("untouched", exec == NULL);
    expect_number("alive", watch_alive(), 0);
    watch_end();
}

CHECK(per_thread_stream, "capture.per-thread-stream", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_graph *graph = NULL;
    struct cushim_stream *stream = fixture_borrowed(CU_STREAM_PER_THREAD);
    expect_success("code", cushim_stream_capture(stream, RELAXED, body_adds_work, NULL, &graph));
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), 1);
    expect_usable("then", stream);
    cushim_graph_destroy(&graph);
}

CHECK(modes, "capture.modes", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        struct cushim_graph *graph = NULL;
        expect_success(key_of(mode_names[mode], "code", NULL),
                       cushim_stream_capture(stream, (CUstreamCaptureMode)mode, body_adds_work, NULL, &graph));
        expect_number(key_of(mode_names[mode], "nodes", NULL), graph_nodes(cushim_graph_handle(graph)), 1);
        cushim_graph_destroy(&graph);
    }
}

/* CUDA 10.0 has only one mode. */
CHECK(modes_on_old, "capture.modes-on-old")
{
    struct cushim_stream *stream;
    struct cushim_graph *graph = NULL;
    if (cushim_slot_get_state(S(StreamBeginCapture_v2), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_POLYFILL) {
        not_applicable(NULL, "a driver of CUDA 10.0 alone");
        return;
    }
    stream = test_stream_new();
    expect_driver_error("global",
                        cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, body_adds_work, NULL, &graph),
                        CUDA_ERROR_NOT_SUPPORTED);
    expect_driver_error(
        "thread-local",
        cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, body_adds_work, NULL, &graph),
        CUDA_ERROR_NOT_SUPPORTED);
    expect_true("untouched", graph == NULL);
    expect_status("status", stream, "none");
    test_stream_close(stream);
}
