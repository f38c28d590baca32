/* SPDX-License-Identifier: MIT */
/* Host functions in a stream that is not capturing: each is called once, and its user data is released exactly once. */
#include "support.h"

/* The user data of a function: it counts calls and releases, and records which came first. */
struct given {
    atomic_int calls;
    atomic_int releases;
    atomic_int calls_at_release;
    _Atomic(CUstream) stream;
    atomic_int status;
};

static void CUDA_CB called(void *user)
{
    struct given *given = user;
    atomic_fetch_add(&given->calls, 1);
}

static void CUDA_CB called_back(CUstream stream, CUresult status, void *user)
{
    struct given *given = user;
    atomic_store(&given->stream, stream);
    atomic_store(&given->status, (int)status);
    atomic_fetch_add(&given->calls, 1);
}

static void released(void *user)
{
    struct given *given = user;
    atomic_store(&given->calls_at_release, atomic_load(&given->calls));
    atomic_fetch_add(&given->releases, 1);
}

static void rule_given(const char *name, const struct given *given, int calls, int releases)
{
    rule_number(key_of(name, "calls", NULL), atomic_load(&given->calls), calls);
    rule_number(key_of(name, "releases", NULL), atomic_load(&given->releases), releases);
    if (calls > 0 && releases > 0)
        rule_number(key_of(name, "released-after", NULL), atomic_load(&given->calls_at_release), calls);
}

/* Host functions and callbacks, with and without user data to release, held back by a gate. */
static void ordinary(void)
{
    struct cushim_stream *stream = layer_stream();
    struct given given[4] = {{.calls = 0}};
    struct gate gate;
    long blocks = allocation_count();
    if (!gate_close(&gate, cushim_stream_handle(stream)))
        return;
    done("host", cushim_stream_launch_host(stream, called, &given[0], NULL));
    done("host-with-release", cushim_stream_launch_host(stream, called, &given[1], released));
    done("callback", cushim_stream_add_callback(stream, called_back, &given[2], NULL));
    done("callback-with-release", cushim_stream_add_callback(stream, called_back, &given[3], released));
    rule("work-waits", cushim_stream_query(stream), CUDA_ERROR_NOT_READY);
    rule_given("before", &given[1], 0, 0);
    gate_open(&gate);
    done("synchronize", cushim_stream_synchronize(stream));
    rule_given("host", &given[0], 1, 0);
    rule_given("host-with-release", &given[1], 1, 1);
    rule_given("callback", &given[2], 1, 0);
    rule_given("callback-with-release", &given[3], 1, 1);
    rule_fact("stream", atomic_load(&given[3].stream) == cushim_stream_handle(stream));
    rule("status", (CUresult)atomic_load(&given[3].status), CUDA_SUCCESS);
    layer_stream_end(stream);
    rule_fact("no-block-is-left", allocation_count() < blocks);
}

static void refused_both(const char *name, struct cushim_stream *stream, CUresult expected)
{
    struct given given[2] = {{.calls = 0}};
    rule(key_of(name, "host", NULL), cushim_stream_launch_host(stream, called, &given[0], released), expected);
    rule_given(key_of(name, "host-is", NULL), &given[0], 0, 1);
    rule(key_of(name, "callback", NULL), cushim_stream_add_callback(stream, called_back, &given[1], released),
         expected);
    rule_given(key_of(name, "callback-is", NULL), &given[1], 0, 1);
}

