/* SPDX-License-Identifier: MIT */
/* Situations in which programs that wait for a GPU by callbacks hang or crash. Each check has a process of its own and
 * a watchdog. */
#if !defined(_WIN32)
#    define _GNU_SOURCE
#    include <stdlib.h>
#    include <sys/wait.h>
#    include <unistd.h>
#endif
#include "completion.h"

static void count_call(CUresult status, void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* Launches a kernel that faults, held back until everything is registered. */
static bool launch_fault(struct gate *gate, struct cushim_stream *stream)
{
    CUfunction function = NULL;
    return require("kernel", kernel_get("conformance_fault", &function))
           && gate_close(gate, cushim_stream_handle(stream))
           && require("launch", kernel_launch(function, cushim_stream_handle(stream), NULL));
}

CHECK(fault_after, "trap.fault-after", .flags = CHECK_ALONE)
{
    struct gate gate;
    atomic_int releases = 0;
    atomic_int calls = 0;
    cushim_descriptor descriptor;
    struct cushim_completion *with_work = NULL;
    struct cushim_stream *stream = test_stream_new();
    if (!launch_fault(&gate, stream))
        return;
    struct cushim_completion *polled = polled_new(stream);
    struct cushim_completion *completion = notifying_new(stream);
    expect_success("enqueue", cushim_stream_enqueue(stream, body_does_nothing, &releases, count_release, &with_work));
    expect_success("set-callback",
                   cushim_completion_set_inline_callback(completion, count_call, &calls, count_release));
    require("descriptor", cushim_completion_get_descriptor(completion, &descriptor));
    gate_open(&gate);
    expect_driver_error("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    /* Before CUDA 12.0 a callback fires both kinds, a moment after the synchronisation. */
    expect("polled", wait_status(polled, soon()), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("wait", wait_status(completion, soon()), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("poll", poll_status(completion), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_true("readable", readable(descriptor));
    expect("wait-with-work", wait_status(with_work, soon()), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_number("released", atomic_load(&releases), 1);
    wait_for_count(&calls, 2); /* the completion fires a moment before its callback */
    expect_number("called-and-released", atomic_load(&calls), 2);
    cushim_completion_destroy(&polled);
    cushim_completion_destroy(&completion);
    cushim_completion_destroy(&with_work);
    expect("stream-destroy", cushim_stream_destroy(&stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

CHECK(fault_before, "trap.fault-before", .flags = CHECK_ALONE)
{
    struct gate gate;
    atomic_int releases = 0;
    struct cushim_completion *completions[KINDS] = {NULL};
    struct cushim_completion *with_work = NULL;
    struct cushim_stream *stream = test_stream_new();
    if (!launch_fault(&gate, stream))
        return;
    gate_open(&gate);
    expect_driver_error("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    for (int kind = 0; kind < KINDS; kind++) {
        expect_success(key_of(kind_names[kind], "create", NULL),
                       cushim_completion_create(stream, kind_flags[kind], &completions[kind]));
        expect(key_of(kind_names[kind], "poll", NULL), poll_status(completions[kind]), CUDA_ERROR_ILLEGAL_ADDRESS);
        expect(key_of(kind_names[kind], "wait", NULL), wait_status(completions[kind], soon()),
               CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    expect_success("enqueue", cushim_stream_enqueue(stream, body_does_nothing, &releases, count_release, &with_work));
    expect("enqueue-wait", wait_status(with_work, soon()), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_number("released", atomic_load(&releases), 1);
    for (int kind = 0; kind < KINDS; kind++)
        cushim_completion_destroy(&completions[kind]);
    cushim_completion_destroy(&with_work);
    expect("stream-destroy", cushim_stream_destroy(&stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

struct beside {
    const char *where;
    struct cushim_stream *stream;
};

static void beside_capture(void *user)
{
    const struct beside *beside = user;
    atomic_int releases = 0;
    cushim_descriptor descriptor;
    struct cushim_completion *with_work = NULL;
    struct cushim_completion *polled = polled_new(beside->stream);
    struct cushim_completion *completion = notifying_new(beside->stream);
    expect_success(key_of(beside->where, "descriptor", NULL),
                   cushim_completion_get_descriptor(completion, &descriptor));
    expect(key_of(beside->where, "wait-polled", NULL), wait_status(polled, soon()), CUDA_SUCCESS);
    expect(key_of(beside->where, "poll-polled", NULL), poll_status(polled), CUDA_SUCCESS);
    cushim_completion_destroy(&polled);
    expect(key_of(beside->where, "wait", NULL), wait_status(completion, soon()), CUDA_SUCCESS);
    expect(key_of(beside->where, "poll", NULL), poll_status(completion), CUDA_SUCCESS);
    expect_success(key_of(beside->where, "enqueue", NULL),
                   cushim_stream_enqueue(beside->stream, body_does_nothing, &releases, count_release, &with_work));
    expect(key_of(beside->where, "enqueue-wait", NULL), wait_status(with_work, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    cushim_completion_destroy(&with_work);
}

CHECK(capture_in_progress, "trap.capture-in-progress", .needs = {S(ThreadExchangeStreamCaptureMode_v1)})
{
    struct cushim_capture *capture = NULL;
    struct cushim_stream *capturing = fixture_stream();
    struct cushim_stream *other = fixture_stream();
    struct beside here = {"same-thread", other};
    struct beside there = {"another-thread", other};
    expect_success("begin", cushim_capture_begin(capturing, CU_STREAM_CAPTURE_MODE_GLOBAL, &capture));
    beside_capture(&here);
    on_thread(beside_capture, &there);
    expect_status("status", capturing, "active");
    expect_success("end", cushim_capture_end(&capture, NULL));
}

#if !defined(_WIN32)

/* Returns whether no function waits for what only the parent can finish, or releases what the parent uses. */
static bool child_is_right(struct cushim_completion *pending[KINDS], struct cushim_completion *fired,
                           struct cushim_completion *with_work, struct cushim_dispatcher *dispatcher,
                           const atomic_int *releases)
{
    static atomic_int calls;
    size_t index = 99;
    bool right = true;
    for (int kind = 0; kind < KINDS; kind++)
        right = right && poll_status(pending[kind]) == CUDA_ERROR_NOT_INITIALIZED
                && wait_status(pending[kind], CUSHIM_FOREVER) == CUDA_ERROR_NOT_INITIALIZED;
    right = right && wait_status(fired, CUSHIM_FOREVER) == CUDA_SUCCESS
            && cushim_completion_wait_any(pending, KINDS, CUSHIM_FOREVER, &index) == CUDA_ERROR_NOT_INITIALIZED
            && wait_all_status(pending, KINDS, CUSHIM_FOREVER) == CUDA_ERROR_NOT_INITIALIZED
            && cushim_dispatcher_run(dispatcher, CUSHIM_FOREVER, NULL) == CUDA_ERROR_NOT_INITIALIZED;
    cushim_completion_set_inline_callback(pending[NOTIFYING], count_call, &calls, count_release);
    watch_begin();
    for (int kind = 0; kind < KINDS; kind++)
        cushim_completion_destroy(&pending[kind]);
    cushim_completion_detach(&fired);
    cushim_completion_destroy(&with_work); /* its work is done, and what it uses is the parent's */
    cushim_dispatcher_destroy(&dispatcher);
    return right && atomic_load((atomic_int *)releases) == 0 && watch_calls() == 0; /* events are the parent's, too */
}

CHECK(forked, "trap.forked", .flags = CHECK_ALONE)
{
    struct gate gate;
    int status = -1;
    atomic_int calls = 0;
    cushim_descriptor descriptor = -1;
    struct cushim_dispatcher *dispatcher = NULL;
    struct cushim_stream *stream = test_stream_new();
    atomic_int releases = 0;
    struct cushim_completion *with_work = NULL;
    struct cushim_completion *fired = notifying_new(stream);
    require("enqueue", cushim_stream_enqueue(stream, body_does_nothing, &releases, count_release, &with_work));
    expect("wait", wait_status(fired, soon()), CUDA_SUCCESS);
    require("dispatcher", cushim_dispatcher_create(&dispatcher));
    require("descriptor", cushim_dispatcher_get_descriptor(dispatcher, &descriptor));
    expect_success("set-callback", cushim_completion_set_callback(fired, dispatcher, count_call, &calls, NULL));
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *pending[KINDS] = {polled_new(stream), notifying_new(stream)};
    for (int i = 0; i < 500 && cushim_completion_count(with_work) == 0; i++)
        pause_shortly();
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(child_is_right(pending, fired, with_work, dispatcher, &releases) ? 0 : 1);
    }
    waitpid(child, &status, 0);
    expect_number("child", status, 0);
    expect_true("still-readable", readable(descriptor));
    expect_success("run", cushim_dispatcher_run(dispatcher, 0, NULL));
    expect_number("called", atomic_load(&calls), 1);
    cushim_dispatcher_destroy(&dispatcher);
    gate_open(&gate);
    for (int kind = 0; kind < KINDS; kind++) {
        expect(key_of(kind_names[kind], "parent", NULL), wait_status(pending[kind], soon()), CUDA_SUCCESS);
        cushim_completion_destroy(&pending[kind]);
    }
    expect_number("not-released", atomic_load(&releases), 0);
    cushim_completion_destroy(&with_work);
    expect_number("released", atomic_load(&releases), 1);
    cushim_completion_destroy(&fired);
    test_stream_close(stream);
}

/* The dispatcher is the first object of the process that remembers in which process it was created. */
CHECK(forked_dispatcher, "trap.forked-dispatcher", .flags = CHECK_ALONE)
{
    int status = -1;
    struct cushim_dispatcher *dispatcher = NULL;
    require("dispatcher", cushim_dispatcher_create(&dispatcher));
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(cushim_dispatcher_run(dispatcher, 0, NULL) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    }
    waitpid(child, &status, 0);
    expect_number("child", status, 0);
    cushim_dispatcher_destroy(&dispatcher);
}

static void CUDA_CB sleep_a_while(CUstream stream, CUresult status, void *user)
{
    for (int i = 0; i < 20; i++)
        pause_shortly();
}

/*
 * LeakSanitizer calls __lsan_is_turned_off() at the end of the process. While other threads run, its check sometimes
 * stops them and itself for ever (gcc 12).
 */
static bool is_leaving;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return is_leaving;
}

/* The process ends while completions with descriptors and callbacks are pending. */
static void leave_with_outstanding(void)
{
    static atomic_int calls;
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_dispatcher *dispatcher = NULL;
    cushim_descriptor descriptor;
    is_leaving = true;
    alarm(10);
    if (fixture_open() != CUDA_SUCCESS)
        _exit(2);
    stream = test_stream_new();
    cushim_dispatcher_create(&dispatcher);
    cu->StreamAddCallback_v1(cushim_stream_handle(stream), sleep_a_while, NULL, 0);
    for (int i = 0; i < 30; i++) {
        if (cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &completion) != CUDA_SUCCESS)
            _exit(3);
        cushim_completion_get_descriptor(completion, &descriptor);
        if (i % 3 == 0)
            cushim_completion_set_callback(completion, dispatcher, count_call, &calls, count_release);
        if (i % 3 == 1)
            cushim_completion_set_inline_callback(completion, count_call, &calls, count_release);
    }
    exit(0);
}

CHECK(exited, "trap.exited", .flags = CHECK_NO_INIT)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        leave_with_outstanding();
    waitpid(child, &status, 0);
    expect_number("status", status, 0);
}

#endif

/* On an idle stream the driver's thread often calls the callback before the registration has returned. */
CHECK(before_registration_returns, "trap.before-registration-returns")
{
    enum { ROUNDS = 20000 };
    atomic_int calls = 0;
    int fired = 0;
    struct cushim_stream *stream = fixture_stream();
    for (int i = 0; i < ROUNDS; i++) {
        struct cushim_completion *completion = notifying_new(stream);
        if (i % 2 == 0) {
            fired += wait_status(completion, soon()) == CUDA_SUCCESS;
            cushim_completion_destroy(&completion);
        } else {
            cushim_completion_set_inline_callback(completion, count_call, &calls, NULL);
            cushim_completion_detach(&completion);
        }
    }
    wait_for_count(&calls, ROUNDS / 2);
    expect_number("fired", fired, ROUNDS / 2);
    expect_number("called", atomic_load(&calls), ROUNDS / 2);
}

/* Detached completions fire late, when other completions could long use their memory: those do not change. */
CHECK(long_after_detach, "trap.long-after-detach")
{
    enum { COUNT = 40 }; /* a notification stream holds 56 (completion.h) */
    struct cushim_completion *pending[COUNT];
    int still_pending = 0;
    struct cushim_stream *stream = fixture_stream();
    struct cushim_stream *other = fixture_stream();
    /* The first notifying completion of a stream creates a stream, which can wait for all work of the context. */
    for (int i = 0; i < 2; i++) {
        struct cushim_completion *first = notifying_new(i == 0 ? stream : other);
        require("first", wait_status(first, soon()));
        cushim_completion_destroy(&first);
    }
    unsigned *flag = stream_block(stream);
    for (int i = 0; i < COUNT; i++) {
        struct cushim_completion *completion = notifying_new(stream);
        if (i % 2 == 0)
            cushim_completion_detach(&completion);
        else
            cushim_completion_destroy(&completion);
    }
    unsigned *other_flag = stream_block(other);
    for (int i = 0; i < COUNT; i++)
        pending[i] = notifying_new(other);
    stream_unblock(flag);
    require("synchronize", cushim_stream_synchronize(stream));
    for (int i = 0; i < COUNT; i++)
        still_pending += poll_status(pending[i]) == CUDA_ERROR_NOT_READY;
    expect_number("still-pending", still_pending, COUNT);
    stream_unblock(other_flag);
    for (int i = 0; i < COUNT; i++) {
        require("wait", wait_status(pending[i], soon()));
        cushim_completion_destroy(&pending[i]);
    }
}
