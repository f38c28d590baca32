/* SPDX-License-Identifier: MIT */
/* Host functions in a stream that is not capturing: each is called once, and its user data is released exactly once. */
#include "support.h"

static void expect_given(const char *name, const struct user_data *data, int calls, int releases)
{
    expect_number(key_of(name, "calls", NULL), atomic_load(&data->calls), calls);
    expect_number(key_of(name, "releases", NULL), atomic_load(&data->releases), releases);
    if (calls > 0 && releases > 0)
        expect_number(key_of(name, "released-after", NULL), atomic_load(&data->calls_at_release), calls);
}

/* Host functions and callbacks, with and without user data to release, held back by a gate. */
CHECK(ordinary, "host_function.ordinary")
{
    struct cushim_stream *stream = test_stream_new();
    struct user_data data[4] = {{.calls = 0}};
    long blocks = allocation_count();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect_success("host", cushim_stream_launch_host(stream, user_called, &data[0], NULL));
    expect_success("host-with-release", cushim_stream_launch_host(stream, user_called, &data[1], user_released));
    expect_success("callback", cushim_stream_add_callback(stream, user_called_back, &data[2], NULL));
    expect_success("callback-with-release",
                   cushim_stream_add_callback(stream, user_called_back, &data[3], user_released));
    expect("work-waits", cushim_stream_query(stream), CUDA_ERROR_NOT_READY);
    expect_given("before", &data[1], 0, 0);
    gate_open(gate);
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_given("host", &data[0], 1, 0);
    expect_given("host-with-release", &data[1], 1, 1);
    expect_given("callback", &data[2], 1, 0);
    expect_given("callback-with-release", &data[3], 1, 1);
    expect_true("stream", atomic_load(&data[3].stream) == cushim_stream_handle(stream));
    expect("status", (CUresult)atomic_load(&data[3].status), CUDA_SUCCESS);
    test_stream_close(stream);
    expect_true("no-block-is-left", allocation_count() < blocks);
}

static void refused_both(const char *name, struct cushim_stream *stream, CUresult expected)
{
    struct user_data data[2] = {{.calls = 0}};
    expect(key_of(name, "host", NULL), cushim_stream_launch_host(stream, user_called, &data[0], user_released),
           expected);
    expect_given(key_of(name, "host-is", NULL), &data[0], 0, 1);
    expect(key_of(name, "callback", NULL),
           cushim_stream_add_callback(stream, user_called_back, &data[1], user_released), expected);
    expect_given(key_of(name, "callback-is", NULL), &data[1], 0, 1);
}

CHECK(argument, "host_function.argument")
{
    struct cushim_stream *stream = fixture_stream();
    struct user_data data[2] = {{.calls = 0}};
    refused_both("null-stream", NULL, CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-function", cushim_stream_launch_host(stream, NULL, &data[0], user_released),
                 CUDA_ERROR_INVALID_VALUE);
    expect_given("null-function-is", &data[0], 0, 1);
    expect_error("null-callback", cushim_stream_add_callback(stream, NULL, &data[1], user_released),
                 CUDA_ERROR_INVALID_VALUE);
    expect_given("null-callback-is", &data[1], 0, 1);
    expect_success("nothing-to-release", cushim_stream_launch_host(stream, user_called, &data[0], NULL));
    require("synchronize", cushim_stream_synchronize(stream)); /* the function uses `data` */
}

CHECK(refused_by_driver, "host_function.refused-by-driver")
{
    struct cushim_stream *stream = fixture_borrowed(NULL);
    require("none", cu->CtxSetCurrent_v1(NULL));
    refused_both("no-context", stream, CUDA_ERROR_INVALID_CONTEXT);
    require("set", cu->CtxSetCurrent_v1(the_context));
}

CHECK(without_memory, "host_function.without-memory")
{
    struct cushim_stream *stream = fixture_stream();
    struct user_data data[2] = {{.calls = 0}};
    allocation_fail(0);
    expect_error("host", cushim_stream_launch_host(stream, user_called, &data[0], user_released),
                 CUDA_ERROR_OUT_OF_MEMORY);
    expect_true("failed", allocation_failed());
    expect_given("host-is", &data[0], 0, 1);
    allocation_fail(0);
    expect_error("callback", cushim_stream_add_callback(stream, user_called_back, &data[1], user_released),
                 CUDA_ERROR_OUT_OF_MEMORY);
    expect_true("failed-too", allocation_failed());
    expect_given("callback-is", &data[1], 0, 1);
}

/* The stream or the context is destroyed first. */

CHECK(stream_destroyed, "host_function.stream-destroyed")
{
    struct cushim_stream *stream = test_stream_new();
    struct user_data data[2] = {{.calls = 0}};
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect_success("host", cushim_stream_launch_host(stream, user_called, &data[0], user_released));
    expect_success("callback", cushim_stream_add_callback(stream, user_called_back, &data[1], user_released));
    expect_success("destroy", cushim_stream_destroy(&stream));
    gate_open(gate);
    for (int i = 0; i < 500 && atomic_load(&data[0].releases) + atomic_load(&data[1].releases) < 2; i++)
        pause_shortly();
    expect_given("host", &data[0], 1, 1);
    expect_given("callback", &data[1], 1, 1);
}

/* A capture accepts no status callback: the layer refuses it before the driver would invalidate the capture. */
CHECK(callback_in_capture, "host_function.in-capture", .needs = {S(StreamBeginCapture_v2)})
{
    struct cushim_stream *stream = fixture_stream();
    struct user_data data = {.calls = 0};
    struct cushim_capture *capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    expect_error("code", cushim_stream_add_callback(stream, user_called_back, &data, user_released),
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_given("is", &data, 0, 1);
    expect_capture_ends(stream, &capture);
}

/* While another stream captures in the strictest mode, neither kind invalidates that capture. */
CHECK(beside_capture, "host_function.beside-capture", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_stream *other = test_stream_new();
    struct user_data data[3] = {{.calls = 0}};
    struct cushim_capture *capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    expect_success("host", cushim_stream_launch_host(other, user_called, &data[0], NULL));
    expect_success("host-with-release", cushim_stream_launch_host(other, user_called, &data[1], user_released));
    expect_success("callback", cushim_stream_add_callback(other, user_called_back, &data[2], user_released));
    expect_capture_ends(stream, &capture);
    test_stream_close(other);
    expect_given("host", &data[0], 1, 0);
    expect_given("host-with-release", &data[1], 1, 1);
    expect_given("callback", &data[2], 1, 1);
}
