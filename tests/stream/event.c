/* SPDX-License-Identifier: MIT */
/* Events are created, borrowed, recorded, queried and waited for, and the time between them is measured. */
#include "support.h"

#include <string.h>

CHECK(created, "event.created")
{
    struct cushim_context *context = fixture_context();
    struct cushim_event *event = NULL;
    watch_begin();
    require("none", cu->CtxSetCurrent_v1(NULL));
    expect_success("default", cushim_event_create(context, CU_EVENT_DEFAULT, &event));
    expect_current("none-is-current", NULL);
    expect_true("handle", cushim_event_handle(event) != NULL);
    expect_success("never-recorded-is-done", cushim_event_query(event));
    expect_success("synchronize", cushim_event_synchronize(event));
    expect_success("destroy", cushim_event_destroy(&event));
    expect_true("gone", event == NULL && cushim_event_handle(event) == NULL);
    expect_success("destroy-again", cushim_event_destroy(&event));
    expect_success("destroy-null", cushim_event_destroy(NULL));
    expect_success("blocking-sync", cushim_event_create(context, CU_EVENT_BLOCKING_SYNC, &event));
    expect_success("blocking-sync-destroy", cushim_event_destroy(&event));
    expect_success("interprocess",
                   cushim_event_create(context, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, &event));
    expect_success("interprocess-destroy", cushim_event_destroy(&event));
    expect_number("alive", watch_alive(), 0);
    watch_end();
    require("set", cu->CtxSetCurrent_v1(the_context));
}

CHECK(argument, "event.argument")
{
    struct cushim_context *context = fixture_context();
    struct cushim_event *event = NULL;
    expect_error("null-context", cushim_event_create(NULL, 0, &event), CUDA_ERROR_INVALID_CONTEXT);
    expect_error("null-output", cushim_event_create(context, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_driver_error("unknown-flags", cushim_event_create(context, 0x100, &event), CUDA_ERROR_INVALID_VALUE);
    expect_error("borrow-null", cushim_event_borrow(NULL, context, &event), CUDA_ERROR_INVALID_HANDLE);
    expect_error("borrow-null-output", cushim_event_borrow((CUevent)&event, context, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_true("untouched", event == NULL);
    expect_current("current-stays", the_context);
    expect_error("query", cushim_event_query(NULL), CUDA_ERROR_INVALID_HANDLE);
    expect_error("synchronize", cushim_event_synchronize(NULL), CUDA_ERROR_INVALID_HANDLE);
}

CHECK(borrowed, "event.borrowed")
{
    CUevent handle = event_new();
    struct cushim_event *event = NULL;
    struct cushim_stream *stream = fixture_stream();
    watch_begin();
    expect_success("borrow", cushim_event_borrow(handle, NULL, &event));
    expect_true("handle", cushim_event_handle(event) == handle);
    expect_success("record", cushim_event_record(event, stream, 0));
    expect_success("synchronize", cushim_event_synchronize(event));
    expect_success("destroy", cushim_event_destroy(&event));
    expect_number("never-destroyed", watch_calls_of(S(EventDestroy_v2)), 0);
    watch_end();
    expect_success("still-there", cu->EventQuery_v1(handle));
}

CHECK(recorded, "event.recorded")
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_event *event = fixture_event(CU_EVENT_DISABLE_TIMING);
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect_success("record", cushim_event_record(event, stream, 0));
    expect("pending", cushim_event_query(event), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect_success("synchronize", cushim_event_synchronize(event));
    expect_number("passed", gate_passed(gate), 1);
    expect_success("query", cushim_event_query(event));
    expect_error("null-event", cushim_event_record(NULL, stream, 0), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-stream", cushim_event_record(event, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    expect_driver_error("unknown-flags", cushim_event_record(event, stream, 8), CUDA_ERROR_INVALID_VALUE);
}

/* External events exist only in captures, from CUDA 11.1. */
CHECK(external, "event.external", .needs = {S(StreamBeginCapture_v2)})
{
    bool known = is_native(S(EventRecordWithFlags_v1));
    struct cushim_stream *stream = fixture_stream();
    struct cushim_event *event = fixture_event(0);
    struct cushim_graph *graph = NULL;
    expect_driver_error("outside", cushim_event_record(event, stream, CU_EVENT_RECORD_EXTERNAL),
                        known ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_NOT_SUPPORTED);
    struct cushim_capture *capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    expect("record", cushim_event_record(event, stream, CU_EVENT_RECORD_EXTERNAL),
           known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    expect("wait", cushim_stream_wait_event(stream, event, CU_EVENT_WAIT_EXTERNAL),
           known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
    expect_status("survives", stream, "active");
    expect_success("end", cushim_capture_end(&capture, &graph));
    expect_number("nodes", graph_nodes(cushim_graph_handle(graph)), known ? 2 : 0);
    cushim_graph_destroy(&graph);
}

CHECK(elapsed, "event.elapsed")
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_event *start = fixture_event(0);
    struct cushim_event *end = fixture_event(0);
    struct cushim_event *untimed = fixture_event(CU_EVENT_DISABLE_TIMING);
    float time = -1;
    expect_driver_error("never-recorded", cushim_event_elapsed(start, end, &time), CUDA_ERROR_INVALID_HANDLE);
    expect_success("record", cushim_event_record(start, stream, 0));
    require("start", cushim_event_synchronize(start)); /* a GPU can begin later than the pause below */
    expect_success("record-untimed", cushim_event_record(untimed, stream, 0));
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect_success("record-end", cushim_event_record(end, stream, 0));
    expect("pending", cushim_event_elapsed(start, end, &time), CUDA_ERROR_NOT_READY);
    expect_true("untouched", time == -1);
    pause_shortly();
    gate_open(gate);
    expect_success("synchronize", cushim_event_synchronize(end));
    expect_success("code", cushim_event_elapsed(start, end, &time));
    expect_true("in-milliseconds", time >= 5 && time < 5000);
    time = -1;
    expect_driver_error("untimed", cushim_event_elapsed(start, untimed, &time), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-start", cushim_event_elapsed(NULL, end, &time), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-end", cushim_event_elapsed(start, NULL, &time), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-output", cushim_event_elapsed(start, end, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_true("still-untouched", time == -1);
}

static void query_as_bystander(void *event)
{
    CUresult code = cushim_event_query(event);
    expect("bystander", code, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_true("bystander-sentence", strstr(cushim_error_string(code), "in the global mode of any thread") != NULL);
}

/* The stream that captures is that of another thread. */
CHECK(bystander, "event.bystander", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_event *event = fixture_event(CU_EVENT_DISABLE_TIMING);
    struct cushim_capture *capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    on_thread(query_as_bystander, event);
    expect("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* Querying an event, or waiting for it, invalidates a capture depending on its mode, as event.h documents. */
CHECK(query_beside_capture, "event.query-beside-capture", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_event *event = fixture_event(CU_EVENT_DISABLE_TIMING);
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        bool allowed = mode == CU_STREAM_CAPTURE_MODE_RELAXED;
        struct cushim_capture *capture = NULL;
        require("begin", cushim_capture_begin(stream, (CUstreamCaptureMode)mode, &capture));
        expect(key_of(mode_names[mode], "query", NULL), cushim_event_query(event),
               allowed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        expect_status(key_of(mode_names[mode], "then", NULL), stream, allowed ? "active" : "invalidated");
        expect(key_of(mode_names[mode], "end", NULL), cushim_capture_end(&capture, NULL),
               allowed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
}
