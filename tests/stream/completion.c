/* SPDX-License-Identifier: MIT */
/* Completions are created, polled, waited for and destroyed in every state. completion_callback.c and
 * completion_destroy.c test callbacks, and trap.c tests situations in which programs hang. */
#include "completion.h"

#define MILLISECOND UINT64_C(1000000)

uint64_t soon(void)
{
    return cushim_time_ns() + 5000 * MILLISECOND;
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

const char *const turns[6] = {"first", "second", "third", "fourth", "fifth", "sixth"};

struct cushim_completion *completion_new(struct cushim_stream *stream)
{
    struct cushim_completion *completion = NULL;
    need("completion", cushim_stream_completion(stream, &completion));
    return completion;
}

CUresult body_does_nothing(struct cushim_stream *stream, void *user)
{
    (void)stream;
    (void)user;
    return CUDA_SUCCESS;
}

CUresult body_captures_completion(struct cushim_stream *stream, void *user)
{
    return cushim_stream_capturable_completion(stream, user);
}

unsigned *stream_block(struct cushim_stream *stream)
{
    static CUcontext context;
    static CUfunction function;
    CUdeviceptr address = 0;
    void *parameters[] = {&address};
    unsigned *held = host_new(64, &address);
    if (context != the_context && need("kernel", kernel_get("conformance_wait", &function)))
        context = the_context;
    need("launch", kernel_launch(function, cushim_stream_handle(stream), parameters));
    return held;
}

void stream_unblock(unsigned *held)
{
    CUSHIM_STORE_RELEASE(held, 1u);
}

static void fired(void)
{
    struct gate gate;
    CUresult status = CUDA_ERROR_UNKNOWN;
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completion = completion_new(stream);
    rule("poll-before", cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
    rule("status-before", cushim_completion_status(completion, &status), CUDA_ERROR_NOT_READY);
    rule("status-untouched", status, CUDA_ERROR_UNKNOWN);
    rule_number("count-before", (long long)cushim_completion_count(completion), 0);
    uint64_t begun = cushim_time_ns();
    refused("deadline", cushim_completion_wait(completion, begun + 20 * MILLISECOND), CUDA_ERROR_TIMEOUT,
            "cushim_completion_wait");
    rule_fact("not-before-the-deadline", cushim_time_ns() >= begun + 20 * MILLISECOND);
    refused("deadline-in-the-past", cushim_completion_wait(completion, 0), CUDA_ERROR_TIMEOUT,
            "cushim_completion_wait");
    gate_open(&gate);
    rule("wait", cushim_completion_wait(completion, CUSHIM_FOREVER), CUDA_SUCCESS);
    rule("poll", cushim_completion_poll(completion), CUDA_SUCCESS);
    rule("status", cushim_completion_status(completion, &status), CUDA_SUCCESS);
    rule("status-is", status, CUDA_SUCCESS);
    rule("wait-again", cushim_completion_wait(completion, 0), CUDA_SUCCESS);
    rule_number("count", (long long)cushim_completion_count(completion), 1);
    refused("reset", cushim_completion_reset(completion), CUDA_ERROR_NOT_SUPPORTED, "cushim_completion_reset");
    cushim_completion_destroy(&completion);
    rule_fact("destroyed-is-null", completion == NULL);
    layer_stream_end(stream);
}

static void only_polled(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = completion_new(stream);
    CUresult result = cushim_completion_poll(completion);
    for (int i = 0; i < 500 && result == CUDA_ERROR_NOT_READY; i++) {
        pause_shortly();
        result = cushim_completion_poll(completion);
    }
    rule("poll", result, CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

static void argument(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = completion_new(stream);
    struct cushim_completion *none = NULL;
    cushim_descriptor descriptor;
    CUresult status;
    refused("null-stream", cushim_stream_completion(NULL, &none), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_completion");
    refused("null-output", cushim_stream_completion(stream, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_completion");
    refused("capturable-null-stream", cushim_stream_capturable_completion(NULL, &none), CUDA_ERROR_INVALID_HANDLE,
            "cushim_stream_capturable_completion");
    refused("capturable-null-output", cushim_stream_capturable_completion(stream, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_stream_capturable_completion");
    refused("poll-null", cushim_completion_poll(NULL), CUDA_ERROR_INVALID_HANDLE, "cushim_completion_poll");
    refused("status-null", cushim_completion_status(NULL, &status), CUDA_ERROR_INVALID_HANDLE,
            "cushim_completion_status");
    refused("status-null-output", cushim_completion_status(completion, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_completion_status");
    refused("wait-null", cushim_completion_wait(NULL, 0), CUDA_ERROR_INVALID_HANDLE, "cushim_completion_wait");
    refused("descriptor-null", cushim_completion_descriptor(NULL, &descriptor), CUDA_ERROR_INVALID_HANDLE,
            "cushim_completion_descriptor");
    refused("descriptor-null-output", cushim_completion_descriptor(completion, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_completion_descriptor");
    refused("reset-null", cushim_completion_reset(NULL), CUDA_ERROR_INVALID_HANDLE, "cushim_completion_reset");
    rule_number("count-null", (long long)cushim_completion_count(NULL), 0);
    cushim_completion_detach(NULL);
    cushim_completion_detach(&none);
    cushim_completion_destroy(NULL);
    cushim_completion_destroy(&none);
    rule_fact("untouched", none == NULL);
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

static void descriptor(void)
{
    struct gate gate;
    cushim_descriptor before;
    cushim_descriptor again;
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *early = completion_new(stream);
    struct cushim_completion *late = completion_new(stream);
    done("descriptor-before", cushim_completion_descriptor(early, &before));
    rule_fact("silent-before", silent(before));
    done("descriptor-again", cushim_completion_descriptor(early, &again));
    rule_fact("the-same", before == again);
    gate_open(&gate);
    rule("wait", cushim_completion_wait(late, soon()), CUDA_SUCCESS);
    rule_fact("readable", readable(before));
    rule("poll", cushim_completion_poll(early), CUDA_SUCCESS);
    rule_fact("readable-still", readable(before));
    done("descriptor-late", cushim_completion_descriptor(late, &again));
    rule_fact("late-readable", readable(again));
    cushim_completion_destroy(&early);
    cushim_completion_destroy(&late);
    layer_stream_end(stream);
}

/* Destroyed or detached while work is pending: the GPU continues, and the memory is not touched afterwards. */
static void detached(void)
{
    struct gate gate;
    cushim_descriptor open_descriptor;
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *detached = completion_new(stream);
    struct cushim_completion *destroyed = completion_new(stream);
    need("descriptor", cushim_completion_descriptor(destroyed, &open_descriptor));
    cushim_completion_detach(&detached);
    rule_fact("detached-is-null", detached == NULL);
    cushim_completion_destroy(&destroyed);
    gate_open(&gate);
    done("synchronize", cushim_stream_synchronize(stream));
    rule_number("gate-passed", atomic_load(&gate.passed), 1);
    layer_stream_end(stream);
}

/* The stream object is destroyed before its work is done; a borrowed stream does not wait for its work. */
static void outlives_stream(void)
{
    struct gate gate;
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *completion = completion_new(stream);
    done("destroy", cushim_stream_destroy(&stream));
    rule("pending", cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
}

static void many(void)
{
    enum { COUNT = 100000, ROUNDS = 10000 };
    static struct cushim_completion *completions[COUNT];
    struct gate gate;
    int made = 0;
    int pending = 0;
    int waited = 0;
    struct cushim_stream *stream = layer_stream();
    gate_close(&gate, cushim_stream_handle(stream));
    /* The driver accepts a limited number of pending callbacks before it blocks the caller, so the work is not held
     * back while all of them are registered. */
    for (int i = 0; i < 500; i++)
        made += cushim_stream_completion(stream, &completions[i]) == CUDA_SUCCESS;
    for (int i = 0; i < 500; i++)
        pending += cushim_completion_poll(completions[i]) == CUDA_ERROR_NOT_READY;
    rule_number("pending", pending, 500);
    gate_open(&gate);
    for (int i = 500; i < COUNT; i++)
        made += cushim_stream_completion(stream, &completions[i]) == CUDA_SUCCESS;
    rule_number("outstanding", made, COUNT);
    for (int i = 0; i < COUNT; i++) {
        waited += cushim_completion_wait(completions[i], soon()) == CUDA_SUCCESS;
        cushim_completion_destroy(&completions[i]);
    }
    rule_number("waited", waited, COUNT);
    long blocks = allocation_count();
    for (int i = 0; i < ROUNDS; i++) {
        need("again", cushim_stream_completion(stream, &completions[i % 64]));
        need("wait", cushim_completion_wait(completions[i % 64], soon()));
        cushim_completion_destroy(&completions[i % 64]);
    }
    rule_fact("nothing-is-allocated-in-the-steady-state", allocation_count() <= blocks);
    layer_stream_end(stream);
}

static void launch_and_wait(struct cushim_graph_exec *executable, struct cushim_stream *stream,
                            struct cushim_completion *completion)
{
    cushim_descriptor open_descriptor;
    need("descriptor", cushim_completion_descriptor(completion, &open_descriptor));
    for (int i = 0; i < 3; i++) {
        const char *turn = turns[i];
        rule(key_of(turn, "pending", NULL), cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
        rule_fact(key_of(turn, "silent", NULL), silent(open_descriptor));
        done(key_of(turn, "launch", NULL), cushim_graph_exec_launch(executable, stream));
        rule(key_of(turn, "wait", NULL), cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
        done(key_of(turn, "synchronize", NULL), cushim_stream_synchronize(stream));
        rule_fact(key_of(turn, "readable", NULL), readable(open_descriptor));
        rule_number(key_of(turn, "count", NULL), (long long)cushim_completion_count(completion), i + 1);
        done(key_of(turn, "reset", NULL), cushim_completion_reset(completion));
        done(key_of(turn, "reset-again", NULL), cushim_completion_reset(completion));
    }
}

static void captured(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_graph_exec *executable = NULL;
    if (!done("capture", cushim_stream_capture_executable(stream, CU_STREAM_CAPTURE_MODE_RELAXED, 0,
                                                          body_captures_completion, &completion, &executable)))
        return;
    launch_and_wait(executable, stream, completion);
    /* The completion is destroyed before the graph: later launches still work. */
    cushim_completion_destroy(&completion);
    done("launch-after-destroy", cushim_graph_exec_launch(executable, stream));
    done("synchronize-after-destroy", cushim_stream_synchronize(stream));
    done("executable-destroy", cushim_graph_exec_destroy(&executable));
    layer_stream_end(stream);
}

/* The graph is destroyed before the completion, after launches and without any launch. */
static void captured_outlives(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_graph *graph = NULL;
    if (!done("capture", cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED, body_captures_completion,
                                               &completion, &graph)))
        return;
    done("graph-destroy", cushim_graph_destroy(&graph));
    rule("poll", cushim_completion_poll(completion), CUDA_ERROR_NOT_READY);
    refused("wait", cushim_completion_wait(completion, 0), CUDA_ERROR_TIMEOUT, "cushim_completion_wait");
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

/* Below CUDA 11.3 the driver does not report that a graph was destroyed. */
static void captured_on_old(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_graph *graph = NULL;
    if (cushim_query_slot_state(CUSHIM_SLOT_UserObjectCreate_v1, CUSHIM_DEFAULT_STREAM_LEGACY)
        != CUSHIM_STATE_MISSING) {
        lacks("refused", "a driver without user objects");
    } else {
        rule("refused",
             cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED, body_captures_completion, &completion,
                                   &graph),
             CUDA_ERROR_NOT_SUPPORTED);
        rule_fact("untouched", completion == NULL && graph == NULL);
    }
    layer_stream_end(stream);
}

static void capturable_outside_capture(void)
{
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    if (done("code", cushim_stream_capturable_completion(stream, &completion)))
        rule("wait", cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"completion.fired", fired, 0, {0}},
    {"completion.only-polled", only_polled, 0, {0}},
    {"completion.argument", argument, 0, {0}},
    {"completion.descriptor", descriptor, 0, {0}},
    {"completion.detached", detached, 0, {0}},
    {"completion.outlives-stream", outlives_stream, 0, {0}},
    {"completion.many", many, 0, {0}},
    {"completion.captured", captured, 0, {S(UserObjectCreate_v1)}},
    {"completion.captured-outlives", captured_outlives, 0, {S(UserObjectCreate_v1)}},
    {"completion.captured-on-old", captured_on_old, 0, {S(StreamEndCapture_v1)}},
    {"completion.capturable-outside-capture", capturable_outside_capture, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion = {"completion", checks};
