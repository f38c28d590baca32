/* SPDX-License-Identifier: MIT */
/* Status callbacks and host functions: cuStreamAddCallback, cuLaunchHostFunc. */
#if !defined(_WIN32)
#    define _POSIX_C_SOURCE 200809L
#endif
#include <time.h>

#include "fixture.h"

struct report {
    CUstream stream;
    CUresult status;
    pthread_t thread;
    atomic_int calls;
};

static void CUDA_CB record_report(CUstream stream, CUresult status, void *user)
{
    struct report *report = user;
    report->stream = stream;
    report->status = status;
    report->thread = pthread_self();
    atomic_fetch_add(&report->calls, 1);
}

static void on_stream(const char *key, CUstream stream)
{
    struct report report = {UNTOUCHED_HANDLE, CUDA_ERROR_UNKNOWN, pthread_self(), 0};
    expect(key_of(key, "code", NULL), cu->StreamAddCallback_v1(stream, record_report, &report, 0), CUDA_SUCCESS);
    expect(key_of(key, "synchronize", NULL), cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect_number(key_of(key, "calls", NULL), atomic_load(&report.calls), 1);
    expect(key_of(key, "status", NULL), report.status, CUDA_SUCCESS);
    observe_text(key_of(key, "handle", NULL), report.stream == stream             ? "same"
                                              : report.stream == NULL             ? "zero"
                                              : report.stream == CU_STREAM_LEGACY ? "legacy"
                                                                                  : "other");
    expect_true(key_of(key, "other-thread", NULL), !pthread_equal(report.thread, pthread_self()));
}

CHECK(called, "callback.called", .needs = {S(StreamAddCallback_v1)})
{
    CUstream stream = stream_new();
    on_stream("created", stream);
    on_stream("zero", NULL);
}

CHECK(called_special, "callback.called-special", .needs = {S(StreamAddCallback_v1), S(DevicePrimaryCtxRetain_v1)})
{
    on_stream("legacy", CU_STREAM_LEGACY);
    on_stream("per-thread", CU_STREAM_PER_THREAD);
}

CHECK(arguments, "callback.argument", .needs = {S(StreamAddCallback_v1)})
{
    CUstream stream = stream_new();
    atomic_int calls = 0;
    expect("flag-1", cu->StreamAddCallback_v1(stream, count_callback, &calls, 1), CUDA_ERROR_INVALID_VALUE);
    expect("flag-high", cu->StreamAddCallback_v1(stream, count_callback, &calls, 0x80000000u),
           CUDA_ERROR_INVALID_VALUE);
    expect("null", cu->StreamAddCallback_v1(stream, NULL, &calls, 0), CUDA_ERROR_INVALID_VALUE);
    expect("no-user-data-null", cu->StreamAddCallback_v1(stream, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("never-called", atomic_load(&calls), 0);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->StreamAddCallback_v1(stream, count_callback, &calls, 0), CUDA_SUCCESS);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("no-context-called", atomic_load(&calls), 1);
    expect("no-context-zero", cu->StreamAddCallback_v1(NULL, count_callback, &calls, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(host_function, "callback.host-function", .needs = {S(LaunchHostFunc_v1)})
{
    CUstream stream = stream_new();
    atomic_int calls = 0;
    expect("null", cu->LaunchHostFunc_v1(stream, NULL, &calls), CUDA_ERROR_INVALID_VALUE);
    expect("code", cu->LaunchHostFunc_v1(stream, count_host_function, &calls), CUDA_SUCCESS);
    expect("zero", cu->LaunchHostFunc_v1(NULL, count_host_function, &calls), CUDA_SUCCESS);
    expect("synchronize", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    expect_number("calls", atomic_load(&calls), 2);
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->LaunchHostFunc_v1(stream, count_host_function, &calls), CUDA_SUCCESS);
    expect("no-context-zero", cu->LaunchHostFunc_v1(NULL, count_host_function, &calls), CUDA_ERROR_INVALID_CONTEXT);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("no-context-calls", atomic_load(&calls), 3);
}

CHECK(host_function_captured, "callback.host-function-captured",
      .needs = {S(LaunchHostFunc_v1), S(StreamBeginCapture_v2)})
{
    atomic_int calls = 0;
    CUstream stream = stream_capturing();
    expect("code", cu->LaunchHostFunc_v1(stream, count_host_function, &calls), CUDA_SUCCESS);
    expect_text("status", capture_status(stream), "active");
    expect("end", capture_end(stream), CUDA_SUCCESS);
}

static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* cuLaunchHostFunc_v2 needs CUDA 13.1: on driver 580, cushim's polyfill answers. The last argument chooses how a thread
 * of the driver waits for the work before the function. */
CHECK(host_function_v2, "callback.host-function-v2", .needs = {S(LaunchHostFunc_v2)})
{
    CUstream stream = stream_new();
    atomic_int calls = 0;
    expect("null", cu->LaunchHostFunc_v2(stream, NULL, &calls, CU_HOST_TASK_BLOCKING), CUDA_ERROR_INVALID_VALUE);
    expect("spinning", cu->LaunchHostFunc_v2(stream, count_host_function, &calls, CU_HOST_TASK_SPINWAIT),
           CUDA_ERROR_NOT_SUPPORTED);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("spinning-calls", atomic_exchange(&calls, 0), 0);
    expect("zero", cu->LaunchHostFunc_v2(NULL, count_host_function, &calls, CU_HOST_TASK_BLOCKING), CUDA_SUCCESS);
    expect("synchronize", cu->CtxSynchronize_v1(), CUDA_SUCCESS);
    expect_number("zero-calls", atomic_exchange(&calls, 0), 1);
    struct gate *gate = gate_new(stream);
    expect("blocking", cu->LaunchHostFunc_v2(stream, count_host_function, &calls, CU_HOST_TASK_BLOCKING), CUDA_SUCCESS);
    double before = processor_seconds();
    for (int i = 0; i < 50; i++)
        pause_shortly();
    expect_true("blocks", processor_seconds() - before < 0.1);
    expect_number("early-calls", atomic_load(&calls), 0);
    gate_open(gate);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("calls", atomic_load(&calls), 1);
    if (require_slot("captured", S(StreamBeginCapture_v2))) {
        capture_begin(stream);
        expect("captured.code", cu->LaunchHostFunc_v2(stream, count_host_function, &calls, CU_HOST_TASK_BLOCKING),
               CUDA_SUCCESS);
        expect("captured.end", capture_end(stream), CUDA_SUCCESS);
    }
}

/* Each call records its position. */
struct sequence {
    atomic_int next;
    int places[4];
};

struct step {
    struct sequence *sequence;
    int index;
};

static void CUDA_CB record_position(void *user)
{
    struct step *step = user;
    step->sequence->places[step->index] = atomic_fetch_add(&step->sequence->next, 1);
}

static void CUDA_CB record_position_with_status(CUstream stream, CUresult status, void *user)
{
    record_position(user);
}

CHECK(order, "callback.order", .needs = {S(LaunchHostFunc_v1)})
{
    struct sequence sequence = {0, {-1, -1, -1, -1}};
    struct step steps[] = {{&sequence, 0}, {&sequence, 1}, {&sequence, 2}, {&sequence, 3}};
    CUstream stream = stream_new();
    require("callback", cu->StreamAddCallback_v1(stream, record_position_with_status, &steps[0], 0));
    require("host-function", cu->LaunchHostFunc_v1(stream, record_position, &steps[1]));
    require("callback", cu->StreamAddCallback_v1(stream, record_position_with_status, &steps[2], 0));
    require("host-function", cu->LaunchHostFunc_v1(stream, record_position, &steps[3]));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    for (int i = 0; i < 4; i++) {
        const char *names[] = {"first", "second", "third", "fourth"};
        expect_number(names[i], sequence.places[i], i);
    }
}

/* "The callback will block later work in the stream until it is finished." */
CHECK(blocks_later_work, "callback.blocks-later-work", .needs = {S(StreamAddCallback_v1)})
{
    CUdeviceptr address = 0;
    CUstream stream = stream_new();
    CUstream other = stream_new();
    volatile unsigned char *host = host_new(32, &address);
    struct gate *gate = gate_new(stream);
    require("memset", cu->MemsetD8Async_v1(address, 9, 16, stream));
    require("memset", cu->MemsetD8Async_v1(address + 16, 9, 16, other));
    expect("other-stream-goes-on", cu->StreamSynchronize_v1(other), CUDA_SUCCESS);
    expect_number("other-done", host[16], 9);
    expect_number("later-work-waits", host[0], 0);
    gate_open(gate);
    expect("synchronize", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
    expect_number("later-work-done", host[0], 9);
}

/* A callback sees the results of the work before it, wherever that work was joined. */
struct sight {
    volatile unsigned char *host;
    int seen;
};

static void CUDA_CB read_memory(CUstream stream, CUresult status, void *user)
{
    struct sight *sight = user;
    sight->seen = sight->host[0] + sight->host[16];
}

CHECK(sees_earlier_work, "callback.sees-earlier-work", .needs = {S(StreamAddCallback_v1)})
{
    CUdeviceptr address = 0;
    CUstream stream = stream_new();
    CUstream joined = stream_new();
    CUevent event = event_new();
    struct sight sight = {host_new(32, &address), -1};
    require("memset", cu->MemsetD8Async_v1(address, 5, 16, stream));
    require("memset", cu->MemsetD8Async_v1(address + 16, 6, 16, joined));
    require("record", cu->EventRecord_v1(event, joined));
    require("wait", cu->StreamWaitEvent_v1(stream, event, 0));
    require("callback", cu->StreamAddCallback_v1(stream, read_memory, &sight, 0));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("sum", sight.seen, 11);
}

/* "Callbacks must not make any CUDA API calls": the behaviour of a driver when they do. */
struct inside {
    CUstream idle;
    CUevent event;
    int codes[8];
};

static void make_calls_inside(struct inside *inside)
{
    CUcontext context = UNTOUCHED_HANDLE;
    CUdevice device;
    int version;
    inside->codes[0] = (int)cu->StreamQuery_v1(inside->idle);
    inside->codes[1] = (int)cu->EventQuery_v1(inside->event);
    inside->codes[2] = (int)cu->CtxGetCurrent_v1(&context);
    inside->codes[3] = (int)cu->CtxGetDevice_v1(&device);
    inside->codes[4] = (int)cu->DriverGetVersion_v1(&version);
    inside->codes[5] = (int)cu->EventRecord_v1(inside->event, inside->idle);
    inside->codes[6] = (int)cu->StreamWaitEvent_v1(inside->idle, inside->event, 0);
}

static void CUDA_CB call_from_callback(CUstream stream, CUresult status, void *user)
{
    make_calls_inside(user);
}

static void CUDA_CB call_from_host_function(void *user)
{
    make_calls_inside(user);
}

static void report_codes_inside(const char *key, const struct inside *inside)
{
    static const char *const names[] = {"stream-query",   "event-query",  "context-current", "context-device",
                                        "driver-version", "event-record", "stream-wait"};
    for (int i = 0; i < 7; i++)
        observe(key_of(key, names[i], NULL), (CUresult)inside->codes[i]);
}

CHECK(calls_inside, "callback.calls-inside", .needs = {S(StreamAddCallback_v1)})
{
    struct inside inside = {stream_new(), event_new(), {0}};
    CUstream stream = stream_new();
    require("callback", cu->StreamAddCallback_v1(stream, call_from_callback, &inside, 0));
    require("synchronize", cu->StreamSynchronize_v1(stream));
    report_codes_inside("callback", &inside);
    if (require_slot("host-function", S(LaunchHostFunc_v1))) {
        require("host-function", cu->LaunchHostFunc_v1(stream, call_from_host_function, &inside));
        require("synchronize", cu->StreamSynchronize_v1(stream));
        report_codes_inside("host-function", &inside);
    }
}

CHECK(many, "callback.many", .needs = {S(StreamAddCallback_v1)})
{
    enum { COUNT = 1000 };
    CUstream stream = stream_new();
    atomic_int calls = 0;
    int added = 0;
    for (int i = 0; i < COUNT; i++)
        added += cu->StreamAddCallback_v1(stream, count_callback, &calls, 0) == CUDA_SUCCESS;
    expect_number("added", added, COUNT);
    require("synchronize", cu->StreamSynchronize_v1(stream));
    expect_number("called", atomic_load(&calls), COUNT);
}
