/* SPDX-License-Identifier: MIT */
/* cushim_stream_run() and cushim_stream_close() wait for the work, whatever the body does to the stream. */
#include "support.h"

struct scenario {
    struct gate gate;
    CUresult result;
    bool destroy;
    struct cushim_stream *stream;
    int calls;
    pthread_t thread;
};

static CUresult work_in_scope(struct cushim_stream *stream, void *user)
{
    struct scenario *scenario = user;
    scenario->calls++;
    if (gate_close(&scenario->gate, cushim_stream_handle(stream)))
        pthread_create(&scenario->thread, NULL, open_soon, &scenario->gate);
    if (scenario->destroy)
        (void)cushim_stream_destroy(&scenario->stream);
    return scenario->result;
}

static void run_with(const char *name, CUresult result)
{
    struct cushim_stream *stream = fixture_stream();
    struct scenario scenario = {.result = result};
    expect(key_of(name, "code", NULL), cushim_stream_run(stream, work_in_scope, &scenario), result);
    expect_number(key_of(name, "waited", NULL), atomic_load(&scenario.gate.passed), 1);
    expect_number(key_of(name, "calls", NULL), scenario.calls, 1);
    pthread_join(scenario.thread, NULL);
}

CHECK(run_returns, "stream_run.run")
{
    run_with("succeeds", CUDA_SUCCESS);
    run_with("fails", CUDA_ERROR_ASSERT);
    struct cushim_stream *stream = fixture_stream();
    expect_error("null-body", cushim_stream_run(stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("null-stream", cushim_stream_run(NULL, work_in_scope, NULL), CUDA_ERROR_INVALID_HANDLE);
}

CHECK(run_destroyed, "stream_run.run-destroyed")
{
    struct scenario scenario = {.destroy = true, .stream = test_stream_new()};
    expect_success("code", cushim_stream_run(scenario.stream, work_in_scope, &scenario));
    expect_number("waited", atomic_load(&scenario.gate.passed), 1);
    expect_true("gone", scenario.stream == NULL);
    pthread_join(scenario.thread, NULL);
}

/* Another stream captures in each of the modes: the call waits, and that capture goes on. */
CHECK(run_beside_capture, "stream_run.run-beside-capture",
      .needs = {S(StreamBeginCapture_v2), S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *other = fixture_stream();
    for (int mode = 0; mode < 3; mode++) {
        struct cushim_capture *capture = NULL;
        require("begin", cushim_capture_begin(other, (CUstreamCaptureMode)mode, &capture));
        run_with(mode_names[mode], CUDA_SUCCESS);
        expect_status(key_of(mode_names[mode], "status", NULL), other, "active");
        expect_success(key_of(mode_names[mode], "end", NULL), cushim_capture_end(&capture, NULL));
    }
}

/* Closing a stream does not invalidate a capture of another stream, either. */
CHECK(close_beside_capture, "stream_run.close-beside-capture",
      .needs = {S(StreamBeginCapture_v2), S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *other = fixture_stream();
    struct scenario scenario = {.stream = test_stream_new()};
    struct cushim_capture *capture = test_capture_begin(other, CU_STREAM_CAPTURE_MODE_GLOBAL);
    require("work", work_in_scope(scenario.stream, &scenario));
    expect_success("close", cushim_stream_close(&scenario.stream));
    expect_number("waited", atomic_load(&scenario.gate.passed), 1);
    pthread_join(scenario.thread, NULL);
    expect_status("status", other, "active");
    expect_success("end", cushim_capture_end(&capture, NULL));
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
CHECK(run_joins_capture, "stream_run.run-joins-capture", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *origin = fixture_stream();
    struct cushim_stream *stream = fixture_stream();
    struct joining joining = {.event = fixture_event(CU_EVENT_DISABLE_TIMING), .result = CUDA_ERROR_ASSERT};
    struct cushim_capture *capture = test_capture_begin(origin, RELAXED);
    require("record", cushim_event_record(joining.event, origin, 0));
    expect_error("code", cushim_stream_run(stream, join_capture, &joining), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    (void)cushim_capture_end(&capture, NULL);
    expect_success("usable", cushim_stream_synchronize(stream));
}

/* The stream is capturing, so the call cannot wait for it: the body is not called, and the capture goes on. */
CHECK(run_capturing, "stream_run.run-capturing", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct scenario scenario = {.result = CUDA_SUCCESS};
    struct cushim_capture *capture = test_capture_begin(stream, RELAXED);
    expect_error("code", cushim_stream_run(stream, work_in_scope, &scenario), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_number("calls", scenario.calls, 0);
    expect_status("status", stream, "active");
    expect_success("end", cushim_capture_end(&capture, NULL));
}

static CUresult fail_twice(struct cushim_stream *stream, void *user)
{
    watch_fail_slot(S(StreamSynchronize_v1), CUDA_ERROR_LAUNCH_FAILED);
    return *(CUresult *)user;
}

/* The wait fails, after the body succeeded and after it failed. */
CHECK(run_wait_fails, "stream_run.run-wait-fails")
{
    struct cushim_stream *stream = fixture_stream();
    CUresult result = CUDA_SUCCESS;
    watch_begin();
    expect_driver_error("wait-fails", cushim_stream_run(stream, fail_twice, &result), CUDA_ERROR_LAUNCH_FAILED);
    result = CUDA_ERROR_ASSERT;
    expect_driver_error("both-fail", cushim_stream_run(stream, fail_twice, &result), CUDA_ERROR_LAUNCH_FAILED);
    watch_end();
}

static CUresult leave_capturing(struct cushim_stream *stream, void *user)
{
    return cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, user);
}

CHECK(run_left_capturing, "stream_run.run-left-capturing", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_capture *capture = NULL;
    expect_error("code", cushim_stream_run(stream, leave_capturing, &capture), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_status("has-ended", stream, "none");
    expect_error("capture-is-lost", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_success("usable", cushim_stream_synchronize(stream));
}

static CUresult leave_capturing_in_driver(struct cushim_stream *stream, void *unused)
{
    return cu->StreamBeginCapture_v2(cushim_stream_handle(stream), CU_STREAM_CAPTURE_MODE_RELAXED);
}

/* The layer does not know this capture, ends it, and destroys its graph. */
CHECK(run_left_capturing_in_driver, "stream_run.run-left-capturing-in-driver", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    watch_begin();
    expect_error("code", cushim_stream_run(stream, leave_capturing_in_driver, NULL),
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_number("ended", watch_calls_of(S(StreamEndCapture_v1)), 1);
    expect_number("graphs", watch_objects.graphs, 0);
    watch_end();
    expect_status("has-ended", stream, "none");
}
