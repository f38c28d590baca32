/* SPDX-License-Identifier: MIT */
/* Scoped captures: they end whatever the body does, the stream is usable afterwards, and no object is left. */
#include "support.h"

/* Checks that the stream can be used and can capture again. */
static void rule_usable(const char *name, struct cushim_stream *stream)
{
    rule_status(key_of(name, "status-after", NULL), stream, "none");
    done(key_of(name, "usable", NULL), cushim_stream_synchronize(stream));
}

static void works(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    atomic_int calls = 0;
    watch_begin();
    if (done("code", cushim_stream_capture(stream, RELAXED, body_adds_work, &calls, &graph))) {
        rule_number("nodes", node_count(cushim_graph_handle(graph)), 1);
        rule_number("not-called", atomic_load(&calls), 0);
        rule_usable("stream", stream);
        done("instantiate", cushim_graph_instantiate(graph, cushim_stream_context(stream), 0, &exec));
        done("launch", cushim_graph_exec_launch(exec, stream));
        done("synchronize", cushim_stream_synchronize(stream));
        rule_number("called", atomic_load(&calls), 1);
    }
    cushim_graph_exec_destroy(&exec);
    cushim_graph_destroy(&graph);
    rule_number("alive", watch_alive(), 0);
    watch_end();
    layer_stream_end(stream);
}

struct scene {
    CUresult result;             /* what the body returns */
    CUresult inner;              /* what happened to it */
    struct cushim_stream *other; /* another stream, for a body that needs one */
    struct cushim_event *event;
    struct cushim_capture *capture;
    CUgraph taken;
    int calls;
};

/* Runs a body that must fail, and checks which objects are left. */
static void fails(const char *name, struct cushim_stream *stream, cushim_stream_body body, struct scene *scene,
                  CUresult expected)
{
    struct cushim_graph *graph = NULL;
    watch_begin();
    rule(key_of(name, "code", NULL), cushim_stream_capture(stream, RELAXED, body, scene, &graph), expected);
    rule_fact(key_of(name, "untouched", NULL), graph == NULL);
    rule_number(key_of(name, "graphs", NULL), watch_graphs(), 0);
    rule_number(key_of(name, "captures", NULL), watch_captures(), 0);
    watch_end();
}

static CUresult fail(struct cushim_stream *stream, void *user)
{
    struct scene *scene = user;
    scene->calls++;
    (void)body_adds_work(stream, NULL);
    return scene->result;
}

static CUresult invalidate(struct cushim_stream *stream, void *user)
{
    struct scene *scene = user;
    scene->inner = cushim_stream_query(stream);
    return scene->result;
}