static void argument(void)
{
    struct cushim_stream *stream = layer_stream();
    struct given given[2] = {{.calls = 0}};
    refused_both("null-stream", NULL, CUDA_ERROR_INVALID_HANDLE);
    refused("null-function", cushim_stream_launch_host(stream, NULL, &given[0], released), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_launch_host");
    rule_given("null-function-is", &given[0], 0, 1);
    refused("null-callback", cushim_stream_add_callback(stream, NULL, &given[1], released), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_add_callback");
    rule_given("null-callback-is", &given[1], 0, 1);
    done("nothing-to-release", cushim_stream_launch_host(stream, called, &given[0], NULL));
    layer_stream_end(stream);
}

static void refused_by_driver(void)
{
    struct cushim_stream *stream = NULL;
    need("borrow", cushim_stream_borrow(NULL, NULL, &stream));
    need("none", cu->CtxSetCurrent_v1(NULL));
    refused_both("no-context", stream, CUDA_ERROR_INVALID_CONTEXT);
    need("set", cu->CtxSetCurrent_v1(the_context));
    cushim_stream_destroy(&stream);
}

static void without_memory(void)
{
    struct cushim_stream *stream = layer_stream();
    struct given given[2] = {{.calls = 0}};
    allocation_fail(0);
    refused("host", cushim_stream_launch_host(stream, called, &given[0], released), CUDA_ERROR_OUT_OF_MEMORY,
            "cushim_stream_launch_host");
    rule_fact("failed", allocation_failed());
    rule_given("host-is", &given[0], 0, 1);
    allocation_fail(0);
    refused("callback", cushim_stream_add_callback(stream, called_back, &given[1], released), CUDA_ERROR_OUT_OF_MEMORY,
            "cushim_stream_add_callback");
    rule_fact("failed-too", allocation_failed());
    rule_given("callback-is", &given[1], 0, 1);
    layer_stream_end(stream);
}

/* The stream or the context is destroyed first. */

static void stream_destroyed(void)
{
    struct cushim_stream *stream = layer_stream();
    struct given given[2] = {{.calls = 0}};
    struct gate gate;
    if (!gate_close(&gate, cushim_stream_handle(stream)))
        return;
    done("host", cushim_stream_launch_host(stream, called, &given[0], released));
    done("callback", cushim_stream_add_callback(stream, called_back, &given[1], released));
    done("destroy", cushim_stream_destroy(&stream));
    gate_open(&gate);
    for (int i = 0; i < 500 && atomic_load(&given[0].releases) + atomic_load(&given[1].releases) < 2; i++)
        pause_shortly();
    rule_given("host", &given[0], 1, 1);
    rule_given("callback", &given[1], 1, 1);
}

/* A capture accepts no status callback: the layer refuses it before the driver would invalidate the capture. */
static void callback_in_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_capture *capture = NULL;
    struct given given = {.calls = 0};
    need("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED, &capture));
    refused("code", cushim_stream_add_callback(stream, called_back, &given, released),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cushim_stream_add_callback");
    rule_given("is", &given, 0, 1);
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(stream);
}

/* While another stream captures in the strictest mode, neither kind invalidates that capture. */
static void beside_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *other = layer_stream();
    struct cushim_capture *capture = NULL;
    struct given given[3] = {{.calls = 0}};
    need("begin", cushim_capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, &capture));
    done("host", cushim_stream_launch_host(other, called, &given[0], NULL));
    done("host-with-release", cushim_stream_launch_host(other, called, &given[1], released));
    done("callback", cushim_stream_add_callback(other, called_back, &given[2], released));
    rule_status("survives", stream, "active");
    done("end", cushim_capture_end(&capture, NULL));
    layer_stream_end(other);
    rule_given("host", &given[0], 1, 0);
    rule_given("host-with-release", &given[1], 1, 1);
    rule_given("callback", &given[2], 1, 1);
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"host_function.ordinary", ordinary, 0, {0}},
    {"host_function.argument", argument, 0, {0}},
    {"host_function.refused-by-driver", refused_by_driver, 0, {0}},
    {"host_function.without-memory", without_memory, 0, {0}},
    {"host_function.stream-destroyed", stream_destroyed, 0, {0}},
    {"host_function.in-capture", callback_in_capture, 0, {S(StreamBeginCapture_v2)}},
    {"host_function.beside-capture", beside_capture, 0, {S(ThreadExchangeStreamCaptureMode_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_host_function = {"host_function", checks};
