/* SPDX-License-Identifier: MIT */
/* Completions are created, polled, waited for and destroyed in every state. completion_callback.c and
 * completion_destroy.c test callbacks, and trap.c tests situations in which programs hang. */
#include "completion.h"

#include <string.h>

uint64_t soon(void)
{
    return cushim_clock_ns() + UINT64_C(5000) * MILLISECOND;
}

/* The descriptor becomes readable a moment after the state changes, so a test that has waited gives it time. */
static bool readable_within(cushim_descriptor descriptor, int milliseconds)
{
#if defined(_WIN32)
    return WaitForSingleObject(descriptor, (DWORD)milliseconds) == WAIT_OBJECT_0;
#else
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    return poll(&wanted, 1, milliseconds) == 1 && (wanted.revents & POLLIN) != 0;
#endif
}

bool readable(cushim_descriptor descriptor)
{
    return readable_within(descriptor, 5000);
}

bool silent(cushim_descriptor descriptor)
{
    return !readable_within(descriptor, 0);
}

const char *const ordinals[6] = {"first", "second", "third", "fourth", "fifth", "sixth"};

const char *const kind_names[KINDS] = {"polled", "notifying"};
const unsigned kind_flags[KINDS] = {0, CUSHIM_COMPLETION_NOTIFYING};

struct cushim_completion *completion_new(struct cushim_stream *stream, unsigned flags)
{
    struct cushim_completion *completion = NULL;
    require("completion", cushim_completion_create(stream, flags, &completion));
    return completion;
}

struct cushim_completion *polled_new(struct cushim_stream *stream)
{
    return completion_new(stream, 0);
}

struct cushim_completion *notifying_new(struct cushim_stream *stream)
{
    return completion_new(stream, CUSHIM_COMPLETION_NOTIFYING);
}

CUresult poll_status(struct cushim_completion *completion)
{
    CUresult status = CUDA_SUCCESS;
    CUresult result = cushim_completion_poll(completion, &status);
    return result != CUDA_SUCCESS ? result : status;
}

CUresult wait_status(struct cushim_completion *completion, uint64_t deadline)
{
    CUresult status = CUDA_SUCCESS;
    CUresult result = cushim_completion_wait(completion, deadline, &status);
    return result != CUDA_SUCCESS ? result : status;
}

void wait_and_destroy(struct cushim_completion *completion)
{
    require("wait", wait_status(completion, soon()));
    cushim_completion_destroy(&completion);
}

CUresult wait_all_status(struct cushim_completion *const *completions, size_t count, uint64_t deadline)
{
    CUresult status = CUDA_SUCCESS;
    CUresult result = cushim_completion_wait_all(completions, count, deadline, &status);
    return result != CUDA_SUCCESS ? result : status;
}

CUresult body_does_nothing(struct cushim_stream *stream, void *user)
{
    return CUDA_SUCCESS;
}

void ignore_status(CUresult status, void *user)
{
}

CUresult body_captures_completion(struct cushim_stream *stream, void *user)
{
    return cushim_completion_create_captured(stream, user);
}

unsigned *stream_block(struct cushim_stream *stream)
{
    static CUcontext context;
    static CUfunction function;
    CUdeviceptr address = 0;
    void *parameters[] = {&address};
    unsigned *held = host_new(64, &address);
    if (context != the_context && require("kernel", kernel_get("conformance_wait", &function)))
        context = the_context;
    require("launch", kernel_launch(function, cushim_stream_handle(stream), parameters));
    return held;
}

void stream_unblock(unsigned *held)
{
    CUSHIM_STORE_RELEASE(held, 1u);
}

static const char *key_of_kind(int kind, const char *key)
{
    return key_of(kind_names[kind], key, NULL);
}