static void body_fails(void)
{
    struct cushim_stream *stream = layer_stream();
    struct scene scene = {.result = CUDA_ERROR_ASSERT};
    fails("fails", stream, fail, &scene, CUDA_ERROR_ASSERT);
    rule_number("called-once", scene.calls, 1);
    rule_usable("fails", stream);
    scene.result = CUDA_SUCCESS;
    fails("invalidates", stream, invalidate, &scene, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    rule("query-in-capture", scene.inner, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    rule_usable("invalidates", stream);
    scene.result = CUDA_ERROR_ASSERT;
    fails("both", stream, invalidate, &scene, CUDA_ERROR_ASSERT);
    rule("both.detail", cushim_last_error()->code, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    rule_usable("both", stream);
    layer_stream_end(stream);
}

static CUresult fork_and_leave(struct cushim_stream *stream, void *user)
{
    struct scene *scene = user;
    CUresult result = cushim_event_record(scene->event, stream, 0);
    if (result == CUDA_SUCCESS)
        result = cushim_stream_wait_event(scene->other, scene->event, 0);
    return result != CUDA_SUCCESS ? result : body_adds_work(scene->other, NULL);
}

static void body_forks(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = layer_stream();
    struct scene scene = {.other = layer_stream()};
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &scene.event));
    fails("unjoined", stream, fork_and_leave, &scene, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    rule_usable("unjoined", stream);
    rule_usable("other", scene.other);
    cushim_event_destroy(&scene.event);
    layer_stream_end(scene.other);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

static CUresult end_it(struct cushim_stream *stream, void *user)
{
    struct scene *scene = user;
    scene->inner = cu->StreamEndCapture_v1(cushim_stream_handle(stream), &scene->taken);
    return scene->result;
}

static CUresult end_and_begin(struct cushim_stream *stream, void *user)
{
    struct scene *scene = user;
    (void)end_it(stream, user);
    scene->inner = cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &scene->capture);
    return scene->result;
}

static CUresult end_and_begin_at_driver(struct cushim_stream *stream, void *user)
{
    struct scene *scene = user;
    (void)end_it(stream, user);
    scene->inner = cu->StreamBeginCapture_v2(cushim_stream_handle(stream), CU_STREAM_CAPTURE_MODE_RELAXED);
    return scene->result;
}

/* Like fails(), but the body ended the capture through the driver, which watch.c does not count. */
static void ends_itself(const char *name, struct cushim_stream *stream, cushim_stream_body body, struct scene *scene,
                        CUresult expected)
{
    struct cushim_graph *graph = NULL;
    rule(key_of(name, "code", NULL), cushim_stream_capture(stream, RELAXED, body, scene, &graph), expected);
    done(key_of(name, "inner", NULL), scene->inner);
    rule_fact(key_of(name, "untouched", NULL), graph == NULL);
    rule_fact(key_of(name, "the-body's-graph", NULL), scene->taken != NULL);
    done(key_of(name, "graph-destroy", NULL), cu->GraphDestroy_v1(scene->taken));
}

static void body_ends(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph *graph = NULL;
    struct scene scene = {.result = CUDA_SUCCESS};
    ends_itself("ends", stream, end_it, &scene, CUDA_ERROR_ILLEGAL_STATE);
    rule_usable("ends", stream);
    scene.result = CUDA_ERROR_ASSERT;
    ends_itself("ends-and-fails", stream, end_it, &scene, CUDA_ERROR_ASSERT);
    rule("ends-and-fails.detail", cushim_last_error()->code, CUDA_ERROR_ILLEGAL_STATE);
    scene.result = CUDA_SUCCESS;
    ends_itself("begins-another", stream, end_and_begin, &scene, CUDA_ERROR_ILLEGAL_STATE);
    rule_status("begins-another.goes-on", stream, "active");
    done("begins-another.end", cushim_capture_end(&scene.capture, &graph));
    rule_fact("begins-another.graph", graph != NULL);
    cushim_graph_destroy(&graph);
    rule_usable("begins-another", stream);
    layer_stream_end(stream);
}

/* A capture that the body began through the driver is distinguished by its id. */
static void body_begins_at_driver(void)
{
    struct cushim_stream *stream = layer_stream();
    struct scene scene = {.result = CUDA_SUCCESS};
    ends_itself("at-driver", stream, end_and_begin_at_driver, &scene, CUDA_ERROR_ILLEGAL_STATE);
    rule_status("goes-on", stream, "active");
    done("end", capture_end(cushim_stream_handle(stream)));
    rule_usable("at-driver", stream);
    layer_stream_end(stream);
}

static CUresult destroy_it(struct cushim_stream *stream, void *user)
{
    struct scene *scene = user;
    (void)stream;
    scene->inner = cushim_stream_destroy(&scene->other);
    return scene->result;
}

static CUresult capture_within(struct cushim_stream *stream, void *user)
{
    struct scene *scene = user;
    struct cushim_graph *graph = NULL;
    scene->calls++;
    if (scene->calls == 1) {
        scene->inner = cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED, capture_within, user, &graph);
        return body_adds_work(stream, NULL);
    }
    return CUDA_SUCCESS;
}

static void body_destroys(void)
{
    struct scene scene = {.other = layer_stream()};
    fails("destroys", scene.other, destroy_it, &scene, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    done("inner", scene.inner);
    rule_fact("gone", scene.other == NULL);
}

static void nested(void)
{
    struct cushim_stream *stream = layer_stream();
    struct scene scene = {.result = CUDA_SUCCESS};
    struct cushim_graph *graph = NULL;
    done("outer", cushim_stream_capture(stream, RELAXED, capture_within, &scene, &graph));
    rule("inner", scene.inner, CUDA_ERROR_ILLEGAL_STATE);
    rule_number("inner-body-not-called", scene.calls, 1);
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 1);
    cushim_graph_destroy(&graph);
    layer_stream_end(stream);
}

static void argument(void)
{
    static const char function[] = "cushim_stream_capture";
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *legacy = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_graph_exec *exec = NULL;
    refused("null-body", cushim_stream_capture(stream, RELAXED, NULL, NULL, &graph), CUDA_ERROR_INVALID_VALUE,
            function);
    refused("null-output", cushim_stream_capture(stream, RELAXED, body_adds_work, NULL, NULL), CUDA_ERROR_INVALID_VALUE,
            function);
    rule("null-stream", cushim_stream_capture(NULL, RELAXED, body_adds_work, NULL, &graph), CUDA_ERROR_INVALID_HANDLE);
    rule("no-mode", cushim_stream_capture(stream, (CUstreamCaptureMode)3, body_adds_work, NULL, &graph),
         CUDA_ERROR_INVALID_VALUE);
    refused("executable-null-output", cushim_stream_capture_executable(stream, RELAXED, 0, body_adds_work, NULL, NULL),
            CUDA_ERROR_INVALID_VALUE, "cushim_stream_capture_executable");
    rule("executable-null-body", cushim_stream_capture_executable(stream, RELAXED, 0, NULL, NULL, &exec),
         CUDA_ERROR_INVALID_VALUE);
    need("borrow", cushim_stream_borrow(CU_STREAM_LEGACY, NULL, &legacy));
    passed_on("legacy", cushim_stream_capture(legacy, RELAXED, body_adds_work, NULL, &graph),
              CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    rule_fact("untouched", graph == NULL && exec == NULL);
    rule_status("status", stream, "none");
    cushim_stream_destroy(&legacy);
    layer_stream_end(stream);
}

static void executable(void)
{
    bool flags =
        cushim_query_slot_state(S(GraphInstantiateWithFlags_v1), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
    struct cushim_stream *stream = layer_stream();
    struct cushim_graph_exec *exec = NULL;
    struct scene scene = {.result = CUDA_ERROR_ASSERT};
    atomic_int calls = 0;
    watch_begin();
    done("code", cushim_stream_capture_executable(stream, RELAXED, 0, body_adds_work, &calls, &exec));
    done("launch", cushim_graph_exec_launch(exec, stream));
    done("synchronize", cushim_stream_synchronize(stream));
    rule_number("called", atomic_load(&calls), 1);
    cushim_graph_exec_destroy(&exec);
    rule("with-flags",
         cushim_stream_capture_executable(stream, RELAXED, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
                                          body_adds_work, &calls, &exec),
         flags ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    rule_fact("made-with-flags", (exec != NULL) == flags);
    cushim_graph_exec_destroy(&exec);
    rule("fails", cushim_stream_capture_executable(stream, RELAXED, 0, fail, &scene, &exec), CUDA_ERROR_ASSERT);
    rule_fact("untouched", exec == NULL);
    rule_number("alive", watch_alive(), 0);
    watch_end();
    layer_stream_end(stream);
}

static void per_thread_stream(void)
{
    struct cushim_stream *stream = NULL;
    struct cushim_graph *graph = NULL;
    need("borrow", cushim_stream_borrow(CU_STREAM_PER_THREAD, NULL, &stream));
    done("code", cushim_stream_capture(stream, RELAXED, body_adds_work, NULL, &graph));
    rule_number("nodes", node_count(cushim_graph_handle(graph)), 1);
    rule_usable("then", stream);
    cushim_graph_destroy(&graph);
    cushim_stream_destroy(&stream);
}

static void modes(void)
{
    struct cushim_stream *stream = layer_stream();
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        struct cushim_graph *graph = NULL;
        done(key_of(mode_names[mode], "code", NULL),
             cushim_stream_capture(stream, (CUstreamCaptureMode)mode, body_adds_work, NULL, &graph));
        rule_number(key_of(mode_names[mode], "nodes", NULL), node_count(cushim_graph_handle(graph)), 1);
        cushim_graph_destroy(&graph);
    }
    layer_stream_end(stream);
}

/* CUDA 10.0 has only one mode. */
static void modes_on_old(void)
{
    struct cushim_stream *stream;
    struct cushim_graph *graph = NULL;
    if (cushim_query_slot_state(S(StreamBeginCapture_v2), CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_POLYFILL) {
        lacks(NULL, "a driver of CUDA 10.0 alone");
        return;
    }
    stream = layer_stream();
    passed_on("global", cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, body_adds_work, NULL, &graph),
              CUDA_ERROR_NOT_SUPPORTED);
    passed_on("thread-local",
              cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, body_adds_work, NULL, &graph),
              CUDA_ERROR_NOT_SUPPORTED);
    rule_fact("untouched", graph == NULL);
    rule_status("status", stream, "none");
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"capture.works", works, 0, {S(StreamBeginCapture_v2)}},
    {"capture.body-fails", body_fails, 0, {S(StreamBeginCapture_v2)}},
    {"capture.body-forks", body_forks, 0, {S(StreamBeginCapture_v2)}},
    {"capture.body-ends", body_ends, 0, {S(StreamBeginCapture_v2)}},
    {"capture.body-begins-at-driver",
     body_begins_at_driver,
     0,
     {S(ThreadExchangeStreamCaptureMode_v1)}}, /* modes and ids came with CUDA 10.1 */
    {"capture.body-destroys", body_destroys, 0, {S(StreamBeginCapture_v2)}},
    {"capture.nested", nested, 0, {S(StreamBeginCapture_v2)}},
    {"capture.argument", argument, 0, {S(StreamBeginCapture_v2)}},
    {"capture.executable", executable, 0, {S(StreamBeginCapture_v2)}},
    {"capture.per-thread-stream", per_thread_stream, 0, {S(StreamBeginCapture_v2)}},
    {"capture.modes", modes, 0, {S(ThreadExchangeStreamCaptureMode_v1)}},
    {"capture.modes-on-old", modes_on_old, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_capture = {"capture", checks};
