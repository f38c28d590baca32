/* SPDX-License-Identifier: MIT */
/* Querying a stream, waiting for it, one stream waiting for another, and cushim_stream_run(). */
#include "support.h"

static void pending(void)
{
    struct cushim_stream *stream = layer_stream();
    struct gate gate;
    done("idle", cushim_stream_query(stream));
    done("idle-synchronize", cushim_stream_synchronize(stream));
    if (gate_close(&gate, cushim_stream_handle(stream))) {
        rule("pending", cushim_stream_query(stream), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(stream));
        rule_number("passed", atomic_load(&gate.passed), 1);
        done("then", cushim_stream_query(stream));
    }
    layer_stream_end(stream);
}

/* Work behind the wait runs after the work that the event stood for at the wait. A later record of the event changes
 * nothing. */
static void ordered(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *first = layer_stream();
    struct cushim_stream *second = layer_stream();
    struct cushim_event *event = NULL;
    struct gate gate;
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event));
    if (gate_close(&gate, cushim_stream_handle(first))) {
        done("record", cushim_event_record(event, first, 0));
        done("wait", cushim_stream_wait_event(second, event, 0));
        rule("second-waits", cushim_stream_query(second), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(second));
        rule_number("passed", atomic_load(&gate.passed), 1);
    }
    done("event-destroy", cushim_event_destroy(&event));
    layer_stream_end(first);
    layer_stream_end(second);
    cushim_context_destroy(&context);
}

/* Destroying an event does not affect work that waits for it. */
static void event_destroyed(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *first = layer_stream();
    struct cushim_stream *second = layer_stream();
    struct cushim_event *event = NULL;
    struct gate gate;
    need("event", cushim_event_create(context, CU_EVENT_DISABLE_TIMING, &event));
    if (gate_close(&gate, cushim_stream_handle(first))) {
        need("record", cushim_event_record(event, first, 0));
        need("wait", cushim_stream_wait_event(second, event, 0));
        done("destroy", cushim_event_destroy(&event));
        rule("second-waits-still", cushim_stream_query(second), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(second));
    }
    layer_stream_end(first);
    layer_stream_end(second);
    cushim_context_destroy(&context);
}

