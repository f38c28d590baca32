/* SPDX-License-Identifier: MIT */
/* Querying a stream, waiting for it, and one stream waiting for another. */
#include "support.h"

CHECK(pending, "wait.pending")
{
    struct cushim_stream *stream = fixture_stream();
    expect_success("idle", cushim_stream_query(stream));
    expect_success("idle-synchronize", cushim_stream_synchronize(stream));
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect("pending", cushim_stream_query(stream), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("passed", gate_passed(gate), 1);
    expect_success("then", cushim_stream_query(stream));
}

/* `waiter` waits for work in `first`, which the event stands for. */
static void expect_wait(struct cushim_stream *waiter, struct cushim_stream *first, struct cushim_event *event)
{
    struct gate *gate = gate_new(cushim_stream_handle(first));
    expect_success("record", cushim_event_record(event, first, 0));
    expect_success("wait", cushim_stream_wait_event(waiter, event, 0));
    expect("waits", cushim_stream_query(waiter), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect_success("synchronize", cushim_stream_synchronize(waiter));
    expect_number("passed", gate_passed(gate), 1);
}

CHECK(ordered, "wait.ordered")
{
    expect_wait(fixture_stream(), fixture_stream(), fixture_event(CU_EVENT_DISABLE_TIMING));
}

/* Destroying an event does not affect work that waits for it. */
CHECK(event_destroyed, "wait.event-destroyed")
{
    struct cushim_stream *first = fixture_stream();
    struct cushim_stream *second = fixture_stream();
    struct cushim_event *event = NULL;
    require("event", cushim_event_create(cushim_stream_context(first), CU_EVENT_DISABLE_TIMING, &event));
    struct gate *gate = gate_new(cushim_stream_handle(first));
    require("record", cushim_event_record(event, first, 0));
    require("wait", cushim_stream_wait_event(second, event, 0));
    expect_success("destroy", cushim_event_destroy(&event));
    expect("second-waits-still", cushim_stream_query(second), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect_success("synchronize", cushim_stream_synchronize(second));
}

CHECK(argument, "wait.argument")
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_event *event = fixture_event(0);
    expect_success("never-recorded", cushim_stream_wait_event(stream, event, 0));
    expect_success("is-no-wait", cushim_stream_query(stream));
    expect_driver_error("unknown-flags", cushim_stream_wait_event(stream, event, 8), CUDA_ERROR_INVALID_VALUE);
    expect_error("null-event", cushim_stream_wait_event(stream, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-stream", cushim_stream_wait_event(NULL, event, 0), CUDA_ERROR_INVALID_HANDLE);
}

/* CUDA 11.1, which brought the flag */
CHECK(external_outside, "wait.external-outside", .needs = {S(GraphUpload_v1)})
{
    expect_driver_error("code", cushim_stream_wait_event(fixture_stream(), fixture_event(0), CU_EVENT_WAIT_EXTERNAL),
                        CUDA_ERROR_ILLEGAL_STATE);
}

CHECK(external_on_old, "wait.external-on-old")
{
    if (is_native(S(EventRecordWithFlags_v1)))
        not_applicable(NULL, "a driver that has the flag");
    else
        expect_error("code", cushim_stream_wait_event(fixture_stream(), fixture_event(0), CU_EVENT_WAIT_EXTERNAL),
                     CUDA_ERROR_NOT_SUPPORTED);
}

/* A stream waits for an event of another context. */
CHECK(across_contexts, "wait.across-contexts")
{
    struct cushim_context *there = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_event *event = fixture_event(CU_EVENT_DISABLE_TIMING);
    expect_success("context", cushim_context_create(the_ordinal, 0, &there));
    expect_success("stream", cushim_stream_create(there, CU_STREAM_NON_BLOCKING, 0, &stream));
    expect_wait(stream, fixture_stream(), event);
    expect_driver_error("record-in-another-context", cushim_event_record(event, stream, 0), CUDA_ERROR_INVALID_HANDLE);
    test_stream_close(stream);
    expect_success("context-destroy", cushim_context_destroy(&there));
    expect_current("current-stays", the_context);
}

/* A stream waits for an event of another device. */
CHECK(across_devices, "wait.across-devices")
{
    struct cushim_context *there = NULL;
    struct cushim_stream *here = fixture_stream();
    struct cushim_stream *stream = NULL;
    struct cushim_event *event = NULL;
    CUdevice device = -1;
    int devices = 0;
    require("count", cu->DeviceGetCount_v1(&devices));
    if (devices < 2) {
        not_applicable(NULL, "there is one device");
        return;
    }
    require("context", cushim_context_create((the_ordinal + 1) % devices, 0, &there));
    require("event", cushim_event_create(there, CU_EVENT_DISABLE_TIMING, &event));
    expect_success("create", cushim_stream_create(there, CU_STREAM_NON_BLOCKING, 0, &stream));
    expect_success("device", cushim_stream_get_device(stream, &device));
    expect_true("device-is-the-other", device != the_device);
    expect_wait(here, stream, event);
    expect_driver_error("record-here", cushim_event_record(event, here, 0), CUDA_ERROR_INVALID_HANDLE);
    test_stream_close(stream);
    expect_success("event-destroy", cushim_event_destroy(&event));
    expect_success("context-destroy", cushim_context_destroy(&there));
    expect_current("current-stays", the_context);
}
