/* SPDX-License-Identifier: MIT */
/* cushim_stream_run() and cushim_stream_close() wait for the work, whatever the body does to the stream. */
#include "support.h"

struct scene {
    struct gate gate;
    CUresult result;
    bool destroy;
    struct cushim_stream *stream;
    int calls;
    pthread_t thread;
};

static void *open_soon(void *gate)
{
    pause_shortly();
    gate_open(gate);
    return NULL;
}

static CUresult work_in_scope(struct cushim_stream *stream, void *user)
{
    struct scene *scene = user;
    scene->calls++;
    if (gate_close(&scene->gate, cushim_stream_handle(stream)))
        pthread_create(&scene->thread, NULL, open_soon, &scene->gate);
    if (scene->destroy)
        (void)cushim_stream_destroy(&scene->stream);
    return scene->result;
}

static void run_with(const char *name, CUresult result)
{
    struct cushim_stream *stream = layer_stream();
    struct scene scene = {.result = result};
    rule(key_of(name, "code", NULL), cushim_stream_run(stream, work_in_scope, &scene), result);
    rule_number(key_of(name, "waited", NULL), atomic_load(&scene.gate.passed), 1);
    rule_number(key_of(name, "calls", NULL), scene.calls, 1);
    pthread_join(scene.thread, NULL);
    layer_stream_end(stream);
}

static void run_returns(void)
{
    run_with("succeeds", CUDA_SUCCESS);
    run_with("fails", CUDA_ERROR_ASSERT);
    struct cushim_stream *stream = layer_stream();
    refused("null-body", cushim_stream_run(stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE, "cushim_stream_run");
    refused("null-stream", cushim_stream_run(NULL, work_in_scope, NULL), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_run");
    layer_stream_end(stream);
}

static void run_destroyed(void)
{
    struct scene scene = {.destroy = true, .stream = layer_stream()};
    done("code", cushim_stream_run(scene.stream, work_in_scope, &scene));
    rule_number("waited", atomic_load(&scene.gate.passed), 1);
    rule_fact("gone", scene.stream == NULL);
    pthread_join(scene.thread, NULL);
}

/* Another stream captures in each of the modes: the call waits, and that capture goes on. */
static void run_beside_capture(void)
{
    struct cushim_stream *other = layer_stream();
    for (int mode = 0; mode < 3; mode++) {
        struct cushim_capture *capture = NULL;
        struct cushim_graph *graph = NULL;
        need("begin", cushim_capture_begin(other, (CUstreamCaptureMode)mode, &capture));
        run_with(mode_names[mode], CUDA_SUCCESS);
        rule_status(key_of(mode_names[mode], "status", NULL), other, "active");
        done(key_of(mode_names[mode], "end", NULL), cushim_capture_end(&capture, &graph));
        cushim_graph_destroy(&graph);
    }
    layer_stream_end(other);
}

/* Closing a stream does not invalidate a capture of another stream, either. */
static void close_beside_capture(void)
{
    struct cushim_stream *other = layer_stream();
    struct scene scene = {.stream = layer_stream()};
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    need("begin", cushim_capture_begin(other, CU_STREAM_CAPTURE_MODE_GLOBAL, &capture));
    need("work", work_in_scope(scene.stream, &scene));
    done("close", cushim_stream_close(&scene.stream));
    rule_number("waited", atomic_load(&scene.gate.passed), 1);
    pthread_join(scene.thread, NULL);
    rule_status("status", other, "active");
    done("end", cushim_capture_end(&capture, &graph));
    cushim_graph_destroy(&graph);
    layer_stream_end(other);
}

struct joining {
    struct cushim_event *event;
    CUresult result;
};

static CUresult join_capture(struct cushim_stream *stream, void *user)
{
    struct joining *joining = user;
    CUresult result = cushim_stream_wait_event(stream, joining->event, 0);
    return result != CUDA_SUCCESS ? result : joining->result;
}

/* The body brings the stream into a capture of another stream: the call returns this error whatever the body did. */
static void run_joins_capture(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *origin = layer_stream();
    struct cushim_stream *stream = layer_stream();
    struct joining joining = {.result = CUDA_ERROR_ASSERT};
    struct cushim_capture *capture = NULL;
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &joining.event));
    need("begin", cushim_capture_begin(origin, RELAXED, &capture));
    need("record", cushim_event_record(joining.event, origin, 0));
    refused("code", cushim_stream_run(stream, join_capture, &joining), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "cushim_stream_run");
    (void)cushim_capture_end(&capture, NULL);
    done("usable", cushim_stream_synchronize(stream));
    cushim_event_destroy(&joining.event);
    layer_stream_end(origin);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

/* The stream is capturing, so the call cannot wait for it: the body is not called, and the capture goes on. */
static void run_capturing(void)
{
    struct cushim_stream *stream = layer_stream();
    struct scene scene = {.result = CUDA_SUCCESS};
    struct cushim_capture *capture = NULL;
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    refused("code", cushim_stream_run(stream, work_in_scope, &scene), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "cushim_stream_run");
    rule_number("calls", scene.calls, 0);
    rule_status("status", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
}

static CUresult fail_twice(struct cushim_stream *stream, void *user)
{
    (void)stream;
    watch_fail_slot(S(StreamSynchronize_v1), CUDA_ERROR_LAUNCH_FAILED);
    return *(CUresult *)user;
}

/* The wait fails, after the body succeeded and after it failed. */
static void run_wait_fails(void)
{
    struct cushim_stream *stream = layer_stream();
    CUresult result = CUDA_SUCCESS;
    watch_begin();
    passed_on("wait-fails", cushim_stream_run(stream, fail_twice, &result), CUDA_ERROR_LAUNCH_FAILED);
    result = CUDA_ERROR_ASSERT;
    passed_on("both-fail", cushim_stream_run(stream, fail_twice, &result), CUDA_ERROR_LAUNCH_FAILED);
    watch_end();
    layer_stream_end(stream);
}

static CUresult leave_capturing(struct cushim_stream *stream, void *user)
{
    return cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, user);
}

static void run_left_capturing(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    refused("code", cushim_stream_run(stream, leave_capturing, &capture), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "cushim_stream_run");
    rule_status("has-ended", stream, "none");
    refused("capture-is-lost", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
            "cushim_capture_end");
    done("usable", cushim_stream_synchronize(stream));
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"stream_run.run", run_returns, 0, {0}},
    {"stream_run.run-destroyed", run_destroyed, 0, {0}},
    {"stream_run.run-beside-capture",
     run_beside_capture,
     0,
     {S(StreamBeginCapture_v2), S(ThreadExchangeStreamCaptureMode_v1)}},
    {"stream_run.close-beside-capture",
     close_beside_capture,
     0,
     {S(StreamBeginCapture_v2), S(ThreadExchangeStreamCaptureMode_v1)}},
    {"stream_run.run-joins-capture", run_joins_capture, 0, {S(StreamBeginCapture_v2)}},
    {"stream_run.run-capturing", run_capturing, 0, {S(StreamBeginCapture_v2)}},
    {"stream_run.run-wait-fails", run_wait_fails, 0, {0}},
    {"stream_run.run-left-capturing", run_left_capturing, 0, {S(StreamBeginCapture_v2)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_stream_run = {"stream_run", checks};