static void argument(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_event *event = NULL;
    need("event", cushim_event_create(context, 0, &event));
    done("never-recorded", cushim_stream_wait_event(stream, event, 0));
    done("is-no-wait", cushim_stream_query(stream));
    passed_on("unknown-flags", cushim_stream_wait_event(stream, event, 8), CUDA_ERROR_INVALID_VALUE);
    refused("null-event", cushim_stream_wait_event(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_wait_event");
    refused("null-stream", cushim_stream_wait_event(NULL, event, 0), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_wait_event");
    done("event-destroy", cushim_event_destroy(&event));
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

static void external_outside(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_event *event = NULL;
    need("event", cushim_event_create(context, 0, &event));
    passed_on("code", cushim_stream_wait_event(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
    cushim_event_destroy(&event);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

static void external_on_old(void)
{
    struct cushim_context *context = context_new();
    struct cushim_event *event = NULL;
    struct cushim_stream *stream = NULL;
    if (cushim_query_slot_state(S(EventRecordWithFlags_v1), CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE) {
        lacks(NULL, "a driver that has the flag");
        cushim_context_destroy(&context);
        return;
    }
    stream = layer_stream();
    need("event", cushim_event_create(context, 0, &event));
    refused("code", cushim_stream_wait_event(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_NOT_SUPPORTED,
            "cushim_stream_wait_event");
    cushim_event_destroy(&event);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
}

/* A stream waits for an event of another context. */
static void across_contexts(void)
{
    struct cushim_context *here = context_new();
    struct cushim_context *there = NULL;
    struct cushim_stream *first = layer_stream();
    struct cushim_stream *second = NULL;
    struct cushim_event *event = NULL;
    struct gate gate;
    need("event", cushim_event_create(here, CU_EVENT_DISABLE_TIMING, &event));
    done("context", cushim_context_create(0, 0, &there));
    done("stream", cushim_stream_create(there, CU_STREAM_NON_BLOCKING, 0, &second));
    if (gate_close(&gate, cushim_stream_handle(first))) {
        done("record", cushim_event_record(event, first, 0));
        done("wait", cushim_stream_wait_event(second, event, 0));
        rule("second-waits", cushim_stream_query(second), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(second));
    }
    passed_on("record-in-another-context", cushim_event_record(event, second, 0), CUDA_ERROR_INVALID_HANDLE);
    layer_stream_end(first);
    layer_stream_end(second);
    done("event-destroy", cushim_event_destroy(&event));
    done("context-destroy", cushim_context_destroy(&there));
    cushim_context_destroy(&here);
    rule_current("current-stays", the_context);
}

/* A stream waits for an event of another device. */
static void across_devices(void)
{
    struct cushim_context *there = NULL;
    struct cushim_stream *here = layer_stream();
    struct cushim_stream *stream = NULL;
    struct cushim_event *event = NULL;
    struct gate gate;
    CUdevice device = -1;
    int devices = 0;
    need("count", cu->DeviceGetCount_v1(&devices));
    if (devices < 2) {
        lacks(NULL, "there is one device");
        layer_stream_end(here);
        return;
    }
    need("context", cushim_context_create(1, 0, &there));
    need("event", cushim_event_create(there, CU_EVENT_DISABLE_TIMING, &event));
    done("create", cushim_stream_create(there, CU_STREAM_NON_BLOCKING, 0, &stream));
    done("device", cushim_stream_device(stream, &device));
    rule_fact("device-is-the-other", device != the_device);
    if (gate_close(&gate, cushim_stream_handle(stream))) {
        done("record", cushim_event_record(event, stream, 0));
        done("wait", cushim_stream_wait_event(here, event, 0));
        rule("waits", cushim_stream_query(here), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        done("synchronize", cushim_stream_synchronize(here));
    }
    passed_on("record-here", cushim_event_record(event, here, 0), CUDA_ERROR_INVALID_HANDLE);
    layer_stream_end(here);
    layer_stream_end(stream);
    done("event-destroy", cushim_event_destroy(&event));
    done("context-destroy", cushim_context_destroy(&there));
    rule_current("current-stays", the_context);
}

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

static void run(void)
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

/* The legacy stream refuses every call while a blocking stream is capturing, and this error is not the status of its
 * work. The library first queries whether it is so; here that query fails, as if the capture began right after it. */
static void completion_implicit(void)
{
    struct cushim_context *context = context_new();
    struct cushim_stream *stream = NULL;
    struct cushim_stream *legacy = NULL;
    struct cushim_capture *capture = NULL;
    struct cushim_completion *completion = NULL;
    need("create", cushim_stream_create(context, CU_STREAM_DEFAULT, 0, &stream));
    need("borrow", cushim_stream_borrow(CU_STREAM_LEGACY, NULL, &legacy));
    need("begin", cushim_capture_begin(stream, RELAXED, &capture));
    watch_begin();
    watch_fail_slot(S(StreamIsCapturing_v1), CUDA_ERROR_UNKNOWN);
    rule("code", cushim_stream_completion(legacy, &completion), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    rule_fact("asked-in-vain", watch_failed(NULL));
    watch_end();
    rule_fact("untouched", completion == NULL);
    cushim_completion_destroy(&completion);
    (void)cushim_capture_end(&capture, NULL);
    cushim_stream_destroy(&legacy);
    layer_stream_end(stream);
    cushim_context_destroy(&context);
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
    {"wait.pending", pending, 0, {0}},
    {"wait.ordered", ordered, 0, {0}},
    {"wait.event-destroyed", event_destroyed, 0, {0}},
    {"wait.argument", argument, 0, {0}},
    {"wait.external-outside", external_outside, 0, {S(GraphUpload_v1)}}, /* CUDA 11.1, which brought the flag */
    {"wait.external-on-old", external_on_old, 0, {0}},
    {"wait.across-contexts", across_contexts, 0, {0}},
    {"wait.across-devices", across_devices, 0, {0}},
    {"wait.run", run, 0, {0}},
    {"wait.run-destroyed", run_destroyed, 0, {0}},
    {"wait.run-beside-capture",
     run_beside_capture,
     0,
     {S(StreamBeginCapture_v2), S(ThreadExchangeStreamCaptureMode_v1)}},
    {"wait.close-beside-capture",
     close_beside_capture,
     0,
     {S(StreamBeginCapture_v2), S(ThreadExchangeStreamCaptureMode_v1)}},
    {"wait.run-joins-capture", run_joins_capture, 0, {S(StreamBeginCapture_v2)}},
    {"wait.run-capturing", run_capturing, 0, {S(StreamBeginCapture_v2)}},
    {"wait.run-wait-fails", run_wait_fails, 0, {0}},
    {"wait.run-left-capturing", run_left_capturing, 0, {S(StreamBeginCapture_v2)}},
    {"wait.completion-implicit", completion_implicit, 0, {S(StreamBeginCapture_v2)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_wait = {"wait", checks};
