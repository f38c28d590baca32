/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <string.h>

const char *const mode_names[3] = {"global", "thread-local", "relaxed"};

void expect_error_of(const char *key, const char *call, CUresult result, CUresult expected, const char *function, ...)
{
    const struct cushim_error *error = cushim_error_last();
    const char *name = function != NULL ? function : call;
    size_t length = strcspn(name, "(");
    expect(key, result, expected);
    if (error->code != expected || strlen(error->function) != length || strncmp(error->function, name, length) != 0
        || error->message[0] == '\0')
        expect_true(key_of(key, "message", NULL), false);
}

void expect_driver_error(const char *key, CUresult result, CUresult expected)
{
    const struct cushim_error *error = cushim_error_last();
    expect(key, result, expected);
    if (error->code != result || strncmp(error->function, "cu", 2) != 0 || strncmp(error->function, "cushim", 6) == 0
        || error->message[0] == '\0')
        expect_true(key_of(key, "message", NULL), false);
}

bool expect_success(const char *key, CUresult result)
{
    return expect(key, result, CUDA_SUCCESS) == CUDA_SUCCESS;
}

struct cushim_context *context_new(void)
{
    struct cushim_context *context = NULL;
    require("context", cushim_context_borrow(the_context, &context));
    return context;
}

struct cushim_stream *test_stream_new(void)
{
    struct cushim_stream *stream = NULL;
    struct cushim_context *context = context_new();
    require("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    require("context-destroy", cushim_context_destroy(&context));
    return stream;
}

void test_stream_close(struct cushim_stream *stream)
{
    require("close", cushim_stream_close(&stream));
}

static void end_context(void *object)
{
    struct cushim_context *context = object;
    require("context-destroy", cushim_context_destroy(&context));
}

struct cushim_context *fixture_context(void)
{
    struct cushim_context *context = context_new();
    defer(end_context, context);
    return context;
}

static void end_stream(void *stream)
{
    test_stream_close(stream);
}

struct cushim_stream *fixture_stream(void)
{
    struct cushim_stream *stream = test_stream_new();
    defer(end_stream, stream);
    return stream;
}

struct cushim_stream *fixture_borrowed(CUstream handle)
{
    struct cushim_stream *stream = NULL;
    require("borrow", cushim_stream_borrow(handle, NULL, &stream));
    defer(end_stream, stream);
    return stream;
}

static void end_event(void *object)
{
    struct cushim_event *event = object;
    require("event-destroy", cushim_event_destroy(&event));
}

struct cushim_event *fixture_event(unsigned flags)
{
    struct cushim_event *event = NULL;
    struct cushim_context *context = context_new();
    require("event", cushim_event_create(context, flags, &event));
    require("context-destroy", cushim_context_destroy(&context));
    defer(end_event, event);
    return event;
}

struct cushim_graph *test_graph_new(void)
{
    struct cushim_graph *graph = NULL;
    require("graph", cushim_graph_create(&graph));
    return graph;
}

struct cushim_capture *test_capture_begin(struct cushim_stream *stream, CUstreamCaptureMode mode)
{
    struct cushim_capture *capture = NULL;
    require("begin", cushim_capture_begin(stream, mode, &capture));
    return capture;
}

void expect_capture_ends(struct cushim_stream *stream, struct cushim_capture **capture)
{
    expect_status("survives", stream, "active");
    expect_success("end", cushim_capture_end(capture, NULL));
}

bool is_native(enum cushim_slot slot)
{
    return cushim_slot_get_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_NATIVE;
}

bool is_missing(enum cushim_slot slot)
{
    return cushim_slot_get_state(slot, CUSHIM_DEFAULT_STREAM_LEGACY) == CUSHIM_STATE_MISSING;
}

void expect_current(const char *key, CUcontext expected)
{
    CUcontext current = NULL;
    require("current", cu->CtxGetCurrent_v1(&current));
    expect_true(key, current == expected);
}

const char *test_stream_status(struct cushim_stream *stream)
{
    return capture_status(cushim_stream_handle(stream));
}

void expect_status(const char *key, struct cushim_stream *stream, const char *expected)
{
    if (strcmp(test_stream_status(stream), expected) == 0)
        observe_text(key, expected);
    else
        expect_true(key_of(key, "is", expected), false);
}

static void CUDA_CB count_if_asked(void *user)
{
    if (user != NULL)
        atomic_fetch_add((atomic_int *)user, 1);
}

CUresult body_adds_work(struct cushim_stream *stream, void *user)
{
    return cushim_stream_launch_host(stream, count_if_asked, user, NULL);
}

int node_count(CUgraph graph)
{
    size_t count = 0;
    return cu->GraphGetNodes_v1(graph, NULL, &count) == CUDA_SUCCESS ? (int)count : -1;
}

void CUDA_CB user_called(void *user)
{
    struct user_data *data = user;
    atomic_fetch_add(&data->calls, 1);
}

void CUDA_CB user_called_back(CUstream stream, CUresult status, void *user)
{
    struct user_data *data = user;
    atomic_store(&data->stream, stream);
    atomic_store(&data->status, (int)status);
    atomic_fetch_add(&data->calls, 1);
}

void user_released(void *user)
{
    struct user_data *data = user;
    atomic_store(&data->calls_at_release, atomic_load(&data->calls));
    atomic_fetch_add(&data->releases, 1);
}

void wait_for_count(const atomic_int *count, int wanted)
{
    for (int i = 0; i < 500 && atomic_load(count) < wanted; i++)
        pause_shortly();
}

void *open_soon(void *user)
{
    pause_shortly();
    gate_open(user);
    return NULL;
}

void count_release(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}
