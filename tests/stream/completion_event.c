/* SPDX-License-Identifier: MIT */
/* What completions ask of the driver. */
#if !defined(_WIN32)
#    define _POSIX_C_SOURCE 200809L
#    include <pthread.h>
#endif

#include "completion.h"

/* A polled completion makes no callback and no stream; it destroys its event, and leaves no object. */
CHECK(polled, "completion_event.polled", .needs = {S(CtxGetId_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    watch_begin();
    struct cushim_completion *completion = polled_new(stream);
    require("synchronize", cushim_stream_synchronize(stream));
    expect("poll", poll_status(completion), CUDA_SUCCESS);
    expect_number("events", watch_objects.events, 1);
    expect_number("queries", watch_calls_of(S(EventQuery_v1)), 1);
    cushim_completion_destroy(&completion);
    expect_number("events-afterwards", watch_objects.events, 0);
    expect_number("callbacks", watch_calls_of(S(StreamAddCallback_v1)), 0);
    expect_number("streams", watch_calls_of(S(StreamCreateWithPriority_v1)), 0);
    watch_end();
}

/* A notifying completion makes no call of the driver once it exists, so it can be used in a callback. All those of a
 * stream use one event. */
CHECK(notifying, "completion_event.notifying", .needs = {S(CtxGetId_v1)})
{
    cushim_descriptor descriptor;
    struct cushim_stream *stream = fixture_stream();
    wait_and_destroy(notifying_new(stream));
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    watch_begin();
    struct cushim_completion *completion = notifying_new(stream);
    expect_number("events", watch_objects.events, 0);
    watch_end();
    watch_begin();
    expect("poll", poll_status(completion), CUDA_ERROR_NOT_READY);
    expect("wait", wait_status(completion, cushim_clock_ns() + 2 * MILLISECOND), CUDA_ERROR_TIMEOUT);
    require("descriptor", cushim_completion_get_descriptor(completion, &descriptor));
    gate_open(gate);
    expect("fired", wait_status(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    expect_number("calls", watch_calls(), 0);
    watch_end();
}

static CUstreamCaptureMode exchange_mode(CUstreamCaptureMode mode)
{
    require("mode", cu->ThreadExchangeStreamCaptureMode_v1(&mode));
    return mode;
}

/* A query changes the capture mode of the thread only while it lasts. */
CHECK(mode_stays, "completion_event.mode-stays", .needs = {S(CtxGetId_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    struct cushim_completion *completion = polled_new(stream);
    for (int mode = 0; mode < 3; mode++) {
        exchange_mode((CUstreamCaptureMode)mode);
        expect(key_of(mode_names[mode], "poll", NULL), poll_status(completion), CUDA_ERROR_NOT_READY);
        expect_number(mode_names[mode], exchange_mode(CU_STREAM_CAPTURE_MODE_GLOBAL), mode);
    }
    gate_open(gate);
    wait_and_destroy(completion);
}

static void expect_only_callbacks(const char *name, struct cushim_stream *stream)
{
    for (int kind = 0; kind < KINDS; kind++) {
        watch_begin();
        struct cushim_completion *completion = completion_new(stream, kind_flags[kind]);
        expect(key_of(name, kind_names[kind], "wait"), wait_status(completion, soon()), CUDA_SUCCESS);
        cushim_completion_destroy(&completion);
        expect_number(key_of(name, kind_names[kind], "callbacks"), watch_calls_of(S(StreamAddCallback_v1)), 1);
        expect_number(key_of(name, kind_names[kind], "events"), watch_calls_of(S(EventRecord_v1)), 0);
        watch_end();
    }
}

CHECK(special, "completion_event.special", .needs = {S(DevicePrimaryCtxRetain_v1)})
{
    static const CUstream handles[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (int i = 0; i < 3; i++) {
        struct cushim_stream *stream = NULL;
        require("borrow", cushim_stream_borrow(handles[i], NULL, &stream));
        expect_only_callbacks(ordinals[i], stream);
        cushim_stream_destroy(&stream);
    }
}

CHECK(green, "completion_event.green", .needs = {S(GreenCtxStreamCreate_v1)})
{
    struct cushim_context *context = NULL;
    struct cushim_stream *stream = NULL;
    require("borrow", cushim_context_borrow_green(green_new(), &context));
    require("create", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    expect_only_callbacks("green", stream);
    test_stream_close(stream);
    cushim_context_destroy(&context);
}

/* No function needs the context of the stream to be current, or leaves it current. */
CHECK(other_contexts, "completion_event.other-contexts")
{
    CUcontext contexts[CONTEXT_COUNT];
    contexts_new(contexts);
    for (int current = 0; current < CONTEXT_COUNT; current++) {
        struct cushim_stream *stream = test_stream_new(); /* has not chosen a notification stream */
        require("current", cu->CtxSetCurrent_v1(contexts[current]));
        for (int kind = 0; kind < KINDS; kind++) {
            struct cushim_completion *completion = completion_new(stream, kind_flags[kind]);
            expect_current(key_of(context_names[current], kind_names[kind], "created"), contexts[current]);
            expect(key_of(context_names[current], kind_names[kind], "wait"), wait_status(completion, soon()),
                   CUDA_SUCCESS);
            cushim_completion_destroy(&completion);
            expect_current(key_of(context_names[current], kind_names[kind], "destroyed"), contexts[current]);
        }
        require("back", cu->CtxSetCurrent_v1(the_context));
        test_stream_close(stream);
    }
}

/* An inline callback runs on a thread of the driver, also while the program polls. */
struct inline_call {
    pthread_t thread;
    atomic_int releases;
};

static void take_thread(CUresult status, void *user)
{
    ((struct inline_call *)user)->thread = pthread_self();
}

static void count_inline_release(void *user)
{
    atomic_fetch_add(&((struct inline_call *)user)->releases, 1);
}

CHECK(inline_while_polled, "completion_event.inline-while-polled")
{
    enum { ROUNDS = 50 };
    int here = 0;
    struct cushim_stream *stream = fixture_stream();
    for (int round = 0; round < ROUNDS; round++) {
        struct gate gate;
        struct inline_call call = {.releases = 0};
        gate_close(&gate, cushim_stream_handle(stream));
        struct cushim_completion *completion = notifying_new(stream);
        require("set", cushim_completion_set_inline_callback(completion, take_thread, &call, count_inline_release));
        gate_open(&gate);
        while (poll_status(completion) == CUDA_ERROR_NOT_READY)
            pause_shortly();
        wait_for_count(&call.releases, 1);
        here += atomic_load(&call.releases) == 0 || pthread_equal(call.thread, pthread_self());
        cushim_completion_destroy(&completion);
    }
    expect_number("on-this-thread", here, 0);
}

/* Begins a capture when the completion records its event, as another thread could. */
static CUstream captured_handle;
static CUresult(CUDAAPI *real_record)(CUevent event, CUstream stream);

static CUresult CUDAAPI capture_and_record(CUevent event, CUstream stream)
{
    require("begin", cu->StreamBeginCapture_v2(captured_handle, RELAXED));
    return real_record(event, stream);
}

/* A capture begins between the check and the record: the creation fails, and makes no other call on the event. */
CHECK(capture_begins, "completion_event.capture-begins", .needs = {S(CtxGetId_v1)})
{
    struct cushim_dispatch_table *live = (struct cushim_dispatch_table *)cushim_table();
    for (int kind = 0; kind < KINDS; kind++) {
        const char *name = kind_names[kind];
        struct cushim_completion *completion = NULL;
        struct cushim_stream *stream = test_stream_new();
        CUgraph graph = NULL;
        captured_handle = cushim_stream_handle(stream);
        watch_begin();
        real_record = live->EventRecord_v1;
        live->EventRecord_v1 = capture_and_record;
        expect_error(key_of(name, "refused", NULL), cushim_completion_create(stream, kind_flags[kind], &completion),
                     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        live->EventRecord_v1 = real_record;
        expect_number(key_of(name, "waits", NULL), watch_calls_of(S(StreamWaitEvent_v1)), 0);
        expect_number(key_of(name, "queries", NULL), watch_calls_of(S(EventQuery_v1)), 0);
        expect_number(key_of(name, "destroyed", NULL), watch_calls_of(S(EventDestroy_v2)), 0);
        watch_end();
        expect_true(key_of(name, "untouched", NULL), completion == NULL);
        expect_status(key_of(name, "status", NULL), stream, "active");
        expect(key_of(name, "end", NULL), cu->StreamEndCapture_v1(captured_handle, &graph), CUDA_SUCCESS);
        require("graph", cu->GraphDestroy_v1(graph));
        test_stream_close(stream);
    }
}

/* Contexts whose ids are equal modulo 64 have nothing to do with each other. */
CHECK(equal_ids, "completion_event.equal-ids", .flags = CHECK_ALONE, .needs = {S(CtxGetId_v1)})
{
    enum { MOST = 400, STRIDE = 70, SECONDS = 5 };
    CUcontext contexts[2] = {NULL, NULL};
    unsigned long long ids[2] = {0, 1};
    struct cushim_stream *streams[2];
    struct cushim_context *borrowed[2];
    const uint64_t end = cushim_clock_ns() + SECONDS * UINT64_C(1000000000); /* a context takes 0.15 s on a GPU */
    require("context", cu->CtxCreate_v2(&contexts[0], 0, the_device));
    require("id", cu->CtxGetId_v1(contexts[0], &ids[0]));
    for (int i = 0; i < MOST && (ids[1] - ids[0]) % 64 != 0 && cushim_clock_ns() < end; i++) {
        if (contexts[1] != NULL)
            require("destroy", cu->CtxDestroy_v2(contexts[1]));
        if (i % STRIDE == 0) /* streams and contexts share the ids */
            stream_end(stream_new());
        require("another", cu->CtxCreate_v2(&contexts[1], 0, the_device));
        require("another-id", cu->CtxGetId_v1(contexts[1], &ids[1]));
    }
    if ((ids[1] - ids[0]) % 64 != 0)
        not_applicable("found", "two contexts whose ids are equal modulo 64, within 5 s");
    for (int i = 0; i < 2; i++) {
        require("borrow", cushim_context_borrow(contexts[i], &borrowed[i]));
        require("create", cushim_stream_create(borrowed[i], CU_STREAM_NON_BLOCKING, 0, &streams[i]));
        wait_and_destroy(polled_new(streams[i]));
        watch_begin();
        struct cushim_completion *completion = polled_new(streams[i]);
        expect_number(key_of(ordinals[i], "callbacks", NULL), watch_calls_of(S(StreamAddCallback_v1)), 0);
        watch_end();
        wait_and_destroy(completion);
    }
    for (int i = 0; i < 2; i++) {
        test_stream_close(streams[i]);
        cushim_context_destroy(&borrowed[i]);
        require("end", cu->CtxDestroy_v2(contexts[i]));
    }
}

static int streams_created(void)
{
    return watch_calls_of(S(StreamCreateWithPriority_v1));
}

static CUresult body_counts_streams(struct cushim_stream *stream, void *user)
{
    *(int *)user = streams_created();
    return CUDA_SUCCESS;
}

/* The notification stream is created before the body: creating a stream can wait for the work of the body. */
CHECK(created_before_body, "completion_event.created-before-body", .needs = {S(CtxGetId_v1)})
{
    int before = 0;
    struct cushim_stream *stream = fixture_stream();
    struct cushim_completion *completion = NULL;
    watch_begin();
    expect_success("enqueue", cushim_stream_enqueue(stream, body_counts_streams, &before, NULL, &completion));
    expect_number("before", before, 1);
    expect_number("afterwards", streams_created(), 1);
    watch_end();
    cushim_completion_destroy(&completion);
}
