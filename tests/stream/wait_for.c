/* SPDX-License-Identifier: MIT */
/* cushim_stream_wait_for(): one stream waits for the work in another one, and no event is left. */
#include "support.h"

static void expect_waits(const char *name, struct cushim_stream *to, struct cushim_stream *from)
{
    watch_begin();
    struct gate *gate = gate_new(cushim_stream_handle(from));
    expect_success(key_of(name, "wait", NULL), cushim_stream_wait_for(to, from));
    expect_number(key_of(name, "events-left", NULL), watch_objects.events, 0);
    expect_number(key_of(name, "events-made", NULL), watch_calls_of(S(EventDestroy_v2)), 1);
    expect_current(key_of(name, "current-stays", NULL), the_context);
    expect(key_of(name, "waits", NULL), cushim_stream_query(to), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect_success(key_of(name, "synchronize", NULL), cushim_stream_synchronize(to));
    expect_number(key_of(name, "passed", NULL), gate_passed(gate), 1);
    watch_end();
}

CHECK(ordered, "wait-for.ordered")
{
    expect_waits("here", fixture_stream(), fixture_stream());
}

CHECK(borrowed, "wait-for.borrowed")
{
    struct cushim_stream *from = NULL;
    require("borrow", cushim_stream_borrow(cushim_stream_handle(fixture_stream()), NULL, &from));
    expect_waits("for-it", fixture_stream(), from);
    expect_waits("it", from, fixture_stream());
    cushim_stream_destroy(&from);
}

CHECK(special, "wait-for.special")
{
    expect_waits("for-legacy", fixture_stream(), fixture_borrowed(NULL));
}

CHECK(itself, "wait-for.itself")
{
    struct cushim_stream *stream = fixture_stream();
    expect_success("wait", cushim_stream_wait_for(stream, stream));
    expect_success("synchronize", cushim_stream_synchronize(stream));
}

static void expect_waits_across(int ordinal)
{
    struct cushim_context *there = NULL;
    struct cushim_stream *stream = NULL;
    require("context", cushim_context_create(ordinal, 0, &there));
    require("stream", cushim_stream_create(there, CU_STREAM_NON_BLOCKING, 0, &stream));
    expect_waits("there", stream, fixture_stream());
    expect_waits("back", fixture_stream(), stream);
    test_stream_close(stream);
    cushim_context_destroy(&there);
}

CHECK(across_contexts, "wait-for.across-contexts")
{
    expect_waits_across(the_ordinal);
}

CHECK(across_devices, "wait-for.across-devices")
{
    int devices = 0;
    require("count", cu->DeviceGetCount_v1(&devices));
    if (devices < 2)
        not_applicable(NULL, "there is one device");
    else
        expect_waits_across((the_ordinal + 1) % devices);
}

/* The waiting stream comes into the capture and joins it again, in each mode. */
CHECK(captured, "wait-for.captured", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *from = fixture_stream();
    struct cushim_stream *to = fixture_stream();
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        struct cushim_graph *graph = NULL;
        struct cushim_capture *capture = NULL;
        watch_begin();
        require("begin", cushim_capture_begin(from, (CUstreamCaptureMode)mode, &capture));
        require("work", body_adds_work(from, NULL));
        expect_success(key_of(mode_names[mode], "fork", NULL), cushim_stream_wait_for(to, from));
        expect_status(key_of(mode_names[mode], "forked", NULL), to, "active");
        require("work", body_adds_work(to, NULL));
        expect_success(key_of(mode_names[mode], "join", NULL), cushim_stream_wait_for(from, to));
        expect_number(key_of(mode_names[mode], "events", NULL), watch_objects.events, 0);
        expect_success(key_of(mode_names[mode], "end", NULL), cushim_capture_end(&capture, &graph));
        watch_end();
        expect_number(key_of(mode_names[mode], "nodes", NULL), node_count(cushim_graph_handle(graph)), 2);
        cushim_graph_destroy(&graph);
    }
}

/* The same errors as with an event of the program. */
CHECK(isolated, "wait-for.isolated", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *to = fixture_stream();
    struct cushim_capture *capture = test_capture_begin(to, RELAXED);
    watch_begin();
    expect_driver_error("code", cushim_stream_wait_for(to, fixture_stream()), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    expect_number("events", watch_objects.events, 0);
    watch_end();
    expect_status("then", to, "invalidated");
    expect("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

CHECK(argument, "wait-for.argument")
{
    struct cushim_stream *stream = fixture_stream();
    expect_error("null-to", cushim_stream_wait_for(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-from", cushim_stream_wait_for(stream, NULL), CUDA_ERROR_INVALID_HANDLE);
}