static void fires(int kind)
{
    CUresult status = CUDA_ERROR_UNKNOWN;
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    struct cushim_completion *completion = completion_new(stream, kind_flags[kind]);
    expect(key_of_kind(kind, "poll-before"), cushim_completion_poll(completion, &status), CUDA_ERROR_NOT_READY);
    expect_number(key_of_kind(kind, "count-before"), (long long)cushim_completion_count(completion), 0);
    uint64_t begun = cushim_clock_ns();
    expect_error(key_of_kind(kind, "deadline"), cushim_completion_wait(completion, begun + 20 * MILLISECOND, &status),
                 CUDA_ERROR_TIMEOUT, "cushim_completion_wait");
    expect_true(key_of_kind(kind, "not-before-the-deadline"), cushim_clock_ns() >= begun + 20 * MILLISECOND);
    expect_error(key_of_kind(kind, "deadline-in-the-past"), cushim_completion_wait(completion, 0, &status),
                 CUDA_ERROR_TIMEOUT, "cushim_completion_wait");
    expect(key_of_kind(kind, "status-untouched"), status, CUDA_ERROR_UNKNOWN);
    gate_open(gate);
    expect_success(key_of_kind(kind, "wait"), cushim_completion_wait(completion, CUSHIM_FOREVER, &status));
    expect(key_of_kind(kind, "status"), status, CUDA_SUCCESS);
    status = CUDA_ERROR_UNKNOWN;
    expect_success(key_of_kind(kind, "poll"), cushim_completion_poll(completion, &status));
    expect(key_of_kind(kind, "status-again"), status, CUDA_SUCCESS);
    expect_success(key_of_kind(kind, "without-status"), cushim_completion_poll(completion, NULL));
    expect_success(key_of_kind(kind, "wait-again"), cushim_completion_wait(completion, 0, NULL));
    expect_number(key_of_kind(kind, "count"), (long long)cushim_completion_count(completion), 1);
    expect_error(key_of_kind(kind, "reset"), cushim_completion_reset(completion), CUDA_ERROR_NOT_SUPPORTED,
                 "cushim_completion_reset");
    cushim_completion_destroy(&completion);
    expect_true(key_of_kind(kind, "destroyed-is-null"), completion == NULL);
}

CHECK(fired, "completion.fired")
{
    fires(POLLED);
    fires(NOTIFYING);
}

CHECK(only_polled, "completion.only-polled")
{
    struct cushim_stream *stream = fixture_stream();
    for (int kind = 0; kind < KINDS; kind++) {
        struct cushim_completion *completion = completion_new(stream, kind_flags[kind]);
        CUresult result = poll_status(completion);
        for (int i = 0; i < 500 && result == CUDA_ERROR_NOT_READY; i++) {
            pause_shortly();
            result = poll_status(completion);
        }
        expect(key_of_kind(kind, "poll"), result, CUDA_SUCCESS);
        cushim_completion_destroy(&completion);
    }
}

