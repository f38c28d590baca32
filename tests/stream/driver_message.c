/* SPDX-License-Identifier: MIT */
/* What the driver itself says about a failed call (CUDA 12.9): it belongs to that call of that thread. */
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { THREADS = 8, ROUNDS = 200 };

/* The slots with which a driver reports what it logs. */
#define HAS_LOG is_native(S(LogsRegisterCallback_v1))

static bool is_of_call(const char *message, CUresult code, const char *function)
{
    char last[160];
    if (!HAS_LOG)
        return message == NULL;
    snprintf(last, sizeof last, "Returning %d (", (int)code);
    const char *returning = message != NULL ? strstr(message, last) : NULL;
    return returning != NULL && strchr(returning, '\n') == NULL && strstr(returning, function) != NULL;
}

static void expect_message_of(const char *key, CUresult result, CUresult expected, const char *function)
{
    expect(key, result, expected);
    expect_true(key_of(key, "driver-message", NULL),
                is_of_call(cushim_error_last()->driver_message, expected, function));
}

static void expect_no_message(const char *key, CUresult result, CUresult expected)
{
    expect(key, result, expected);
    expect_true(key_of(key, "no-driver-message", NULL), cushim_error_last()->driver_message == NULL);
}

/* Asks any driver since CUDA 12.9 for its log of calls of the stream layer. */
CHECK(logged, "driver-message.logged", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_event *event = fixture_event(0);
    struct cushim_capture *capture = NULL;
    CUdeviceptr memory = 0;
    expect_message_of("flags", cushim_stream_wait_event(stream, event, 9), CUDA_ERROR_INVALID_VALUE,
                      "cuStreamWaitEvent");
    capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    expect_message_of("unsafe", CUSHIM_CALL_IN(cu, MemAlloc_v2, &memory, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                      "cuMemAlloc");
    expect_message_of("lost", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                      "cuStreamEndCapture");
    capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    expect_message_of("query", cushim_stream_query(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamQuery");
    expect_message_of("end", cushim_capture_end(&capture, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                      "cuStreamEndCapture");
}

CHECK(older, "driver-message.older")
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_event *event = fixture_event(0);
    CUdeviceptr memory = 0;
    expect_message_of("first", cushim_stream_wait_event(stream, event, 9), CUDA_ERROR_INVALID_VALUE,
                      "cuStreamWaitEvent");
    expect_no_message("own", cushim_stream_wait_event(NULL, event, 9), CUDA_ERROR_INVALID_HANDLE);
    expect("unrecorded", cu->MemAlloc_v2(&memory, 0), CUDA_ERROR_INVALID_VALUE);
    expect_no_message("own-after-unrecorded", cushim_stream_get_flags(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    /* A layer fails the call, so the driver says nothing about it. */
    watch_begin();
    watch_fail(0, CUDA_ERROR_INVALID_VALUE);
    expect_no_message("layer", cushim_stream_wait_event(stream, event, 0), CUDA_ERROR_INVALID_VALUE);
    expect_message_of("through-layer", cushim_stream_wait_event(stream, event, 9), CUDA_ERROR_INVALID_VALUE,
                      "cuStreamWaitEvent");
    watch_end();
}

static struct {
    atomic_int lines, not_ready;
} program;

static void CUDA_CB count_line(void *user, CUlogLevel level, char *line, size_t length)
{
    (void)user, (void)level, (void)length;
    atomic_fetch_add(&program.lines, 1);
    if (strstr(line, "NOT_READY") != NULL)
        atomic_fetch_add(&program.not_ready, 1);
}

/* The program's own function gets the same lines, and neither disturbs the other. */
CHECK(registered_by_program, "driver-message.registered-by-program", .needs = {S(LogsRegisterCallback_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_event *event = fixture_event(0);
    CUlogsCallbackHandle callback = NULL;
    atomic_store(&program.lines, 0);
    expect_success("register", cu->LogsRegisterCallback_v1(count_line, NULL, &callback));
    expect_message_of("with", cushim_stream_wait_event(stream, event, 9), CUDA_ERROR_INVALID_VALUE,
                      "cuStreamWaitEvent");
    int lines = atomic_load(&program.lines);
    expect_true("called", lines > 0);
    expect_success("unregister", cu->LogsUnregisterCallback_v1(callback));
    expect_message_of("without", cushim_stream_wait_event(stream, event, 9), CUDA_ERROR_INVALID_VALUE,
                      "cuStreamWaitEvent");
    expect_true("not-called", atomic_load(&program.lines) == lines);
}

CHECK(not_ready, "driver-message.not-ready", .needs = {S(LogsRegisterCallback_v1)})
{
    CUlogsCallbackHandle callback = NULL;
    struct cushim_stream *stream = fixture_stream();
    atomic_store(&program.not_ready, 0);
    expect_success("register", cu->LogsRegisterCallback_v1(count_line, NULL, &callback));
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    expect("query", cushim_stream_query(stream), CUDA_ERROR_NOT_READY);
    gate_open(gate);
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_success("unregister", cu->LogsUnregisterCallback_v1(callback));
    expect_number("not-logged", atomic_load(&program.not_ready), 0);
}

struct crew {
    struct cushim_stream *stream;
    struct cushim_event *event;
    atomic_int number, wrong;
};

/* Odd and even threads fail in different functions at the same time. */
static void *fail_often(void *user)
{
    struct crew *crew = user;
    bool is_odd = atomic_fetch_add(&crew->number, 1) % 2 != 0;
    CUdeviceptr memory = 0;
    (void)cu->CtxSetCurrent_v1(the_context);
    for (int i = 0; i < ROUNDS; i++) {
        CUresult result = is_odd ? cushim_stream_wait_event(crew->stream, crew->event, 9)
                                 : CUSHIM_CALL_IN(cu, MemAlloc_v2, &memory, 0);
        const char *message = cushim_error_last()->driver_message;
        if (result != CUDA_ERROR_INVALID_VALUE
            || !is_of_call(message, result, is_odd ? "cuStreamWaitEvent" : "cuMemAlloc"))
            atomic_fetch_add(&crew->wrong, 1);
    }
    return NULL;
}

CHECK(of_threads, "driver-message.threads")
{
    struct crew crew = {.stream = fixture_stream(), .event = fixture_event(0)};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, fail_often, &crew);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    expect_number("wrong", atomic_load(&crew.wrong), 0);
}

/* What the layer asks only newer drivers leaves no error behind on an older one. */
CHECK(kept, "driver-message.kept")
{
    struct cushim_context *context = fixture_context();
    struct cushim_stream *stream = NULL;
    struct cushim_completion *completion = NULL;
    struct cushim_graph *graph = NULL;
    CUresult status = CUDA_ERROR_UNKNOWN;
    cushim_error_set(CUDA_ERROR_UNKNOWN, "kept", "An error of an earlier call.");
    expect_success("create", cushim_stream_create(context, 0, 0, &stream));
    expect_success("complete", cushim_completion_create(stream, 0, &completion));
    expect_success("wait", cushim_completion_wait(completion, CUSHIM_FOREVER, &status));
    cushim_completion_destroy(&completion);
    if (is_native(S(StreamBeginCapture_v1))) {
        struct cushim_capture *capture = test_capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
        require("end", cushim_capture_end(&capture, &graph));
        require("destroy", cushim_graph_destroy(&graph));
    }
    expect_success("close", cushim_stream_close(&stream));
    expect("last", cushim_error_last()->code, CUDA_ERROR_UNKNOWN);
}