CHECK(argument, "completion.argument")
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_completion *completion = notifying_new(stream);
    struct cushim_completion *none = NULL;
    cushim_descriptor descriptor;
    CUresult status = CUDA_ERROR_UNKNOWN;
    expect_error("null-stream", cushim_completion_create(NULL, 0, &none), CUDA_ERROR_INVALID_HANDLE);
    expect_error("null-output", cushim_completion_create(stream, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("unknown-flags", cushim_completion_create(stream, 2, &none), CUDA_ERROR_INVALID_VALUE);
    expect_error("captured-null-stream", cushim_completion_create_captured(NULL, &none), CUDA_ERROR_INVALID_HANDLE);
    expect_error("captured-null-output", cushim_completion_create_captured(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    expect_error("captured-outside-capture", cushim_completion_create_captured(stream, &none),
                 CUDA_ERROR_ILLEGAL_STATE);
    expect_error("poll-null", cushim_completion_poll(NULL, &status), CUDA_ERROR_INVALID_HANDLE);
    expect_error("wait-null", cushim_completion_wait(NULL, 0, &status), CUDA_ERROR_INVALID_HANDLE);
    expect("status-untouched", status, CUDA_ERROR_UNKNOWN);
    expect_error("descriptor-null", cushim_completion_get_descriptor(NULL, &descriptor), CUDA_ERROR_INVALID_HANDLE);
    expect_error("descriptor-null-output", cushim_completion_get_descriptor(completion, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    expect_error("reset-null", cushim_completion_reset(NULL), CUDA_ERROR_INVALID_HANDLE);
    expect_number("count-null", (long long)cushim_completion_count(NULL), 0);
    cushim_completion_detach(NULL);
    cushim_completion_detach(&none);
    cushim_completion_destroy(NULL);
    cushim_completion_destroy(&none);
    expect_true("untouched", none == NULL);
    cushim_completion_destroy(&completion);
}

CHECK(descriptor, "completion.descriptor")
{
    cushim_descriptor before;
    cushim_descriptor again;
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    struct cushim_completion *early = notifying_new(stream);
    struct cushim_completion *late = notifying_new(stream);
    expect_success("descriptor-before", cushim_completion_get_descriptor(early, &before));
    expect_true("silent-before", silent(before));
    expect_success("descriptor-again", cushim_completion_get_descriptor(early, &again));
    expect_true("the-same", before == again);
    gate_open(gate);
    expect("wait", wait_status(late, soon()), CUDA_SUCCESS);
    expect_true("readable", readable(before));
    expect("poll", poll_status(early), CUDA_SUCCESS);
    expect_true("readable-still", readable(before));
    expect_success("descriptor-late", cushim_completion_get_descriptor(late, &again));
    expect_true("late-readable", readable(again));
    cushim_completion_destroy(&early);
    cushim_completion_destroy(&late);
}

/* Destroyed or detached while work is pending: the GPU continues, and the memory is not touched afterwards. */
CHECK(detached, "completion.detached")
{
    cushim_descriptor open_descriptor;
    struct cushim_stream *stream = fixture_stream();
    struct gate *gate = gate_new(cushim_stream_handle(stream));
    for (int kind = 0; kind < KINDS; kind++) {
        struct cushim_completion *detached = completion_new(stream, kind_flags[kind]);
        struct cushim_completion *destroyed = completion_new(stream, kind_flags[kind]);
        if (kind == NOTIFYING)
            require("descriptor", cushim_completion_get_descriptor(destroyed, &open_descriptor));
        cushim_completion_detach(&detached);
        expect_true(key_of_kind(kind, "detached-is-null"), detached == NULL);
        cushim_completion_destroy(&destroyed);
    }
    gate_open(gate);
    expect_success("synchronize", cushim_stream_synchronize(stream));
    expect_number("gate-passed", gate_passed(gate), 1);
}

/* The stream object is destroyed before its work is done; a borrowed stream does not wait for its work. */
CHECK(outlives_stream, "completion.outlives-stream")
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct gate gate;
        struct cushim_stream *stream = test_stream_new();
        gate_close(&gate, cushim_stream_handle(stream));
        struct cushim_completion *completion = completion_new(stream, kind_flags[kind]);
        expect_success(key_of_kind(kind, "destroy"), cushim_stream_destroy(&stream));
        expect(key_of_kind(kind, "pending"), poll_status(completion), CUDA_ERROR_NOT_READY);
        gate_open(&gate);
        expect(key_of_kind(kind, "wait"), wait_status(completion, soon()), CUDA_SUCCESS);
        cushim_completion_destroy(&completion);
    }
}

CHECK(many, "completion.many")
{
    enum { COUNT = 20000, PENDING = 200 };
    static struct cushim_completion *completions[COUNT];
    for (int kind = 0; kind < KINDS; kind++) {
        struct gate gate;
        int made = 0;
        int pending = 0;
        int waited = 0;
        struct cushim_stream *stream = test_stream_new();
        gate_close(&gate, cushim_stream_handle(stream));
        /* The driver accepts a limited number of pending callbacks before it blocks the caller, so the work is not held
         * back while all of them are registered. */
        for (int i = 0; i < PENDING; i++)
            made += cushim_completion_create(stream, kind_flags[kind], &completions[i]) == CUDA_SUCCESS;
        for (int i = 0; i < PENDING; i++)
            pending += poll_status(completions[i]) == CUDA_ERROR_NOT_READY;
        expect_number(key_of_kind(kind, "pending"), pending, PENDING);
        gate_open(&gate);
        for (int i = PENDING; i < COUNT; i++)
            made += cushim_completion_create(stream, kind_flags[kind], &completions[i]) == CUDA_SUCCESS;
        expect_number(key_of_kind(kind, "outstanding"), made, COUNT);
        for (int i = 0; i < COUNT; i++) {
            waited += wait_status(completions[i], soon()) == CUDA_SUCCESS;
            cushim_completion_destroy(&completions[i]);
        }
        expect_number(key_of_kind(kind, "waited"), waited, COUNT);
        test_stream_close(stream);
    }
}

/* A polled completion has neither a descriptor nor a callback; the message names the flag. */
CHECK(refuses_what_notifying_has, "completion.refuses-what-notifying-has")
{
    atomic_int releases = 0;
    cushim_descriptor descriptor;
    struct cushim_dispatcher *dispatcher = NULL;
    struct cushim_stream *streams[2] = {test_stream_new(), NULL};
    require("special", cushim_stream_borrow(NULL, NULL, &streams[1]));
    require("dispatcher", cushim_dispatcher_create(&dispatcher));
    for (int i = 0; i < 2; i++) {
        struct cushim_completion *completion = polled_new(streams[i]);
        expect_error(key_of(ordinals[i], "descriptor", NULL), cushim_completion_get_descriptor(completion, &descriptor),
                     CUDA_ERROR_NOT_SUPPORTED);
        expect_true(key_of(ordinals[i], "names-the-flag", NULL),
                    strstr(cushim_error_last()->message, "CUSHIM_COMPLETION_NOTIFYING") != NULL);
        expect_error(key_of(ordinals[i], "callback", NULL),
                     cushim_completion_set_callback(completion, dispatcher, ignore_status, &releases, count_release),
                     CUDA_ERROR_NOT_SUPPORTED);
        expect_error(key_of(ordinals[i], "inline-callback", NULL),
                     cushim_completion_set_inline_callback(completion, ignore_status, &releases, count_release),
                     CUDA_ERROR_NOT_SUPPORTED);
        expect_number(key_of(ordinals[i], "released", NULL), atomic_load(&releases), 2 * (i + 1));
        expect(key_of(ordinals[i], "wait", NULL), wait_status(completion, soon()), CUDA_SUCCESS);
        cushim_completion_destroy(&completion);
    }
    cushim_dispatcher_destroy(&dispatcher);
    cushim_stream_destroy(&streams[1]);
    test_stream_close(streams[0]);
}

static void launch_and_wait(struct cushim_graph_exec *executable, struct cushim_stream *stream,
                            struct cushim_completion *completion)
{
    cushim_descriptor open_descriptor;
    require("descriptor", cushim_completion_get_descriptor(completion, &open_descriptor));
    for (int i = 0; i < 3; i++) {
        const char *number = ordinals[i];
        expect(key_of(number, "pending", NULL), poll_status(completion), CUDA_ERROR_NOT_READY);
        expect_true(key_of(number, "silent", NULL), silent(open_descriptor));
        expect_success(key_of(number, "launch", NULL), cushim_graph_exec_launch(executable, stream));
        expect(key_of(number, "wait", NULL), wait_status(completion, soon()), CUDA_SUCCESS);
        expect_success(key_of(number, "synchronize", NULL), cushim_stream_synchronize(stream));
        expect_true(key_of(number, "readable", NULL), readable(open_descriptor));
        expect_number(key_of(number, "count", NULL), (long long)cushim_completion_count(completion), i + 1);
        expect_success(key_of(number, "reset", NULL), cushim_completion_reset(completion));
        expect_true(key_of(number, "silent-again", NULL), silent(open_descriptor));
        expect_success(key_of(number, "reset-again", NULL), cushim_completion_reset(completion));
    }
}

CHECK(captured, "completion.captured", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_graph_exec *executable = NULL;
    if (!expect_success("capture",
                        cushim_stream_capture_executable(stream, CU_STREAM_CAPTURE_MODE_RELAXED, 0,
                                                         body_captures_completion, &completion, &executable)))
        return;
    launch_and_wait(executable, stream, completion);
    /* The completion is destroyed before the graph: later launches still work. */
    cushim_completion_destroy(&completion);
    expect_success("launch-after-destroy", cushim_graph_exec_launch(executable, stream));
    expect_success("synchronize-after-destroy", cushim_stream_synchronize(stream));
    expect_success("executable-destroy", cushim_graph_exec_destroy(&executable));
}

/* The graph is destroyed before the completion, after launches and without any launch. */
CHECK(captured_outlives, "completion.captured-outlives", .needs = {S(UserObjectCreate_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_capture *capture = NULL;
    if (!require("begin", cushim_capture_begin(stream, RELAXED, &capture)))
        return;
    expect_success("create", cushim_completion_create_captured(stream, &completion));
    expect_success("end", cushim_capture_end(&capture, &graph));
    expect_success("graph-destroy", cushim_graph_destroy(&graph));
    expect("poll", poll_status(completion), CUDA_ERROR_NOT_READY);
    expect_error("wait", cushim_completion_wait(completion, 0, NULL), CUDA_ERROR_TIMEOUT);
    cushim_completion_destroy(&completion);
}

/* Below CUDA 11.3 the driver does not report that a graph was destroyed. */
CHECK(captured_on_old, "completion.captured-on-old", .needs = {S(StreamEndCapture_v1)})
{
    struct cushim_stream *stream = fixture_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_graph *graph = NULL;
    if (cushim_slot_get_state(CUSHIM_SLOT_UserObjectCreate_v1, CUSHIM_DEFAULT_STREAM_LEGACY) != CUSHIM_STATE_MISSING) {
        not_applicable("refused", "a driver without user objects");
    } else {
        expect("refused",
               cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED, body_captures_completion, &completion,
                                     &graph),
               CUDA_ERROR_NOT_SUPPORTED);
        expect_true("untouched", completion == NULL && graph == NULL);
    }
}
